/*
 * A repository copied to where it is served from, by rsync, in the order in which a publish makes
 * things visible: pool, by-hash, indexes and pages, Release, InRelease, the front page. Whatever
 * stops it, the target is a repository with its old or its new lists; the same command goes on.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>

struct err;

struct push_spec {
	const char *root;  /* of the repository */
	const char *to;	   /* a folder, [USER@]HOST:PATH, or rsync's HOST::MODULE/PATH */
	bool remove;	   /* what the repository no longer has goes at the end */
	const char *limit; /* rsync's --bwlimit, or NULL */
	bool wait;	   /* for a publisher to end; else ERR_CONFLICT */
	void (*waiting)(const char *lock); /* called once before waiting; may be NULL */
	void (*step)(const char *what);	   /* called before each step; may be NULL */
};

/* Holds the repository's lock: publishers wait until the copy is complete. */
int push_run(const struct push_spec *spec, struct err *err) _must_check_;
