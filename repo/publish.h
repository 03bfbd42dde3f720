/*
 * Publishing: packages are admitted, put into the pool and listed in a suite, as one change. A
 * client sees the old state or the new one, whenever the publisher stops.
 */
#pragma once
#include "../debbuild/base/compat.h"
#include <stdbool.h>
#include <stddef.h>

struct err;
struct strv;

/* The order in which a change becomes visible; see base/txn.h. */
enum publish_phase {
	PHASE_POOL,
	PHASE_BY_HASH,
	PHASE_INDEX,
	PHASE_RELEASE, /* Release, then Release.gpg */
	PHASE_INRELEASE
};

struct publish_spec {
	const char *root, *suite, *component;
	const struct strv *files;     /* .deb files */
	const struct strv *sign_keys; /* fingerprints; empty with no_sign */
	bool no_sign;		      /* no InRelease: clients need Trusted: yes */
	bool unsigned_ok;	      /* .debs without a good origin signature are admitted */
	const char *url;	      /* writes the .sources file with it, or NULL */
	bool wait;		      /* for another publisher to end */
	void (*waiting)(const char *lock);
	/* Called for each file that is refused; the publish then fails. */
	void (*refused)(const char *file, const struct err *why);
};

struct publish_result {
	size_t added, present; /* packages now listed, packages listed before */
	bool changed;	       /* false: nothing was written */
};

int publish_run(
    const struct publish_spec *spec, struct publish_result *res, struct err *err) _must_check_;
