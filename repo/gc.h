/* Files that nothing refers to any more. */
#pragma once
#include "repo.h"

struct gc_spec {
	struct repo_spec repo;
	bool remove;	  /* else only report */
	unsigned grace_s; /* younger leftovers stay, for clients that still know them */
	/* Called for each file: its path below the root and its bytes. May be NULL. */
	void (*report)(const char *path, uint64_t size);
};

struct gc_result {
	size_t n, kept; /* files reported; files that are too young */
	uint64_t bytes;
};

/*
 * Packages in the pool that no suite and no snapshot lists, files in the pool that the state does
 * not know, and by-hash files that no Release of the last generations names.
 */
int gc_run(const struct gc_spec *spec, struct gc_result *res, struct err *err) _must_check_;
