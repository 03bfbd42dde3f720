#include "repo.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/base/lock.h"
#include "../../lib/base/path.h"
#include "../../lib/base/txn.h"
#include "listing.h"
#include "../state/state_index.h"

#define PRIVATE ".debkit" /* holds the lock and the state; clients have no use for it */

bool repo_exists(const char *root)
{
	_free_ char *dists = path_join(root, "dists");
	return path_is_dir(dists);
}

/* The identity of the file that makes a suite known; 0 if it has none. */
static int release_ident(struct arena *a, const char *root, const char *name, struct ident *out)
{
	const char *dir = arena_printf(a, "%s/dists/%s", root, name);
	return ident_get(arena_printf(a, "%s/InRelease", dir), out) == 0 ||
	       ident_get(arena_printf(a, "%s/Release", dir), out) == 0;
}

static int read_index(struct repo *r, struct arena *a, const struct suite *s,
    const struct suite_row *row, const char *component, const char *arch, struct err *err)
{
	int64_t index, deb;
	struct pkg_list list = {0};
	if (state_add_index(r->state, row->id, component, arch, &index, err) < 0)
		return -1;
	int rc = listing_read(a, r->root, s, component, arch, &list, err);
	for (size_t i = 0; i < list.n && rc == 0; i++) {
		rc = state_put_deb(r->state, &list.v[i], &deb, err);
		if (rc == 0)
			rc = state_put_member(r->state, index, deb, 0, err);
	}
	pkg_list_done(&list);
	return rc;
}

/* By-hash files that Release does not name count as if the last publish had replaced them. */
static int retire_unknown(struct repo *r, struct arena *a, const struct suite *s,
    const struct suite_row *row, const char *dir, struct err *err)
{
	for (int alg = 0; alg < SUM_ALGS; alg++) {
		_cleanup_(strv_done) struct strv names = STRV_INIT;
		const char *by_hash = arena_printf(a, "%s/by-hash/%s", dir, sum_names[alg]);
		const char *full = arena_printf(a, "%s/%s", r->root, by_hash);
		if (!path_is_dir(full))
			continue;
		if (path_list(full, &names, err) < 0)
			return -1;
		for (size_t i = 0; i < names.n; i++) {
			bool named = false;
			for (size_t k = 0; k < s->files.n && !named; k++)
				named = !strcmp(s->files.v[k].sums.hex[alg], names.v[i]);
			if (!named && state_retire(r->state, row->id,
					  arena_printf(a, "%s/%s", by_hash, names.v[i]),
					  row->generation, clock_now(), err) < 0)
				return -1;
		}
	}
	return 0;
}

static int reload(struct repo *r, const char *name, const struct ident *ident, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(suite_done) struct suite s = {0};
	struct suite_row row = {.generation = 1, .release = *ident};
	if (suite_load(&a, r->root, name, &s, err) < 0 ||
	    state_drop_suite(r->state, name, err) < 0 ||
	    state_put_suite(r->state, name, &row, err) < 0)
		return -1;
	for (size_t c = 0; c < s.components.n; c++) {
		for (size_t i = 0; i < s.archs.n; i++) {
			const char *component = s.components.v[c], *arch = s.archs.v[i];
			const char *dir =
			    arena_printf(&a, "dists/%s/%s/binary-%s", name, component, arch);
			if (read_index(r, &a, &s, &row, component, arch, err) < 0 ||
			    retire_unknown(r, &a, &s, &row, dir, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* Suites of the state that are gone from the disk. */
static int drop_missing(struct repo *r, const struct strv *present, struct err *err)
{
	_cleanup_(strv_done) struct strv known = STRV_INIT;
	if (state_suites(r->state, &known, err) < 0)
		return -1;
	for (size_t i = 0; i < known.n; i++)
		if (!strv_has(present, known.v[i]) &&
		    state_drop_suite(r->state, known.v[i], err) < 0)
			return -1;
	return 0;
}

static int check_suites(struct repo *r, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(strv_done) struct strv names = STRV_INIT, present = STRV_INIT;
	const char *dists = arena_printf(&a, "%s/dists", r->root);
	if (path_is_dir(dists) && path_list(dists, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		struct ident now;
		struct suite_row row;
		if (!release_ident(&a, r->root, names.v[i], &now))
			continue;
		strv_add(&present, names.v[i]);
		int found = state_find_suite(r->state, names.v[i], &row, err);
		if (found < 0)
			return -1;
		if (found == 1 && ident_same(&now, &row.release))
			continue;
		if (reload(r, names.v[i], &now, err) < 0)
			return err_wrap(err, "cannot read suite '%s'", names.v[i]);
	}
	return drop_missing(r, &present, err);
}

int repo_open(struct repo *r, const struct repo_spec *spec, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	const char *dir = arena_printf(&a, "%s/" PRIVATE, spec->root);
	const char *state = arena_printf(&a, "%s/state.db", dir);
	bool fresh;
	if (!spec->create && !repo_exists(spec->root))
		return err_set(err, ERR_USAGE, "'%s' holds no repository; debkit publish makes one",
		    spec->root);
	r->root = spec->root;
	r->trust_clock = spec->trust_clock;
	if (path_mkdirs(dir, err) < 0 ||
	    lock_take(arena_printf(&a, "%s/lock", dir), spec->wait, spec->waiting, &r->lock, err) <
		0 ||
	    txn_sweep(spec->root, err) < 0)
		return -1;
	if (spec->forget)
		state_forget(state);
	if (state_open(state, &r->state, &fresh, err) < 0)
		return -1;
	/* What was read anew is kept even if the command then fails. */
	if (state_begin(r->state, err) < 0 || check_suites(r, err) < 0 ||
	    state_commit(r->state, err) < 0)
		return -1;
	return state_begin(r->state, err);
}

void repo_close(struct repo *r)
{
	state_close(r->state);
	r->state = NULL;
	close_fd(&r->lock);
	r->lock = -1;
}

int repo_suite(struct repo *r, struct arena *a, const char *name, struct suite *s,
    struct suite_row *row, struct err *err)
{
	if (suite_check_name("suite", name, err) < 0)
		return -1;
	int found = state_find_suite(r->state, name, row, err);
	if (found == 0)
		return err_set(err, ERR_USAGE, "'%s' has no suite '%s'", r->root, name);
	return found < 0 ? -1 : suite_load(a, r->root, name, s, err);
}
