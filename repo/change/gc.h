/* Files that nothing refers to any more. */
#pragma once
#include "../index/repo.h"

struct gc_spec {
	struct repo_spec repo;
	bool remove;	  /* else only report */
	unsigned grace_s; /* younger leftovers stay, for clients that still know them */
	/* Called for each file: its path below the root and its bytes. May be NULL. */
	void (*report)(const char *path, uint64_t size);
	/* Called for each snapshot that goes. May be NULL. */
	void (*report_snapshot)(const char *name, unsigned days);
};

struct gc_result {
	size_t snapshots; /* that their suite's retention keeps no longer */
	size_t n, kept;	  /* files reported; files that are too young */
	uint64_t bytes;
};

/*
 * Packages in the pool that no suite and no snapshot lists, files in the pool that the state does
 * not know, and by-hash files that no Release of the last generations names. First of all,
 * snapshots that are older than "retention" says (retention.h): what they alone listed is garbage
 * from then on.
 */
int gc_run(const struct gc_spec *spec, struct gc_result *res, struct err *err) _must_check_;
