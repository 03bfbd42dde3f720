#include "change.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/base/txn.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/base/path.h"
#include "../../lib/deb/stanza.h"
#include "change_part.h"
#include "dating.h"
#include "../index/index.h"
#include "../state/state_index.h"
#include "withdraw.h"

/* What a publish replaces stays reachable by hash for so many generations, and at least for so
 * long, for clients that read an older InRelease and are slow. */
#define KEEP_GENERATIONS 3
#define KEEP_SECONDS	 (15 * 60)
#define DEFAULT_ARCH	 "amd64"

int change_open(struct change *c, struct repo *r, struct arena *a, const char *suite,
    unsigned flags, struct err *err)
{
	struct stanza_list withdrawn = {0};
	*c = (struct change){.repo = r, .arena = a, .txn = txn_new(r->root)};
	if (suite_load(a, r->root, suite, &c->suite, err) < 0)
		return -1;
	if (c->suite.snapshot_of && !(flags & CHANGE_SNAPSHOT))
		return err_set(err, ERR_USAGE, "'%s' is a snapshot of '%s' and never changes",
		    suite, c->suite.snapshot_of);
	if (dating_check(r, &c->suite, err) < 0)
		return -1;
	int found = state_find_suite(r->state, suite, &c->row, err);
	if (found == 0 && !(flags & CHANGE_NEW))
		return err_set(err, ERR_USAGE, "'%s' has no suite '%s'", r->root, suite);
	if (found < 0 || withdraw_load(a, r->root, &withdrawn, err) < 0)
		return -1;
	c->withdrawn = withdraw_lines(a, &withdrawn);
	return 0;
}

void change_done(struct change *c)
{
	suite_done(&c->suite);
	pkg_list_done(&c->adds);
	free(c->removals);
	txn_free(c->txn);
	*c = (struct change){0};
}

void change_add(struct change *c, const struct pkg *p)
{
	pkg_list_add(&c->adds, p);
	if (strcmp(p->arch, "all") && !strv_has(&c->suite.archs, p->arch))
		strv_add(&c->suite.archs, p->arch);
	if (!strv_has(&c->suite.components, p->component))
		strv_add(&c->suite.components, p->component);
}

void change_remove(struct change *c, const char *component, const struct deb_row *d)
{
	if (c->n_removals == c->cap_removals) {
		c->cap_removals = c->cap_removals ? 2 * c->cap_removals : 16;
		c->removals = xreallocarray(c->removals, c->cap_removals, sizeof *c->removals);
	}
	struct change_removal *r = &c->removals[c->n_removals++];
	*r = (struct change_removal){.component = arena_strdup(c->arena, component), .deb = *d};
	r->deb.name = arena_strdup(c->arena, d->name);
	r->deb.version = arena_strdup(c->arena, d->version);
	r->deb.arch = arena_strdup(c->arena, d->arch);
	r->deb.path = arena_strdup(c->arena, d->path);
}

int change_lists(
    struct change *c, const char *component, const char *arch, int64_t deb, struct err *err)
{
	int64_t index, seq;
	/* Packages for all architectures stand in each index: any will do. */
	if (!strcmp(arch, "all"))
		arch = c->suite.archs.n ? c->suite.archs.v[0] : DEFAULT_ARCH;
	int found = state_index_id(c->repo->state, c->row.id, component, arch, &index, err);
	return found == 1 ? state_find_member(c->repo->state, index, deb, &seq, err) : found;
}

int change_is_stale(struct change *c, bool *stale, struct err *err)
{
	const struct suite *s = &c->suite;
	*stale = s->half_signed || (s->date && !str_eq(s->withdrawn, c->withdrawn));
	for (size_t k = 0; c->row.id && k < s->components.n; k++)
		for (size_t i = 0; i < s->archs.n; i++) {
			struct index_spec x = {.root = c->repo->root,
			    .suite = s->name,
			    .component = s->components.v[k],
			    .arch = s->archs.v[i],
			    .compat = s->compat,
			    .no_gz = s->no_gz};
			struct index_row row;
			int found = state_find_index(
			    c->repo->state, c->arena, c->row.id, x.component, x.arch, &row, err);
			if (found < 0)
				return -1;
			*stale |= found == 0 || row.stale || !index_intact(&x, &row);
		}
	return 0;
}

