#include "cells.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/strv.h"
#include "built.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "../data/recipe.h"
#include "../data/states.h"

static int by_version(const void *a, const void *b)
{
	return matrix_compare(*(char *const *)a, *(char *const *)b);
}

/* The strings, each once, by number, in the arena. */
static char **sorted(struct arena *a, struct strv *v)
{
	strv_uniq(v);
	if (v->n)
		qsort(v->v, v->n, sizeof *v->v, by_version);
	char **out = arena_alloc(a, (v->n + 1) * sizeof *out);
	for (size_t i = 0; i < v->n; i++)
		out[i] = arena_strdup(a, v->v[i]);
	return out;
}

static void find_axes(struct arena *a, const struct matrix *m, const char *cuda, struct cells *out)
{
	_cleanup_(strv_done) struct strv cudas = STRV_INIT, torches = STRV_INIT,
					 pythons = STRV_INIT;
	for (size_t i = 0; i < m->n_torches; i++) {
		const struct torch_release *t = &m->torches[i];
		if (!cuda || !strcmp(t->cuda, cuda))
			strv_add(&cudas, t->cuda);
		strv_add(&torches, t->minor);
		for (char **py = t->pythons; *py; py++)
			strv_add(&pythons, *py);
	}
	out->cudas = sorted(a, &cudas);
	out->torches = sorted(a, &torches);
	out->pythons = sorted(a, &pythons);
}

static bool has_word(char *const *words, const char *word)
{
	for (; *words; words++)
		if (!strcmp(*words, word))
			return true;
	return false;
}

/* Kernels belong to a Triton: a torch has them if its own Triton does. */
static void look_at_kernels(const struct built_package *p, struct cell *c)
{
	if (c->release && has_word(p->tritons, c->release->triton) &&
	    has_word(p->pythons, c->python) && has_word(c->release->pythons, c->python))
		c->facts |= CELL_BUILT;
}

/* Own binding before that of another torch. */
static void look_at_packages(const struct built *built, struct cell *c)
{
	for (size_t i = 0; i < built->n; i++) {
		const struct built_package *p = &built->v[i];
		if (strcmp(p->cuda, c->cuda))
			continue;
		if (p->tritons)
			look_at_kernels(p, c);
		for (size_t k = 0; k < p->n; k++) {
			const struct built_binding *b = &p->v[k];
			if (strcmp(b->python, c->python) || !has_word(b->proved, c->torch))
				continue;
			c->facts |= CELL_PROVED;
			if (!c->binding || !strcmp(b->torch, c->torch))
				c->binding = b->file;
			if (!strcmp(b->torch, c->torch))
				c->facts |= CELL_BUILT;
		}
	}
}

/* Facts are of one version: that of the package, else that which would be built. */
static const char *version_of(const struct cells_data *d, const struct cell *c)
{
	for (size_t i = 0; i < d->built->n; i++)
		if (!strcmp(d->built->v[i].cuda, c->cuda) && d->built->v[i].version)
			return d->built->v[i].version;
	return d->recipe->deb_version;
}

static void look_at_states(const struct cells_data *d, struct cell *c)
{
	const struct states *states = d->states;
	const struct recipe *r = d->recipe;
	const char *version = version_of(d, c);
	const struct state_fact *rebuilt = NULL;
	for (size_t i = 0; i < states->n; i++) {
		const struct state_fact *f = &states->v[i];
		if (strcmp(f->recipe, r->name) || strcmp(f->version, version) ||
		    strcmp(f->torch, c->torch) || strcmp(f->cuda, c->cuda) ||
		    strcmp(f->python, c->python))
			continue;
		if (!strcmp(f->state, "rebuilt")) {
			rebuilt = f;
			continue;
		}
		bool gpu = !strcmp(f->state, "gpu");
		c->facts |= gpu ? CELL_GPU : CELL_IMPORTED;
		*(gpu ? &c->gpu : &c->imported) = f;
	}
	c->rebuilt = rebuilt;
	if (rebuilt)
		c->facts |= CELL_REBUILT | CELL_BUILT | CELL_PROVED;
}

/* The greatest torch of the CUDA that is not above minor, or the least that is not below. */
static const struct torch_release *beside(
    const struct matrix *m, const char *minor, const char *cuda, bool below)
{
	const struct torch_release *best = NULL;
	for (size_t i = 0; i < m->n_torches; i++) {
		const struct torch_release *t = &m->torches[i];
		int side = matrix_compare(t->minor, minor) * (below ? 1 : -1);
		if (strcmp(t->cuda, cuda) || side > 0)
			continue;
		if (!best || matrix_compare(t->minor, best->minor) * (below ? 1 : -1) > 0)
			best = t;
	}
	return best;
}

