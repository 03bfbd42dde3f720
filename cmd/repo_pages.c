#include "repo_pages.h"

#include <string.h>

#include "../repo/pages/catalog.h"
#include "../lib/base/arena.h"
#include "../lib/base/buf.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "../lib/base/path.h"
#include "../lib/base/strv.h"
#include "cells_opts.h"
#include "repo_opts.h"

/* What the matrix is made from. */
struct work {
	struct arena *a;
	const char *root;
	const struct catalog *cat;
	const struct suite *suite;
	struct buf *html;
	struct cells *v; /* one for each recipe that has packages */
	size_t n;
	const struct matrix *matrix;
	const char *meta; /* the metapackage that a recipe may have, or NULL */
};

/* The suite of one package of that name that the matrix is about: the one that the page's lines
 * name, else another one that is no snapshot. NULL: there is none. */
static const char *suite_of(const struct work *w, const struct catalog_deb *d)
{
	if (w->suite && strv_has(&d->suites, w->suite->name))
		return w->suite->name;
	for (size_t i = 0; i < w->cat->n_live; i++)
		if (strv_has(&d->suites, w->cat->suites[i].name))
			return w->cat->suites[i].name;
	return NULL;
}

/* The newest version that the usual suite lists, else the newest of another one. */
static const struct catalog_deb *choose(const struct work *w, size_t at, size_t n)
{
	const struct catalog_deb *best = NULL;
	for (size_t i = at; i < at + n; i++) {
		const char *suite = suite_of(w, &w->cat->v[i]);
		if (suite && w->suite && !strcmp(suite, w->suite->name))
			return &w->cat->v[i];
		if (suite && !best)
			best = &w->cat->v[i];
	}
	return best;
}

/* Appends the package of each CUDA whose name begins with stem, and its suite. */
static void find_flavours(
    const struct work *w, const char *stem, struct strv *paths, struct strv *suites)
{
	for (size_t i = 0, n; i < w->cat->n; i += n) {
		n = catalog_run(w->cat, i);
		const char *name = w->cat->v[i].pkg.name;
		const char *rest = str_starts(name, stem) ? name + strlen(stem) : "";
		const struct catalog_deb *d = choose(w, i, n);
		if (!d || !*rest || rest[strspn(rest, "0123456789")])
			continue;
		strv_addf(paths, "%s/%s", w->root, d->pkg.path);
		strv_add(suites, suite_of(w, d));
	}
}

static void name_suites(struct work *w, struct built *b, const struct strv *suites)
{
	for (size_t i = 0; i < b->n; i++)
		if (!w->suite || strcmp(suites->v[i], w->suite->name))
			b->v[i].suite = arena_strdup(w->a, suites->v[i]);
}

static int add_recipe(struct work *w, const char *name, struct err *err)
{
	_cleanup_(strv_done) struct strv paths = STRV_INIT, suites = STRV_INIT;
	struct cells_source *s = arena_alloc(w->a, sizeof *s);
	find_flavours(w, arena_printf(w->a, "python3-%s-cu", name), &paths, &suites);
	if (!paths.n)
		return 0;
	if (cells_opts_load(w->a, &(struct cells_opts){.recipe = name, .files = &paths}, s, err) <
	    0)
		return -1;
	name_suites(w, &s->built, &suites);
	cells_make(w->a, &s->data, NULL, &w->v[w->n]);
	buf_printf(w->html, "<h3>%s</h3>\n", name);
	cells_print_tables(&w->v[w->n++], &s->matrix, w->html);
	w->matrix = &s->matrix;
	if (s->recipe.meta)
		w->meta = s->recipe.meta;
	return 0;
}

/* Every folder of the templates that has a recipe. */
static int add_recipes(struct work *w, const char *templates, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_list(templates, &names, err) < 0)
		return -1;
	strv_sort(&names);
	w->v = arena_alloc(w->a, (names.n + 1) * sizeof *w->v);
	for (size_t i = 0; i < names.n; i++)
		if (path_exists(arena_printf(w->a, "%s/%s/recipe", templates, names.v[i])) &&
		    add_recipe(w, names.v[i], err) < 0)
			return -1;
	return 0;
}

/* The CUDAs of the matrix for which the metapackage is listed. */
static void find_metas(const struct work *w, struct strv *cudas)
{
	_cleanup_(strv_done) struct strv paths = STRV_INIT, suites = STRV_INIT;
	const char *stem = arena_printf(w->a, "python3-%s-cu", w->meta);
	find_flavours(w, stem, &paths, &suites);
	for (char **cuda = w->v[0].cudas; *cuda; cuda++) {
		const char *dot = strchrnul(*cuda, '.');
		const char *file = arena_printf(
		    w->a, "/%s%.*s%s_", stem, (int)(dot - *cuda), *cuda, *dot ? dot + 1 : dot);
		for (size_t k = 0; k < paths.n; k++)
			if (strstr(paths.v[k], file) && !strv_has(cudas, *cuda))
				strv_add(cudas, *cuda);
	}
}

static int make_matrix(struct arena *a, const char *root, const struct catalog *c,
    const struct suite *suite, struct buf *html, struct buf *json, struct err *err)
{
	struct work w = {.a = a, .root = root, .cat = c, .suite = suite, .html = html};
	_cleanup_(strv_done) struct strv cudas = STRV_INIT;
	_free_ char *templates = path_templates_dir(err);
	if (!templates || add_recipes(&w, templates, err) < 0)
		return -1;
	if (!w.n)
		return 0;
	/* It needs all of the recipes. */
	if (w.meta && w.n > 1)
		find_metas(&w, &cudas);
	struct cells_meta meta = {w.meta, &cudas};
	cells_print_choice(a, w.v, w.n, cudas.n ? &meta : NULL, w.matrix, json);
	return 0;
}

static int write_pages(const char *title, bool follow, struct pages_result *res, struct err *err)
{
	_free_ char *templates = path_templates_dir(err);
	if (!templates)
		return -1;
	struct pages_spec spec = {.repo = repo_opts_spec(false),
	    .templates = templates,
	    .title = title,
	    .matrix = make_matrix,
	    .follow = follow};
	return pages_write(&spec, res, err);
}

int repo_pages_write(const char *title, struct pages_result *res, struct err *err)
{
	return write_pages(title, false, res, err);
}

void repo_pages_follow(void)
{
	struct pages_result res;
	struct err err = {0};
	if (!pages_are_there(repo_opts.root))
		return;
	if (write_pages(NULL, true, &res, &err) < 0)
		log_warn("that is done, but the pages are older: %s; `debkit site --repo %s` "
			 "writes them",
		    err.msg, repo_opts.root);
	else if (res.written + res.removed)
		log_note("%zu pages written", res.written);
}
