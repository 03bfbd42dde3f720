/*
 * One index of a suite (Packages of a component and architecture), written anew from the pieces
 * that it has and what changes. Pieces before the first change are copied with their digests;
 * only changed ones are compressed.
 */
#pragma once
#include "piece.h"
#include "../state/state_index.h"

struct arena;
struct err;
struct release_list;
struct txn;

struct index_spec {
	const char *root, *suite, *component, *arch;
	bool compat; /* .xz too, and all digests */
	bool no_gz;
};

struct index_change {
	const struct pkg *adds; /* in the order in which they shall stand, with their deb ids */
	size_t n_adds;
	const struct piece_removal *removals; /* by seq */
	size_t n_removals;
};

/*
 * True if the files of the last write are on disk as they were then, so that pieces may be read
 * from them.
 */
bool index_intact(const struct index_spec *x, const struct index_row *row) _must_check_;
/*
 * Stages the files with their by-hash names, appends them to files, and brings row and the
 * members' pieces in the state up to date. A stale row has nothing to go on from: adds are all.
 */
int index_write(struct arena *a, struct state *state, struct txn *t, const struct index_spec *x,
    struct index_row *row, const struct index_change *change, struct release_list *files,
    struct err *err) _must_check_;
/* "dists/SUITE/COMPONENT/binary-ARCH"; owned by the arena. */
char *index_dir(struct arena *a, const struct index_spec *x) _must_check_;
