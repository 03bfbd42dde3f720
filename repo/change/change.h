/*
 * A change of one suite: packages that come and go, and settings. Every command that alters a
 * suite makes one, and change_commit is the only place where a suite is written.
 */
#pragma once
#include "../state/pool.h"
#include "../index/repo.h"

struct txn;

struct change_removal {
	const char *component;
	struct deb_row deb;
};

struct change {
	struct repo *repo;
	struct arena *arena;
	struct suite suite; /* settings may be set before the commit */
	struct suite_row row;
	struct pkg_list adds; /* each with its deb id and component */
	struct change_removal *removals;
	size_t n_removals, cap_removals;
	bool anew;	       /* all indexes are made from the .debs again */
	bool release_only;     /* no index changes: a new date and signature */
	bool link;	       /* files come into the pool as hard links, where they can */
	const char *withdrawn; /* of all that was withdrawn, for Release; or NULL */
	struct txn *txn;       /* files of the pool may be staged before the commit */
};

#define CHANGE_NEW	(1u << 0) /* the suite need not exist: it starts from the defaults */
#define CHANGE_SNAPSHOT (1u << 1) /* a snapshot is fine, too: only its signature changes */
/* Loads the suite. The arena outlives the change. */
int change_open(struct change *c, struct repo *r, struct arena *a, const char *suite,
    unsigned flags, struct err *err) _must_check_;
void change_done(struct change *c);
void change_add(struct change *c, const struct pkg *p);
void change_remove(struct change *c, const char *component, const struct deb_row *deb);
/* 1 if the suite's component lists the package now, before the change; 0; -1. */
int change_lists(struct change *c, const char *component, const char *arch, int64_t deb,
    struct err *err) _must_check_;
/* Whether an index is not on disk as the state knows it, or InRelease is missing: then a commit is
 * due though nothing else changes. */
int change_is_stale(struct change *c, bool *stale, struct err *err) _must_check_;
/* Writes what changed, then InRelease, then the state. */
int change_commit(struct change *c, struct err *err) _must_check_;
