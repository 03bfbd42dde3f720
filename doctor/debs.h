/* Packages that matter here, by dpkg's status and by the indexes that apt has. */
#pragma once
#include "../lib/base/compat.h"
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct probe;
struct stanza;

/* One package, installed or on offer. */
struct deb_pkg {
	const char *name, *version;
	const struct stanza *control;
	bool installed;	    /* dpkg has it wholly */
	bool broken;	    /* dpkg has it, but not wholly: unpacked, half-configured */
	const char *origin; /* of an offer: Release's Origin, or its list's name */
	const char *host;   /* of an offer: what its list's name begins with */
	const char *pinned; /* the preferences file that forbids this offer, or NULL */
};

/* One index that apt has fetched. */
struct deb_release {
	const char *list;	 /* name of its InRelease or Release in /var/lib/apt/lists */
	const char *origin;	 /* or "" */
	const char *valid_until; /* as written, or NULL */
	struct deb_withdrawn *withdrawn;
	size_t n_withdrawn;
};

/* A version that a repository took back: a line of X-Debkit-Withdrawn (repo/withdraw.h). */
struct deb_withdrawn {
	const char *name, *version, *reason;
};

struct debs {
	struct deb_pkg *v;
	size_t n, cap;
	struct deb_release *releases;
	size_t n_releases;
	bool dpkg;	      /* there is a status file that could be read */
	const char **damaged; /* what could not be read, each a sentence */
	size_t n_damaged;
};

/* Reads /var/lib/dpkg/status, and all of /var/lib/apt/lists but what the distribution itself
 * offers, which has none of these packages. */
void debs_read(struct probe *p, struct debs *out);
/* The names that are kept: ours, NVIDIA's runtime, libc6, apt. */
bool debs_wants(const char *name, size_t len) _must_check_;
/* Appends the wanted stanzas of a status file or an index; what does not parse is left out, and
 * counted. */
size_t debs_parse(struct arena *a, const char *text, size_t len, struct debs *out);

const struct deb_pkg *debs_installed(const struct debs *d, const char *name) _must_check_;
/* What a Release that apt has says of this version, or NULL; release may be NULL. */
const struct deb_withdrawn *debs_withdrawn(const struct debs *d, const char *name,
    const char *version, const struct deb_release **release) _must_check_;
/* The newest offer that is neither withdrawn nor forbidden by a pin, or NULL. */
const struct deb_pkg *debs_candidate(const struct debs *d, const char *name) _must_check_;
/* An installed package, or an offer, that is or provides NAME. */
const struct deb_pkg *debs_provider(
    const struct debs *d, const char *name, bool installed) _must_check_;
/* The field, or "". */
const char *debs_field(const struct deb_pkg *pkg, const char *name) _must_check_;
/* True if one of the words in a list such as "2.10 2.11" is this one. */
bool debs_has_word(const char *words, const char *word) _must_check_;
