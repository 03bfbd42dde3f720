#include "list.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/version.h"
#include "select.h"
#include "../state/state_index.h"

static void close_repo(struct repo *r)
{
	repo_close(r);
}

struct walk {
	const char *suite;
	struct selection *selection;
	list_fn *fn;
	void *arg;
	size_t n;
};

static int take_member(void *arg, const char *component, const struct deb_row *d, struct err *err)
{
	struct walk *w = arg;
	if (w->selection && !select_matches(w->selection, d->name, d->version, d->arch))
		return 0;
	w->n++;
	if (w->fn)
		w->fn(w->arg, &(struct list_line){.suite = w->suite,
				  .component = component,
				  .name = d->name,
				  .version = d->version,
				  .arch = d->arch,
				  .path = d->path,
				  .size = d->size});
	return 0;
}

int list_packages(const struct list_spec *spec, list_fn *fn, void *arg, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(close_repo) struct repo r = REPO_INIT;
	_cleanup_(strv_done) struct strv suites = STRV_INIT;
	struct selection selection;
	if (select_parse(&a, spec->packages, &selection, err) < 0 ||
	    repo_open(&r, &spec->repo, err) < 0)
		return -1;
	if (spec->suite)
		strv_add(&suites, spec->suite);
	else if (state_suites(r.state, &suites, err) < 0)
		return -1;
	for (size_t i = 0; i < suites.n; i++) {
		_cleanup_(suite_done) struct suite s = {0};
		struct suite_row row;
		struct walk w = {
		    .suite = suites.v[i], .selection = &selection, .fn = fn, .arg = arg};
		if (repo_suite(&r, &a, suites.v[i], &s, &row, err) < 0 ||
		    state_each_member(
			r.state, row.id, spec->component, NULL, take_member, &w, err) < 0)
			return -1;
	}
	return 0;
}

int list_suites(const struct repo_spec *repo, list_suite_fn *fn, void *arg, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(close_repo) struct repo r = REPO_INIT;
	_cleanup_(strv_done) struct strv suites = STRV_INIT;
	if (repo_open(&r, repo, err) < 0 || state_suites(r.state, &suites, err) < 0)
		return -1;
	for (size_t i = 0; i < suites.n; i++) {
		_cleanup_(suite_done) struct suite s = {0};
		struct suite_row row;
		struct walk w = {0};
		if (repo_suite(&r, &a, suites.v[i], &s, &row, err) < 0 ||
		    state_each_member(r.state, row.id, NULL, NULL, take_member, &w, err) < 0)
			return -1;
		fn(arg, &s, w.n);
	}
	return 0;
}

struct lines {
	struct arena arena;
	struct list_line *v;
	size_t n, cap;
};

static void lines_done(struct lines *l)
{
	free(l->v);
	arena_done(&l->arena);
}

static int add_line(void *arg, const char *component, const struct deb_row *d, struct err *err)
{
	struct lines *l = arg;
	if (l->n == l->cap)
		l->v = xreallocarray(l->v, l->cap = l->cap ? 2 * l->cap : 256, sizeof *l->v);
	l->v[l->n++] = (struct list_line){.component = arena_strdup(&l->arena, component),
	    .name = arena_strdup(&l->arena, d->name),
	    .version = arena_strdup(&l->arena, d->version),
	    .arch = arena_strdup(&l->arena, d->arch),
	    .path = arena_strdup(&l->arena, d->path),
	    .size = d->size};
	return 0;
}

static int order(const void *x, const void *y)
{
	const struct list_line *a = x, *b = y;
	int c = strcmp(a->name, b->name);
	if (!c)
		c = strcmp(a->component, b->component);
	if (!c)
		c = strcmp(a->arch, b->arch);
	if (!c)
		c = version_compare(a->version, b->version);
	return c ? c : strcmp(a->version, b->version);
}

static int read_lines(struct repo *r, const char *suite, struct lines *out, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(suite_done) struct suite s = {0};
	struct suite_row row;
	if (repo_suite(r, &a, suite, &s, &row, err) < 0 ||
	    state_each_member(r->state, row.id, NULL, NULL, add_line, out, err) < 0)
		return -1;
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, order);
	return 0;
}

int list_diff(const struct repo_spec *repo, const char *first, const char *second, list_diff_fn *fn,
    void *arg, struct err *err)
{
	_cleanup_(close_repo) struct repo r = REPO_INIT;
	_cleanup_(lines_done) struct lines a = {0}, b = {0};
	if (repo_open(&r, repo, err) < 0 || read_lines(&r, first, &a, err) < 0 ||
	    read_lines(&r, second, &b, err) < 0)
		return -1;
	for (size_t i = 0, k = 0; i < a.n || k < b.n;) {
		int c = i == a.n ? 1 : k == b.n ? -1 : order(&a.v[i], &b.v[k]);
		if (c < 0)
			fn(arg, '-', &a.v[i]);
		if (c > 0)
			fn(arg, '+', &b.v[k]);
		i += c <= 0;
		k += c >= 0;
	}
	return 0;
}
