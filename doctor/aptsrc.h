/* Sources of apt, sources.list(5) in both forms, and what is wrong with their keys. */
#pragma once
#include "../lib/base/compat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;
struct probe;

struct apt_source {
	const char *file; /* where it is written */
	unsigned line;
	const char *uri, *suite; /* one of each */
	const char *signed_by;	 /* file names or the key itself, or NULL */
	bool trusted;
};
struct apt_sources {
	struct apt_source *v;
	size_t n, cap;
	const char **damaged; /* files that do not parse, each a sentence */
	size_t n_damaged;
};

/* All enabled "deb" sources of /etc/apt. */
void aptsrc_read(struct probe *p, struct apt_sources *out);
/* One file's text: lines, or stanzas when deb822. ERR_FORMAT names the line. */
int aptsrc_parse(struct arena *a, const char *text, const char *file, bool deb822,
    struct apt_sources *out, struct err *err) _must_check_;
/* Whether two URIs are the same place for apt: a slash at the end does not count. */
bool aptsrc_same_uri(const char *a, const char *b) _must_check_;

/* One primary key of a keyring file, by what it says of itself. */
struct apt_key {
	char fpr[41];
	uint32_t expires;     /* seconds since 1970; 0: never */
	uint32_t signs_until; /* the same of what signs: it, and the subkey that lasts longest */
	bool revoked;
	bool sha1;	  /* a user id or a signing subkey is bound by SHA-1 (or MD5) alone */
	const char *weak; /* "rsa1024", "dsa", or NULL */
};
/* The keys in n bytes, binary or armored. ERR_FORMAT if there is none. */
int aptkey_parse(struct arena *a, const void *p, size_t n, struct apt_key **out, size_t *n_out,
    struct err *err) _must_check_;
/* "2027-01-31" of a time, in the arena. */
const char *aptkey_date(struct arena *a, uint32_t t) _must_check_;
