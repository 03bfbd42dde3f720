#include "lockwant.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/strv.h"
#include "../wheel/pyindex.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "../data/recipe.h"
#include "../data/wheelname.h"

static bool same(const struct lock_want *a, const struct lock_want *b)
{
	return !strcmp(a->project, b->project) && str_eq(a->file, b->file) &&
	       str_eq(a->version, b->version) && str_eq(a->abi, b->abi);
}

/* A file that several CUDAs share belongs to none. */
static void add(struct lock_wants *out, struct lock_want w)
{
	for (size_t i = 0; i < out->n; i++) {
		struct lock_want *known = &out->v[i];
		if (!same(known, &w))
			continue;
		known->exports |= w.exports;
		if (!str_eq(known->cuda, w.cuda))
			known->cuda = NULL;
		return;
	}
	out->v[out->n++] = w;
}

static void add_torch(struct arena *a, const struct torch_release *t, struct lock_wants *out)
{
	for (char **py = t->pythons; *py; py++)
		add(out, (struct lock_want){.project = "torch",
			     .version = lockfile_torch_version(a, t),
			     .abi = wheel_abi(a, *py),
			     .cuda = t->cuda,
			     .index = t->index,
			     .torch = t,
			     .python = *py,
			     .exports = true});
}

static void add_toolkit(const struct toolkit_recipe *t, struct lock_wants *out)
{
	for (size_t i = 0; i < t->n_parts; i++)
		add(out, (struct lock_want){.project = t->parts[i].project,
			     .version = t->parts[i].version,
			     .cuda = t->cuda});
	add(out, (struct lock_want){.project = t->runtime_project,
		     .version = t->runtime_version,
		     .cuda = t->cuda,
		     .exports = true});
}

/* The Pythons of every torch that pins that Triton. */
static void add_triton(struct arena *a, const struct recipe *r, const struct matrix *m,
    const char *triton, struct lock_wants *out)
{
	for (size_t i = 0; i < m->n_torches; i++)
		for (char **py = m->torches[i].pythons; *py; py++)
			if (!strcmp(m->torches[i].triton, triton))
				add(out, (struct lock_want){.project = "triton",
					     .version = triton,
					     .abi = wheel_abi(a, *py),
					     .python = *py,
					     .recipe = r->name});
}

static void add_triton_recipe(
    struct arena *a, const struct recipe *r, const struct matrix *m, struct lock_wants *out)
{
	for (size_t i = 0; i < r->n_wheels; i++)
		add(out, (struct lock_want){.project = r->wheels[i].project,
			     .version = r->wheels[i].version,
			     .recipe = r->name,
			     .pure = true});
	for (size_t i = 0; i < r->n_environment; i++)
		add(out, (struct lock_want){.project = r->environment[i].project,
			     .version = r->environment[i].version,
			     .recipe = r->name,
			     .pure = true});
	for (char **t = r->tritons; *t; t++)
		add_triton(a, r, m, *t, out);
}

static size_t most_of_recipe(const struct recipe *r, const struct matrix *m)
{
	size_t n = 1 + r->n_wheels + r->n_environment;
	for (char **t = r->tritons; t && *t; t++)
		for (size_t i = 0; i < m->n_torches; i++)
			for (char **py = m->torches[i].pythons; *py; py++)
				n++;
	return n;
}

void lockwant_make(struct arena *a, const struct recipe *recipes, size_t n_recipes,
    const struct matrix *m, struct lock_wants *out)
{
	size_t most = 0;
	for (size_t i = 0; i < n_recipes; i++)
		most += most_of_recipe(&recipes[i], m);
	for (size_t i = 0; i < m->n_torches; i++)
		for (char **py = m->torches[i].pythons; *py; py++)
			most++;
	for (size_t i = 0; i < m->n_toolkits; i++)
		most += m->toolkits[i].n_parts + 1;
	*out = (struct lock_wants){.v = arena_alloc(a, (most + 1) * sizeof *out->v)};
	for (size_t i = 0; i < n_recipes; i++)
		if (recipes[i].kind == RECIPE_EXTENSION)
			add(out, (struct lock_want){
				     .project = recipes[i].project, .file = recipes[i].sdist});
	for (size_t i = 0; i < m->n_torches; i++)
		add_torch(a, &m->torches[i], out);
	for (size_t i = 0; i < m->n_toolkits; i++)
		add_toolkit(&m->toolkits[i], out);
	for (size_t i = 0; i < n_recipes; i++)
		if (recipes[i].kind == RECIPE_TRITON)
			add_triton_recipe(a, &recipes[i], m, out);
}

/* name gets the parts of a wheel's name. */
static enum wheel_fit fit(
    struct arena *a, const struct lock_want *w, const char *file, struct wheel_name *name)
{
	*name = (struct wheel_name){.build = 0};
	if (w->file)
		return strcmp(file, w->file) ? WHEEL_FIT_NONE : WHEEL_FIT_EXACT;
	if (!wheel_name_parse(a, file, name) || strcmp(name->version, w->version))
		return WHEEL_FIT_NONE;
	if (wheel_name_is_manylinux(name))
		return wheel_name_fit(name, w->abi);
	return w->pure && wheel_name_is_pure(name) ? WHEEL_FIT_EXACT : WHEEL_FIT_NONE;
}

bool lockwant_fits(const struct lock_want *w, const char *project, const char *file)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct wheel_name n;
	return !strcmp(project, w->project) && fit(&a, w, file, &n) != WHEEL_FIT_NONE;
}

struct candidate {
	const struct index_file *file;
	unsigned build;
	enum wheel_fit fit;
};

static bool is_better(const struct candidate *c, const struct candidate *best, const char *pinned)
{
	if (!best->file || c->file->yanked != best->file->yanked)
		return !best->file || best->file->yanked;
	if (c->fit != best->fit)
		return c->fit > best->fit;
	if (c->build != best->build)
		return c->build > best->build;
	if (str_eq(best->file->name, pinned) || str_eq(c->file->name, pinned))
		return str_eq(c->file->name, pinned);
	return strcmp(c->file->name, best->file->name) > 0;
}

const struct index_file *lockwant_pick(
    const struct lock_want *w, const struct index_files *files, const char *pinned)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct candidate best = {.file = NULL};
	for (size_t i = 0; i < files->n; i++) {
		const struct index_file *f = &files->v[i];
		struct wheel_name n;
		struct candidate c = {.file = f, .fit = fit(&a, w, f->name, &n)};
		if (c.fit == WHEEL_FIT_NONE)
			continue;
		c.build = n.build;
		if (is_better(&c, &best, pinned))
			best = c;
	}
	return best.file;
}

static int by_version(const void *a, const void *b)
{
	return matrix_compare(*(char *const *)a, *(char *const *)b);
}

void lockwant_pythons(const struct lock_want *w, const struct index_files *files, struct strv *out)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct lock_want any = *w;
	any.abi = NULL;
	for (size_t i = 0; i < files->n; i++) {
		struct wheel_name n;
		if (fit(&a, &any, files->v[i].name, &n) == WHEEL_FIT_NONE)
			continue;
		for (char **t = n.abis; *t; t++)
			if (str_starts(*t, "cp") && strlen(*t) > 3 &&
			    isdigit((unsigned char)(*t)[strlen(*t) - 1]))
				strv_addf(out, "%c.%s", (*t)[2], *t + 3);
	}
	strv_uniq(out);
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, by_version);
}
