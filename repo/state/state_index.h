/* Indexes in the state: their pieces, their files, and which package stands in which piece. */
#pragma once
#include "state.h"
#include "sums.h"

/* The files of an index, in the order of the arrays below. */
enum index_file { FILE_PLAIN, FILE_GZ, FILE_ZST, FILE_XZ, INDEX_FILES };
extern const char *const index_suffix[INDEX_FILES]; /* "", ".gz", ".zst", ".xz" */

/* Stanzas that are compressed together: one gzip member, zstd frame and xz block. */
struct piece {
	int64_t seq;		       /* order in the index; gaps are fine */
	uint64_t size[INDEX_FILES];    /* bytes in each file; 0 in a file that is not made */
	uint64_t offset[INDEX_FILES];  /* not stored: where it begins */
	struct sums sums[INDEX_FILES]; /* of each file, up to the end of this piece */
};

struct index_row {
	int64_t id;
	bool stale; /* members are known, pieces are not: all of it must be made again */
	struct ident files[INDEX_FILES]; /* all zero: not made */
	struct piece *pieces;		 /* in order, in the arena */
	size_t n_pieces;
};

/* 1 with the row and its pieces, 0 if there is none, -1. */
int state_find_index(struct state *s, struct arena *a, int64_t suite, const char *component,
    const char *arch, struct index_row *out, struct err *err) _must_check_;
/* Only its id; 0 if there is none. */
int state_index_id(struct state *s, int64_t suite, const char *component, const char *arch,
    int64_t *id, struct err *err) _must_check_;
/* A new, stale index. */
int state_add_index(struct state *s, int64_t suite, const char *component, const char *arch,
    int64_t *id, struct err *err) _must_check_;
/* Stores the files and the pieces from number from on; the index is no longer stale. */
int state_put_index(
    struct state *s, const struct index_row *row, size_t from, struct err *err) _must_check_;

/* The piece in which a package stands: 1, 0 if it is not listed, -1. */
int state_find_member(
    struct state *s, int64_t index, int64_t deb, int64_t *seq, struct err *err) _must_check_;
int state_put_member(
    struct state *s, int64_t index, int64_t deb, int64_t seq, struct err *err) _must_check_;
int state_drop_member(struct state *s, int64_t index, int64_t deb, struct err *err) _must_check_;
int state_drop_members(struct state *s, int64_t index, struct err *err) _must_check_;
/* The packages of one piece move to another. */
int state_move_members(
    struct state *s, int64_t index, int64_t from, int64_t to, struct err *err) _must_check_;
/*
 * Calls fn with each package that a suite's component (NULL: any) lists under name (NULL: any):
 * once for each, by name, component, architecture and path. component is passed beside the row.
 */
typedef int member_fn(void *arg, const char *component, const struct deb_row *row, struct err *err);
int state_each_member(struct state *s, int64_t suite, const char *component, const char *name,
    member_fn *fn, void *arg, struct err *err) _must_check_;
/* Copies all indexes and members of a suite to another that has none. */
int state_copy_suite(struct state *s, int64_t from, int64_t to, struct err *err) _must_check_;
