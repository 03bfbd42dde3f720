#include "snapshot.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/txn.h"
#include "../../lib/base/xalloc.h"
#include "dating.h"
#include "../index/phase.h"
#include "site.h"
#include "../state/state_index.h"

struct work {
	struct arena arena;
	struct repo repo;
	struct suite suite; /* the source; becomes the snapshot */
	struct suite_row row;
	struct txn *txn;
};

static void work_done(struct work *w)
{
	suite_done(&w->suite);
	txn_free(w->txn);
	repo_close(&w->repo);
	arena_done(&w->arena);
}

static char *dated(struct arena *a, const char *suite)
{
	time_t now = clock_now();
	struct tm tm;
	gmtime_r(&now, &tm);
	return arena_printf(
	    a, "%s-%04d%02d%02d", suite, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

/* One file of the source's Release, under its name and its names by hash. */
static int link_file(
    struct work *w, const char *name, const struct release_file *f, struct err *err)
{
	struct arena *a = &w->arena;
	int dir = (int)(path_base(f->name) - f->name);
	const char *source = arena_printf(a, "dists/%s/%.*sby-hash/SHA256/%s", w->suite.name, dir,
	    f->name, f->sums.hex[SUM_SHA256]);
	if (!path_exists(arena_printf(a, "%s/%s", w->repo.root, source))) {
		if (!strchr(path_base(f->name), '.'))
			return 0; /* a large plain index stands in Release alone */
		return err_set(err, ERR_FORMAT,
		    "'%s/%s' is missing: publish into '%s' once more, then make the snapshot",
		    w->repo.root, source, w->suite.name);
	}
	for (int alg = 0; alg < SUM_ALGS; alg++) {
		if (!*f->sums.hex[alg])
			continue;
		const char *by_hash = arena_printf(a, "dists/%s/%.*sby-hash/%s/%s", name, dir,
		    f->name, sum_names[alg], f->sums.hex[alg]);
		if (txn_link(w->txn, PHASE_BY_HASH, by_hash, source, err) < 0)
			return -1;
	}
	return txn_link(
	    w->txn, PHASE_INDEX, arena_printf(a, "dists/%s/%s", name, f->name), source, err);
}

static int check_free(struct work *w, const char *name, struct err *err)
{
	if (suite_check_name("snapshot", name, err) < 0)
		return -1;
	if (path_exists(arena_printf(&w->arena, "%s/dists/%s", w->repo.root, name)))
		return err_set(err, ERR_CONFLICT,
		    "'%s/dists/%s' exists: give the snapshot another name", w->repo.root, name);
	return 0;
}

static const char *id_of(const char *name, const char *suite)
{
	size_t n = strlen(suite);
	return str_starts(name, suite) && name[n] == '-' && name[n + 1] ? name + n + 1 : name;
}

static int link_one(const char *target, const char *path, struct err *err)
{
	if (path_mkdirs_for(path, err) < 0)
		return -1;
	if (symlink(target, path) < 0 && errno != EEXIST)
		return err_sys(err, "cannot make the link '%s'", path);
	return 0;
}

/* snapshots/ID/ is a repository of its own for apt's option Snapshot: the suite under its own
 * name, and the same pool. */
static int link_aside(struct work *w, const char *name, struct err *err)
{
	struct arena *a = &w->arena;
	const char *suite = w->suite.name;
	const char *dir = arena_printf(a, "%s/snapshots/%s", w->repo.root, id_of(name, suite));
	if (link_one("../../pool", arena_printf(a, "%s/pool", dir), err) < 0)
		return -1;
	return link_one(arena_printf(a, "../../../dists/%s", name),
	    arena_printf(a, "%s/dists/%s", dir, suite), err);
}

char *snapshot_url(struct arena *a, const char *url)
{
	int n = (int)strlen(url);
	while (n && url[n - 1] == '/')
		n--;
	return arena_printf(a, "%.*s/snapshots/@SNAPSHOTID@/", n, url);
}

int snapshot_remove(const char *root, const char *name, const char *suite, struct err *err)
{
	_free_ char *dists = xasprintf("%s/dists/%s", root, name);
	_free_ char *dir = xasprintf("%s/snapshots/%s", root, id_of(name, suite));
	_free_ char *alias = xasprintf("%s/dists/%s", dir, suite);
	_free_ char *up = path_dir(alias);
	_free_ char *pool = xasprintf("%s/pool", dir);
	if (unlink(alias) < 0 && errno != ENOENT && errno != ENOTDIR)
		return err_sys(err, "cannot remove '%s'", alias);
	/* Other suites may have a snapshot of that day. */
	if (rmdir(up) == 0 && unlink(pool) == 0)
		rmdir(dir);
	return path_remove_tree(dists, err);
}

static int make(struct work *w, const char *name, const struct strv *keys, struct err *err)
{
	struct suite *s = &w->suite;
	struct suite_row row = {.generation = 1};
	bool keys_changed = false;
	for (size_t i = 0; i < s->files.n; i++)
		if (link_file(w, name, &s->files.v[i], err) < 0)
			return -1;
	if (keys->n && site_set_keys(&s->keys, keys, &keys_changed, err) < 0)
		return -1;
	if (link_aside(w, name, err) < 0)
		return -1;
	s->snapshot_of = s->name;
	s->name = name;
	s->valid_days = 0;
	s->date = dating_next(&w->repo, s);
	if (release_stage(&w->arena, w->txn, s, &s->files, &row.release, err) < 0 ||
	    state_put_suite(w->repo.state, name, &row, err) < 0 ||
	    state_copy_suite(w->repo.state, w->row.id, row.id, err) < 0 ||
	    txn_commit(w->txn, err) < 0)
		return -1;
	if (state_commit(w->repo.state, NULL) < 0) /* it is read anew next time */
		state_rollback(w->repo.state);
	return 0;
}

int snapshot_make(const struct snapshot_spec *spec, char **out, struct err *err)
{
	_cleanup_(work_done) struct work w = {.arena = ARENA_INIT, .repo = REPO_INIT};
	if (repo_open(&w.repo, &spec->repo, err) < 0 ||
	    repo_suite(&w.repo, &w.arena, spec->suite, &w.suite, &w.row, err) < 0 ||
	    dating_check(&w.repo, &w.suite, err) < 0)
		return -1;
	const char *name = spec->name ? spec->name : dated(&w.arena, spec->suite);
	if (check_free(&w, name, err) < 0)
		return -1;
	w.txn = txn_new(w.repo.root);
	if (make(&w, name, spec->sign_keys, err) < 0)
		return -1;
	*out = xstrdup(name);
	return 0;
}
