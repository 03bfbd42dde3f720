/*
 * A flat apt repository of somebody else (sources.list(5), suite "/"), read by own code: InRelease,
 * or Release and Release.gpg, signed by one pinned key; Packages.gz as Release has it. What is not
 * covered by the signature is not looked at.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "aptpackages.h"
#include <stdbool.h>

struct arena;
struct err;
struct index;

struct apt_source {
	const char *url;	  /* ends with '/' */
	const char *fpr;	  /* the primary key that signs: 40 hex digits */
	const char *key_file;	  /* its name beside Release, or NULL: the usual ones are tried */
	const char *keyring_file; /* a local file with the key, or NULL: it is fetched */
	bool weak_binding;	  /* its self-signature may be SHA-1, see signer_pin */
};

struct apt_release {
	const char *date; /* as Release has it */
	struct apt_packages packages;
};

/*
 * Makes sure that a file holds the key of that fingerprint: the local one, else what the
 * repository serves, which goes to the file to. *out (in the arena) is its name. ERR_TRUST: another
 * key, or one that apt would refuse.
 */
int aptsource_key(struct arena *a, struct index *x, const struct apt_source *s, const char *to,
    const char **out, struct err *err) _must_check_;
/*
 * Reads the repository. A Packages.gz that is not the one of Release is taken for a repository in
 * mid-update: all is read again, up to 3 times, with retry called before each (may be NULL); then
 * ERR_TRUST with both sizes or hashes. ERR_TRUST also: signature, expired Valid-Until.
 */
int aptsource_read(struct arena *a, struct index *x, const struct apt_source *s,
    const char *keyring_file, const char *arch, void (*retry)(void *arg, const char *why),
    void *arg, struct apt_release *out, struct err *err) _must_check_;
/* The address of a file of the repository; owned by the caller. */
char *aptsource_url(const struct apt_source *s, const char *file);
