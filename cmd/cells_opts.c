#include "cells_opts.h"

#include "../lib/base/arena.h"
#include "../lib/base/path.h"

int cells_opts_load(
    struct arena *a, const struct cells_opts *o, struct cells_source *s, struct err *err)
{
	_free_ char *templates = path_templates_dir(err);
	if (!templates)
		return -1;
	_free_ char *lock = path_join(templates, "lock");
	_free_ char *states = path_join(templates, "states");
	*s = (struct cells_source){.states_path = arena_strdup(a, states)};
	if (matrix_load(a, templates, &s->matrix, err) < 0 ||
	    recipe_load(a, templates, o->recipe ? o->recipe : "causal-conv1d", &s->recipe, err) <
		0 ||
	    lockfile_load(a, lock, &s->lock, err) < 0 ||
	    states_load(a, states, &s->states, err) < 0)
		return -1;
	if ((o->files ? built_read_files(a, o->files, &s->built, err)
		      : built_read(a, &s->recipe, o->out ? o->out : "out", &s->built, err)) < 0)
		return -1;
	s->data = (struct cells_data){.recipe = &s->recipe,
	    .matrix = &s->matrix,
	    .lock = &s->lock,
	    .states = &s->states,
	    .built = &s->built};
	return 0;
}
