/* Packages indexes of one suite: what is listed, and the files made from it. */
#pragma once
#include "../debbuild/base/compat.h"
#include "pool.h"
#include "release.h"

struct arena;
struct err;
struct suite;
struct txn;

/* All packages of a suite's component, whatever their architecture. */
struct index {
	const char *component;
	struct pkg_list packages;
};

/* Reads the indexes that dists/SUITE holds now. */
int index_load(struct arena *a, const char *root, const struct suite *s, const char *component,
    struct index *x, struct err *err) _must_check_;
/*
 * Adds p. Returns 1 if it was added, 0 if the very same bytes are listed already, -1 with
 * ERR_CONFLICT if other bytes are listed under the name, version and architecture.
 */
int index_add(struct index *x, const struct pkg *p, struct err *err) _must_check_;
/*
 * Stages Packages, .gz and .zst for arch ("all" packages are in each) and their by-hash names,
 * and appends their entries to files (room for INDEX_FILES).
 */
#define INDEX_FILES 3
int index_stage(struct arena *a, const struct suite *s, const struct index *x, const char *arch,
    struct txn *t, struct release_file *files, struct err *err) _must_check_;
void index_done(struct index *x);
