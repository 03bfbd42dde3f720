#include "inputs_int.h"

#include <stdio.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/xalloc.h"
#include "../wheel/pyindex.h"
#include "../wheel/intact.h"
#include "../data/lockfile.h"

void fetch_done(struct fetch *f)
{
	indexes_done(&f->indexes);
}

void fetch_note(const struct fetch *f, const char *text)
{
	if (f->report && f->report->note)
		f->report->note(f->report->arg, text);
}

int fetch_is_there(const struct fetch *f, const char *dir, struct err *err)
{
	bool there, damaged;
	if (intact_check(dir, &there, &damaged, err) < 0)
		return -1;
	_free_ char *text = xasprintf("'%s' is not as it was fetched; fetching it again", dir);
	if (damaged)
		fetch_note(f, text);
	return there;
}

int fetch_settle(const char *tmp, const char *dir, struct err *err)
{
	if (path_sync(tmp, err) < 0)
		return -1;
	return rename(tmp, dir) < 0 ? err_sys(err, "cannot rename '%s' to '%s'", tmp, dir) : 0;
}

int fetch_members(struct fetch *f, const struct lock_entry *e, wheel_want_fn *want, void *arg,
    const char *what, const char *dir, struct err *err)
{
	int there = fetch_is_there(f, dir, err);
	if (there)
		return there < 0 ? -1 : 0;
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct index *x;
	struct index_file file;
	unsigned before, after;
	uint64_t bytes_before, bytes_after;
	if (!e->record_sha256)
		return err_set(err, ERR_TRUST, "'%s' has no Record-Sha256 in the lock", e->file);
	if (path_mkdirs_for(dir, err) < 0 || indexes_get(&f->indexes, e->index, &x, err) < 0 ||
	    index_find_pinned(x, &a, e->project, e->file, e->sha256, e->size, &file, err) < 0)
		return -1;
	index_cost(x, &before, &bytes_before);
	struct wheel_pin pin = {
	    .name = e->file, .url = file.url, .size = e->size, .record_sha256 = e->record_sha256};
	if (wheel_extract(x, &pin, want, arg, dir, NULL, err) < 0)
		return -1;
	index_cost(x, &after, &bytes_after);
	_free_ char *text = xasprintf("fetched %s%s: %llu bytes in %u requests", what, e->file,
	    (unsigned long long)(bytes_after - bytes_before), after - before);
	fetch_note(f, text);
	return 0;
}

int fetch_link(const char *work, const char *name, const char *target, struct err *err)
{
	_free_ char *path = path_join(work, name);
	char now[4096];
	ssize_t n = readlink(path, now, sizeof now - 1);
	if (n >= 0 && (size_t)n == strlen(target) && !strncmp(now, target, (size_t)n))
		return 0;
	if (path_mkdirs_for(path, err) < 0 || path_remove_tree(path, err) < 0)
		return -1;
	if (symlink(target, path) < 0)
		return err_sys(err, "cannot link '%s' to '%s'", path, target);
	return 0;
}
