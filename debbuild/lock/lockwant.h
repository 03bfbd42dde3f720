/*
 * What the lock must hold, by the data in the templates: the sdist of each recipe, the wheel of
 * each torch for each of its Pythons, the wheels of the toolkits, and what the triton recipes
 * name: upstream's wheels, the environment of the builder, and each Triton for each Python. Pure.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct index_file;
struct index_files;
struct matrix;
struct recipe;
struct strv;
struct torch_release;

struct lock_want {
	const char *project;
	const char *file;		   /* an sdist, or NULL: a wheel of */
	const char *version;		   /* as in its name: "2.11.0+cu128" */
	const char *abi;		   /* "cp311", or NULL: any */
	const char *cuda;		   /* "12.8", or NULL: for all */
	const char *index;		   /* or NULL: the machine's own */
	const struct torch_release *torch; /* or NULL */
	const char *python;		   /* of a torch */
	const char *recipe;		   /* that names it, or NULL */
	bool pure;			   /* a wheel of pure Python will do too */
	bool exports;			   /* its libraries' exports are pinned too */
};

struct lock_wants {
	struct lock_want *v;
	size_t n;
};

/* Each file once, in the order in which they stand in the lock. */
void lockwant_make(struct arena *a, const struct recipe *recipes, size_t n_recipes,
    const struct matrix *m, struct lock_wants *out);
/* True if that file name answers the want. */
bool lockwant_fits(const struct lock_want *w, const char *project, const char *file) _must_check_;
/*
 * The file for the want: of several one that was not yanked, then the newest build tag, then the
 * one that is pinned now (a name, or NULL), then the last by name. NULL if there is none.
 */
const struct index_file *lockwant_pick(
    const struct lock_want *w, const struct index_files *files, const char *pinned) _must_check_;
/* The Pythons ("3.15") for which there is a wheel that the want's torch would take, by number. */
void lockwant_pythons(const struct lock_want *w, const struct index_files *files, struct strv *out);
