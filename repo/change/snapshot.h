/*
 * Snapshots: a suite as it is now, under a name of its own. Its files are hard links, its Release
 * is signed anew without Valid-Until, and nothing changes it later. The pool is shared: what a
 * snapshot lists is not garbage.
 */
#pragma once
#include "../index/repo.h"

struct arena;

struct snapshot_spec {
	struct repo_spec repo;
	const char *suite;
	const char *name;	      /* NULL: SUITE-YYYYMMDD (UTC) */
	const struct strv *sign_keys; /* empty: the keys of the suite */
};

/* "URL/snapshots/@SNAPSHOTID@/": the field Snapshots of a Release, by which apt finds a suite as it
 * was: the id is the snapshot's name without "SUITE-". */
char *snapshot_url(struct arena *a, const char *url);
/* Removes a snapshot's folders; the state forgets it when the repository is opened next. */
int snapshot_remove(
    const char *root, const char *name, const char *suite, struct err *err) _must_check_;
/* Stores the snapshot's name, which the caller frees. ERR_CONFLICT if there is one of that name. */
int snapshot_make(const struct snapshot_spec *spec, char **name, struct err *err) _must_check_;
