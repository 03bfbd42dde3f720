/*
 * Publishing: packages are admitted, put into the pool and listed in a suite, as one change. A
 * client sees the old state or the new one, whenever the publisher stops.
 */
#pragma once
#include "../index/repo.h"

struct publish_spec {
	struct repo_spec repo;
	const char *suite, *component;
	const struct strv *files;     /* .deb files */
	const struct strv *sign_keys; /* fingerprints; empty: the keys of the last Release */
	bool no_sign;		      /* no InRelease: clients need Trusted: yes */
	bool unsigned_ok;	      /* .debs without a good origin signature are admitted */
	const char *keyring;	      /* that must have signed them; NULL: the suite's own keys */
	bool check_only;	      /* only say what would be refused */
	bool paranoid;		      /* see admit.h */
	bool link;		      /* hard links into the pool, not copies */
	bool rebuild;		      /* state and indexes from the .debs in the pool */
	unsigned keep;		      /* versions of a package that stay listed; 0: all */
	const char *url;	      /* writes the .sources file with it, or NULL */
	/* Settings of the suite; NULL, empty or -1 keep what it has. */
	const char *codename, *origin, *label, *description;
	const struct strv *archs;
	int valid_days, compat, no_gz;
	/* Called for each file that is refused; the publish then fails. May be NULL. */
	void (*refused)(const char *file, const struct err *why);
};

struct publish_result {
	size_t added, present, removed; /* now listed, listed before, no longer listed */
	bool changed;			/* false: nothing was written */
};

int publish_run(
    const struct publish_spec *spec, struct publish_result *res, struct err *err) _must_check_;
