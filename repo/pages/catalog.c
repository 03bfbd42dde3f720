#include "catalog.h"

#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/version.h"
#include "../index/listing.h"
#include "../index/piece.h"

/* By name, newest version first, architecture; the same file in two suites lies side by side. */
static int order(const void *x, const void *y)
{
	const struct pkg *a = &((const struct catalog_deb *)x)->pkg;
	const struct pkg *b = &((const struct catalog_deb *)y)->pkg;
	int c = strcmp(a->name, b->name);
	if (!c)
		c = version_compare(b->version, a->version);
	if (!c)
		c = strcmp(b->version, a->version);
	if (!c)
		c = strcmp(a->arch, b->arch);
	return c ? c : strcmp(a->path, b->path);
}

static int suite_order(const void *x, const void *y)
{
	const struct suite *a = x, *b = y;
	int c = (a->snapshot_of != NULL) - (b->snapshot_of != NULL);
	return c ? c : strcmp(a->name, b->name);
}

static int read_suites(struct catalog *c, struct repo *r, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	struct suite_row row;
	if (state_suites(r->state, &names, err) < 0)
		return -1;
	c->suites = arena_alloc(c->arena, (names.n + 1) * sizeof *c->suites);
	for (size_t i = 0; i < names.n; i++) {
		struct suite *s = &c->suites[c->n_suites];
		const char *name = arena_strdup(c->arena, names.v[i]);
		if (repo_suite(r, c->arena, name, s, &row, err) < 0)
			return -1;
		c->n_suites++;
		c->n_live += !s->snapshot_of;
	}
	if (c->n_suites)
		qsort(c->suites, c->n_suites, sizeof *c->suites, suite_order);
	return 0;
}

static void add(struct catalog *c, const struct pkg *p, const char *suite)
{
	if (c->n == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 256;
		c->v = xreallocarray(c->v, c->cap, sizeof *c->v);
	}
	struct catalog_deb *d = &c->v[c->n++];
	*d = (struct catalog_deb){
	    .pkg = *p, .signer = "", .signed_why = "not looked at", .changelog = ""};
	strv_add(&d->suites, suite);
}

static int read_debs(struct catalog *c, const char *root, const struct suite *s, struct err *err)
{
	for (size_t k = 0; k < s->components.n; k++) {
		for (size_t i = 0; i < s->archs.n; i++) {
			struct pkg_list list = {0};
			int rc = listing_read(
			    c->arena, root, s, s->components.v[k], s->archs.v[i], &list, err);
			for (size_t j = 0; j < list.n && rc == 0; j++)
				add(c, &list.v[j], s->name);
			pkg_list_done(&list);
			if (rc < 0)
				return err_wrap(err, "cannot read suite '%s'", s->name);
		}
	}
	return 0;
}

/* The same .deb of several indexes and suites becomes one. */
static void merge(struct catalog *c)
{
	size_t to = 0;
	if (c->n)
		qsort(c->v, c->n, sizeof *c->v, order);
	for (size_t i = 0; i < c->n; i++) {
		if (!to || order(&c->v[to - 1], &c->v[i])) {
			c->v[to++] = c->v[i];
			continue;
		}
		if (!strv_has(&c->v[to - 1].suites, c->v[i].suites.v[0]))
			strv_add_all(&c->v[to - 1].suites, &c->v[i].suites);
		strv_done(&c->v[i].suites);
	}
	c->n = to;
}

int catalog_read(struct catalog *c, struct repo *r, struct arena *a, struct err *err)
{
	*c = (struct catalog){.arena = a};
	if (read_suites(c, r, err) < 0)
		return -1;
	for (size_t i = 0; i < c->n_suites; i++)
		if (read_debs(c, r->root, &c->suites[i], err) < 0)
			return -1;
	merge(c);
	for (size_t i = 0; i < c->n; i++) {
		struct stat st;
		strv_sort(&c->v[i].suites);
		if (stat(arena_printf(a, "%s/%s", r->root, c->v[i].pkg.path), &st) == 0)
			c->v[i].time = st.st_mtim.tv_sec;
	}
	return 0;
}

void catalog_done(struct catalog *c)
{
	for (size_t i = 0; i < c->n; i++)
		strv_done(&c->v[i].suites);
	for (size_t i = 0; i < c->n_suites; i++)
		suite_done(&c->suites[i]);
	free(c->v);
}

size_t catalog_run(const struct catalog *c, size_t i)
{
	size_t end = i;
	while (end < c->n && !strcmp(c->v[end].pkg.name, c->v[i].pkg.name))
		end++;
	return end - i;
}

const char *catalog_field(struct arena *a, const struct catalog_deb *d, const char *field)
{
	size_t len;
	const char *v = piece_field(d->pkg.text, d->pkg.text_len, field, &len);
	return v ? arena_strndup(a, v, len) : NULL;
}
