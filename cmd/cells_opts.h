/* What `debkit matrix` and `debkit why` share: where the facts come from. */
#pragma once
#include "../build/built.h"
#include "../build/cells.h"
#include "../build/lockfile.h"
#include "../build/matrix.h"
#include "../build/recipe.h"
#include "../build/states.h"

struct err;

struct cells_opts {
	const char *recipe, *cuda, *out; /* NULL: causal-conv1d; all; "out" */
	const struct strv *files;	 /* these packages, not those in out; or NULL */
};

struct cells_source {
	struct recipe recipe;
	struct matrix matrix;
	struct lockfile lock;
	struct states states;
	struct built built;
	struct cells_data data; /* points to the others */
	const char *states_path;
};

/* Loads it all; s must stay where it is. */
int cells_opts_load(struct arena *a, const struct cells_opts *o, struct cells_source *s,
    struct err *err) _must_check_;
