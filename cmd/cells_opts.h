/* What `debkit matrix` and `debkit why` share: where the facts come from. */
#pragma once
#include "../debbuild/cells/built.h"
#include "../debbuild/cells/cells.h"
#include "../debbuild/data/lockfile.h"
#include "../debbuild/data/matrix.h"
#include "../debbuild/data/recipe.h"
#include "../debbuild/data/states.h"

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