const char *cells_nearest(
    struct arena *a, const struct matrix *m, const char *torch, const char *cuda)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	const struct torch_release *sides[] = {
	    beside(m, torch, cuda, true), beside(m, torch, cuda, false)};
	for (size_t i = 0; i < ARRAY_SIZE(sides); i++)
		if (sides[i] && (!i || sides[i] != sides[0]))
			strv_addf(&v, "torch %s for CUDA %s", sides[i]->minor, cuda);
	for (size_t i = 0; i < m->n_torches; i++)
		if (!strcmp(m->torches[i].minor, torch) && strcmp(m->torches[i].cuda, cuda))
			strv_addf(&v, "torch %s for CUDA %s", torch, m->torches[i].cuda);
	_free_ char *list = strv_join(&v, ", ");
	return arena_strdup(a, list);
}

/* Why there is no such pair: a known gap, or only that nobody listed it. */
static const char *why_no_pair(
    struct arena *a, const struct matrix *m, const char *torch, const char *cuda)
{
	const struct torch_gap *g = matrix_gap(m, torch, cuda);
	_cleanup_(strv_done) struct strv others = STRV_INIT;
	if (g)
		return g->reason;
	for (size_t i = 0; i < m->n_torches; i++)
		if (!strcmp(m->torches[i].minor, torch))
			strv_add(&others, m->torches[i].cuda);
	_free_ char *list = strv_join(&others, " and ");
	if (!others.n)
		return arena_printf(a, "templates/matrix lists no torch %s", torch);
	return arena_printf(a, "templates/matrix lists torch %s for CUDA %s alone", torch, list);
}

static const char *why_no_pin(struct arena *a, const struct torch_release *t)
{
	if (t->index)
		return arena_printf(a,
		    "its wheel is on %s alone, and is not in the lock: run `debkit lock --cuda "
		    "%s` where that index can be reached",
		    t->index, t->cuda);
	return arena_printf(
	    a, "its wheel is not in the lock: run `debkit lock --cuda %s`", t->cuda);
}

static void set_reason(struct arena *a, const struct cells_data *d, struct cell *c)
{
	const struct torch_release *t = c->release;
	c->reason = "";
	if (c->facts) {
		c->why = CELL_THERE;
	} else if (!t) {
		c->why = CELL_NO_PAIR;
		c->reason = why_no_pair(a, d->matrix, c->torch, c->cuda);
	} else if (!has_word(t->pythons, c->python)) {
		c->why = CELL_NO_PYTHON;
		c->reason =
		    arena_printf(a, "torch %s has no wheel for Python %s", t->version, c->python);
	} else if (!lockfile_torch(d->lock, t, c->python)) {
		c->why = t->index ? CELL_NO_INDEX : CELL_NO_PIN;
		c->reason = why_no_pin(a, t);
	} else {
		c->why = CELL_NOT_BUILT;
		c->reason = arena_printf(a,
		    "it is not built here: `debkit build --cuda %s --torch %s` makes it", t->cuda,
		    t->minor);
	}
}

struct cell cells_one(struct arena *a, const struct cells_data *data, const char *torch,
    const char *cuda, const char *python)
{
	struct cell c = {.torch = torch,
	    .cuda = cuda,
	    .python = python,
	    .release = matrix_torch(data->matrix, torch, cuda)};
	look_at_packages(data->built, &c);
	look_at_states(data, &c);
	set_reason(a, data, &c);
	return c;
}

void cells_make(struct arena *a, const struct cells_data *data, const char *cuda, struct cells *out)
{
	*out = (struct cells){.recipe = data->recipe, .built = data->built};
	find_axes(a, data->matrix, cuda, out);
	size_t n[3] = {0};
	char **axes[] = {out->cudas, out->torches, out->pythons};
	for (size_t i = 0; i < ARRAY_SIZE(axes); i++)
		while (axes[i][n[i]])
			n[i]++;
	out->v = arena_alloc(a, (n[0] * n[1] * n[2] + 1) * sizeof *out->v);
	for (char **c = out->cudas; *c; c++)
		for (char **t = out->torches; *t; t++)
			for (char **py = out->pythons; *py; py++)
				out->v[out->n++] = cells_one(a, data, *t, *c, *py);
}

const char *cell_state(const struct cell *c)
{
	return c->facts & CELL_GPU	  ? "gpu"
	       : c->facts & CELL_IMPORTED ? "imported"
	       : c->facts & CELL_PROVED	  ? "proved"
	       : c->facts & CELL_BUILT	  ? "built"
					  : "empty";
}

const char *cell_why_name(enum cell_why why)
{
	static const char *const names[] = {[CELL_THERE] = "",
	    [CELL_NO_PAIR] = "no-pair",
	    [CELL_NO_PYTHON] = "no-python",
	    [CELL_NO_PIN] = "not-pinned",
	    [CELL_NO_INDEX] = "index-not-reached",
	    [CELL_NOT_BUILT] = "not-built"};
	return names[why];
}

const struct built_package *cells_package(const struct cells *c, const char *cuda)
{
	for (size_t i = 0; i < c->built->n; i++)
		if (!strcmp(c->built->v[i].cuda, cuda))
			return &c->built->v[i];
	return NULL;
}
