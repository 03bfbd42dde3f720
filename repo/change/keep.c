#include "keep.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/txn.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/version.h"
#include "../state/state_index.h"

/* A version that is listed (row) or would be (fresh). */
struct candidate {
	struct deb_row row;
	struct pkg *fresh;
};

struct sieve {
	struct arena arena;
	struct candidate *v;
	size_t n, cap;
};

static struct candidate *add(struct sieve *s)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 64;
		s->v = xreallocarray(s->v, s->cap, sizeof *s->v);
	}
	s->v[s->n] = (struct candidate){0};
	return &s->v[s->n++];
}

static int take_member(void *arg, const char *component, const struct deb_row *row, struct err *err)
{
	struct sieve *s = arg;
	struct candidate *c = add(s);
	c->row = *row;
	c->row.name = arena_strdup(&s->arena, row->name);
	c->row.version = arena_strdup(&s->arena, row->version);
	c->row.arch = arena_strdup(&s->arena, row->arch);
	c->row.path = arena_strdup(&s->arena, row->path);
	return 0;
}

static int same_package(const struct candidate *a, const struct candidate *b)
{
	int c = strcmp(a->row.name, b->row.name);
	return c ? c : strcmp(a->row.arch, b->row.arch);
}

/* By package, newest first. */
static int order(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;
	int c = same_package(a, b);
	return c ? c : version_compare(b->row.version, a->row.version);
}

static int collect(struct change *c, const char *component, struct pkg_list *fresh, struct sieve *s,
    struct err *err)
{
	struct state *state = c->repo->state;
	if (!fresh->n)
		return state_each_member(state, c->row.id, component, NULL, take_member, s, err);
	pkg_list_sort(fresh);
	for (size_t i = 0; i < fresh->n; i++) {
		struct pkg *p = &fresh->v[i];
		bool first = !i || strcmp(fresh->v[i - 1].name, p->name);
		if (first && state_each_member(
				 state, c->row.id, component, p->name, take_member, s, err) < 0)
			return -1;
		*add(s) = (struct candidate){
		    .fresh = p, .row = {.name = p->name, .version = p->version, .arch = p->arch}};
	}
	return 0;
}

/* Marks a new package that is too old already. */
static void drop(struct change *c, struct pkg *p)
{
	if (p->staged)
		txn_unstage(c->txn, p->path);
	p->name = NULL;
}

int keep_newest(
    struct change *c, const char *component, unsigned n, struct pkg_list *fresh, struct err *err)
{
	struct sieve s = {.arena = ARENA_INIT};
	int rc = collect(c, component, fresh, &s, err);
	if (rc == 0 && s.n)
		qsort(s.v, s.n, sizeof *s.v, order);
	size_t rank = 0;
	for (size_t i = 0; rc == 0 && i < s.n; i++) {
		rank = i && !same_package(&s.v[i - 1], &s.v[i]) ? rank + 1 : 0;
		if (rank < n)
			continue;
		if (s.v[i].fresh)
			drop(c, s.v[i].fresh);
		else
			change_remove(c, component, &s.v[i].row);
	}
	size_t kept = 0;
	for (size_t i = 0; rc == 0 && i < fresh->n; i++)
		if (fresh->v[i].name)
			fresh->v[kept++] = fresh->v[i];
	if (rc == 0)
		fresh->n = kept;
	free(s.v);
	arena_done(&s.arena);
	return rc;
}
