/* debkit site: the repository's web pages. The matrix is made of what the repository lists. */
#include <string.h>

#include "../../repo/list.h"
#include "../../repo/pages.h"
#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include "../base/log.h"
#include "../base/path.h"
#include "../base/xalloc.h"
#include "cells_opts.h"
#include "cmd.h"
#include "repo_opts.h"

#define TEXT_MAX ((size_t)64 << 20)

static const char *title, *recipe = "causal-conv1d";

static const struct opt opts[] = {
    REPO_OPTS,
    {"title", 0, OPT_STRING, "TEXT", "title of the front page", &title},
    {"recipe", 0, OPT_STRING, "NAME", "whose matrix is shown (causal-conv1d)", &recipe},
    {NULL},
};

/* The packages of the recipe that a suite lists and that belong to a CUDA. */
struct flavours {
	const char *stem;
	struct strv suites, paths; /* suites: not the snapshots, which keep what was withdrawn */
};

static void take_suite(void *arg, const struct suite *s, size_t packages)
{
	struct flavours *f = arg;
	if (!s->snapshot_of)
		strv_add(&f->suites, s->name);
}

static void take_line(void *arg, const struct list_line *l)
{
	struct flavours *f = arg;
	if (str_starts(l->name, f->stem) && strv_has(&f->suites, l->suite) &&
	    !strv_has(&f->paths, l->path))
		strv_add(&f->paths, l->path);
}

static void flavours_done(struct flavours *f)
{
	strv_done(&f->suites);
	strv_done(&f->paths);
}

/* Drops what lies in the pool and is not listed, such as a withdrawn package. */
static void keep_listed(struct built *b, const struct flavours *f)
{
	size_t to = 0;
	for (size_t i = 0; i < b->n; i++) {
		const char *name = path_base(b->v[i].path);
		for (size_t k = 0; k < f->paths.n; k++)
			if (!strcmp(path_base(f->paths.v[k]), name)) {
				b->v[to++] = b->v[i];
				break;
			}
	}
	b->n = to;
}

static int make_matrix(struct arena *a, struct buf *html, struct buf *json, struct err *err)
{
	_free_ char *stem = xasprintf("python3-%s-cu", recipe);
	_cleanup_(flavours_done) struct flavours f = {.stem = stem};
	static const struct strv all = STRV_INIT;
	struct list_spec spec = {.repo = repo_opts_spec(false), .packages = &all};
	struct cells_source s;
	struct cells cells;
	if (list_suites(&spec.repo, take_suite, &f, err) < 0 ||
	    list_packages(&spec, take_line, &f, err) < 0)
		return -1;
	if (!f.paths.n)
		return 0;
	_free_ char *dir = path_dir(f.paths.v[0]);
	_free_ char *pool = path_join(repo_opts.root, dir);
	if (cells_opts_load(a, &(struct cells_opts){.recipe = recipe, .out = pool}, &s, err) < 0)
		return -1;
	keep_listed(&s.built, &f);
	cells_make(a, &s.data, NULL, &cells);
	cells_print_tables(&cells, &s.matrix, html);
	cells_print_choice(a, &cells, &s.matrix, json);
	return buf_check(html, "the matrix", err) < 0 ? -1 : buf_check(json, "the matrix", err);
}

static int run(const struct strv *operands, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf html = BUF_INIT(TEXT_MAX), json = BUF_INIT(TEXT_MAX);
	struct pages_result res;
	if (repo_opts_check(false, err) < 0)
		return -1;
	_free_ char *templates = path_templates_dir(err);
	if (!templates || make_matrix(&a, &html, &json, err) < 0)
		return -1;
	struct pages_spec spec = {.repo = repo_opts_spec(false),
	    .templates = templates,
	    .title = title,
	    .matrix = buf_str(&html),
	    .choice = buf_str(&json)};
	if (pages_write(&spec, &res, err) < 0)
		return -1;
	if (res.written + res.removed)
		log_note("'%s': %zu pages written, %zu as they were, %zu removed", repo_opts.root,
		    res.written, res.same, res.removed);
	else
		log_note("nothing to do: the %zu pages are as the repository is", res.same);
	repo_say_waits();
	return 0;
}

const struct cmd cmd_site = {"site", "writes a repository's web pages", "",
    "Writes index.html, packages.html, packages/ and feed.atom beside dists/ and pool/: the lines "
    "to "
    "paste, a chooser, the matrix, and every package with its versions. Run it after each change. "
    "The pages need no server and no script, and change as one, the front page last.",
    opts, 0, 0, run};