static bool listed_as(const struct release_list *l, const struct release_file *f)
{
	const struct release_file *g = release_list_find(l, f->name);
	return g && !strcmp(g->sums.hex[SUM_SHA256], f->sums.hex[SUM_SHA256]);
}

/* Names by hash that are new are needed, those replaced are needed for a while. */
static int turn_by_hash(struct change *c, const struct release_list *now_listed, struct err *err)
{
	const struct release_list *lists[2] = {&c->suite.files, now_listed};
	for (int fresh = 0; fresh < 2; fresh++)
		for (size_t i = 0; i < lists[fresh]->n; i++) {
			const struct release_file *f = &lists[fresh]->v[i];
			if (listed_as(lists[!fresh], f))
				continue;
			for (int alg = 0; alg < SUM_ALGS; alg++) {
				if (!*f->sums.hex[alg])
					continue;
				const char *path =
				    arena_printf(c->arena, "dists/%s/%.*sby-hash/%s/%s",
					c->suite.name, (int)(path_base(f->name) - f->name), f->name,
					sum_names[alg], f->sums.hex[alg]);
				int rc = fresh
					     ? state_unretire(c->repo->state, c->row.id, path, err)
					     : state_retire(c->repo->state, c->row.id, path,
						   c->row.generation, clock_now(), err);
				if (rc < 0)
					return -1;
			}
		}
	return 0;
}

/* Replaced names whose time has passed are removed after the commit. */
static int remove_retired(struct change *c, struct err *err)
{
	_cleanup_(strv_done) struct strv old = STRV_INIT;
	if (state_take_retired(c->repo->state, c->row.id, c->row.generation - KEEP_GENERATIONS,
		clock_now() - KEEP_SECONDS, &old, err) < 0)
		return -1;
	for (size_t i = 0; i < old.n; i++)
		txn_remove(c->txn, old.v[i]);
	return 0;
}

static int write_parts(struct change *c, struct release_list *files, struct err *err)
{
	struct suite *s = &c->suite;
	if (c->release_only) {
		for (size_t i = 0; i < s->files.n; i++)
			release_list_add(files, &s->files.v[i]);
		return 0;
	}
	for (size_t k = 0; k < s->components.n; k++)
		for (size_t i = 0; i < s->archs.n; i++)
			if (change_write_part(c, s->components.v[k], s->archs.v[i], files, err) < 0)
				return -1;
	return turn_by_hash(c, files, err);
}

static int mark_unlisted(struct change *c, struct err *err)
{
	for (size_t i = 0; i < c->n_removals; i++)
		if (state_mark_unlisted(c->repo->state, c->removals[i].deb.id, clock_now(), err) <
		    0)
			return -1;
	for (size_t i = 0; i < c->adds.n; i++)
		if (state_mark_unlisted(c->repo->state, c->adds.v[i].deb, clock_now(), err) < 0)
			return -1;
	return 0;
}

static int stage_all(struct change *c, struct release_list *files, struct err *err)
{
	struct suite *s = &c->suite;
	if (!s->archs.n)
		strv_add(&s->archs, DEFAULT_ARCH);
	strv_uniq(&s->archs);
	strv_uniq(&s->components);
	/* apt holds a Release for old that is dated before the one it has. */
	s->date = dating_next(c->repo, s);
	s->withdrawn = c->withdrawn;
	if (!c->row.id && state_put_suite(c->repo->state, s->name, &c->row, err) < 0)
		return -1;
	if (write_parts(c, files, err) < 0 || mark_unlisted(c, err) < 0)
		return -1;
	if (release_stage(c->arena, c->txn, s, files, &c->row.release, err) < 0)
		return -1;
	if (!c->release_only)
		c->row.generation++;
	if (remove_retired(c, err) < 0)
		return -1;
	return state_put_suite(c->repo->state, s->name, &c->row, err);
}

int change_commit(struct change *c, struct err *err)
{
	_cleanup_(release_list_done) struct release_list files = {0};
	if (stage_all(c, &files, err) < 0 || txn_commit(c->txn, err) < 0)
		return -1;
	/* The change is out. A state that cannot be written is old, and is read anew next time. */
	if (state_commit(c->repo->state, NULL) < 0)
		state_rollback(c->repo->state);
	return 0;
}
