#include "gc.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/txn.h"
#include "../../lib/base/xalloc.h"
#include "dating.h"
#include "pool_papers.h"
#include "retention.h"
#include "snapshot.h"

struct work {
	const struct gc_spec *spec;
	struct gc_result *result;
	struct repo repo;
	struct arena arena;
	time_t young;				/* what changed later stays */
	struct strv needed, condemned, garbage; /* paths below the root */
	int64_t *rows;				/* of condemned packages */
	size_t n_rows, cap_rows;
};

static void work_done(struct work *w)
{
	repo_close(&w->repo);
	strv_done(&w->needed);
	strv_done(&w->condemned);
	strv_done(&w->garbage);
	free(w->rows);
	arena_done(&w->arena);
}

static int take_deb(void *arg, const struct deb_row *d, bool listed, struct err *err)
{
	struct work *w = arg;
	if (listed || d->unlisted > w->young) {
		strv_add(&w->needed, d->path);
		papers_names(d->path, &w->needed);
		w->result->kept += !listed;
		return 0;
	}
	if (w->n_rows == w->cap_rows) {
		w->cap_rows = w->cap_rows ? 2 * w->cap_rows : 64;
		w->rows = xreallocarray(w->rows, w->cap_rows, sizeof *w->rows);
	}
	w->rows[w->n_rows++] = d->id;
	strv_add(&w->condemned, d->path);
	papers_names(d->path, &w->condemned);
	return 0;
}

/* By-hash names that a Release of the last generations needs. */
static int take_by_hash(struct work *w, const char *suite, struct err *err)
{
	_cleanup_(suite_done) struct suite s = {0};
	struct suite_row row;
	if (repo_suite(&w->repo, &w->arena, suite, &s, &row, err) < 0 ||
	    state_retired(w->repo.state, row.id, &w->needed, err) < 0)
		return -1;
	for (size_t i = 0; i < s.files.n; i++) {
		const struct release_file *f = &s.files.v[i];
		for (int alg = 0; alg < SUM_ALGS; alg++)
			if (*f->sums.hex[alg])
				strv_addf(&w->needed, "dists/%s/%.*sby-hash/%s/%s", suite,
				    (int)(path_base(f->name) - f->name), f->name, sum_names[alg],
				    f->sums.hex[alg]);
	}
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has(const struct strv *sorted, const char *path)
{
	return sorted->n &&
	       bsearch(&path, sorted->v, sorted->n, sizeof *sorted->v, by_text) != NULL;
}

static bool is_pool_file(const char *path)
{
	return strstr(path, ".deb") != NULL || papers_is(path);
}

static bool is_by_hash(const char *path)
{
	return strstr(path, "/by-hash/") != NULL;
}

/* Files below dir of that kind: those that nothing needs are garbage. */
static int sweep(
    struct work *w, const char *dir, bool (*is_kind)(const char *path), struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	_free_ char *top = path_join(w->repo.root, dir);
	if (path_is_dir(top) && path_walk(top, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		_free_ char *path = path_join(dir, names.v[i]);
		_free_ char *file = path_join(w->repo.root, path);
		struct stat st;
		if (!is_kind(path) || has(&w->needed, path) || lstat(file, &st) < 0)
			continue;
		if (!has(&w->condemned, path) && st.st_ctim.tv_sec > w->young) {
			w->result->kept++;
			continue;
		}
		strv_add(&w->garbage, path);
		w->result->n++;
		w->result->bytes += (uint64_t)st.st_size;
		if (w->spec->report)
			w->spec->report(path, (uint64_t)st.st_size);
	}
	return 0;
}

/* Folders that have become empty go too, up to the pool itself. */
static void remove_empty_parents(const char *file, const char *stop)
{
	_free_ char *dir = path_dir(file);
	while (strlen(dir) > strlen(stop) && rmdir(dir) == 0) {
		char *up = path_dir(dir);
		free(dir);
		dir = up;
	}
}

/* The state forgets first: a file that it does not know is garbage again next time. */
static int remove_garbage(struct work *w, struct err *err)
{
	_free_ char *pool = path_join(w->repo.root, "pool");
	for (size_t i = 0; i < w->n_rows; i++)
		if (state_drop_deb(w->repo.state, w->rows[i], err) < 0)
			return -1;
	if (state_commit(w->repo.state, err) < 0)
		return -1;
	for (size_t i = 0; i < w->garbage.n; i++) {
		_free_ char *file = path_join(w->repo.root, w->garbage.v[i]);
		if ((txn_fault("unlink") < 0 || unlink(file) < 0) && errno != ENOENT)
			return err_sys(err, "cannot remove '%s'", file);
		remove_empty_parents(file, pool);
	}
	return 0;
}

/* Snapshots that are older than their suite says; the next opening sees that they are gone. */
static int expire_snapshots(struct work *w, const struct strv *names, struct err *err)
{
	const struct gc_spec *spec = w->spec;
	for (size_t i = 0; i < names->n; i++) {
		_cleanup_(suite_done) struct suite s = {0};
		struct retention keep;
		if (suite_load(&w->arena, spec->repo.root, names->v[i], &s, err) < 0)
			return -1;
		if (!s.snapshot_of)
			continue;
		time_t days = (clock_now() - s.date) / 86400;
		if (retention_load(spec->repo.root, s.snapshot_of, &keep, err) < 0)
			return -1;
		if (!keep.snapshot_days || days <= (time_t)keep.snapshot_days)
			continue;
		w->result->snapshots++;
		if (spec->report_snapshot)
			spec->report_snapshot(names->v[i], (unsigned)days);
		if (spec->remove &&
		    snapshot_remove(spec->repo.root, names->v[i], s.snapshot_of, err) < 0)
			return -1;
	}
	return 0;
}

/* A clock that is wrong would make what is young look old. */
static int check_clock(struct work *w, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (state_suites(w->repo.state, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_(suite_done) struct suite s = {0};
		if (suite_load(&w->arena, w->repo.root, names.v[i], &s, err) < 0 ||
		    (!s.snapshot_of && dating_check(&w->repo, &s, err) < 0))
			return -1;
	}
	return 0;
}

int gc_run(const struct gc_spec *spec, struct gc_result *res, struct err *err)
{
	*res = (struct gc_result){0};
	_cleanup_(work_done) struct work w = {.spec = spec,
	    .result = res,
	    .repo = REPO_INIT,
	    .arena = ARENA_INIT,
	    .young = clock_now() - (time_t)spec->grace_s};
	_cleanup_(strv_done) struct strv suites = STRV_INIT;
	if (repo_open(&w.repo, &spec->repo, err) < 0 || check_clock(&w, err) < 0 ||
	    state_each_deb(w.repo.state, take_deb, &w, err) < 0 ||
	    state_suites(w.repo.state, &suites, err) < 0 || expire_snapshots(&w, &suites, err) < 0)
		return -1;
	for (size_t i = 0; i < suites.n; i++)
		if (take_by_hash(&w, suites.v[i], err) < 0)
			return -1;
	strv_sort(&w.needed);
	strv_sort(&w.condemned);
	if (sweep(&w, "pool", is_pool_file, err) < 0 || sweep(&w, "dists", is_by_hash, err) < 0)
		return -1;
	return spec->remove ? remove_garbage(&w, err) : 0;
}
