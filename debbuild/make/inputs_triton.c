#include "inputs_triton.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/digest.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "inputs_int.h"
#include "../data/lockfile.h"
#include "../plan/plan.h"
#include "pyheaders.h"
#include "../data/recipe.h"

/* What of torch no compilation of kernels without a GPU needs: most of its bytes. */
static const char *const unused_dirs[] = {"torch/include/", "torch/test/", "torch/share/"};
static const char *const unused_files[] = {"torch/lib/libtorch_cuda.so",
    "torch/lib/libtorch_cuda_linalg.so", "torch/lib/libc10_cuda.so",
    "torch/lib/libtorch_nvshmem.so", "torch/lib/libcaffe2_nvrtc.so"};

static bool want_of_torch(void *arg, const char *member)
{
	for (size_t i = 0; i < ARRAY_SIZE(unused_dirs); i++)
		if (str_starts(member, unused_dirs[i]))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(unused_files); i++)
		if (!strcmp(member, unused_files[i]))
			return false;
	return !str_ends(member, ".a");
}

static bool want_all(void *arg, const char *member)
{
	return true;
}

static bool want_none(void *arg, const char *member)
{
	return false;
}

static char *stem_dir(const char *cache, const char *kind, const struct lock_entry *e)
{
	return xasprintf("%s/%s/%.*s-%.8s", cache, kind, (int)(strlen(e->file) - strlen(".whl")),
	    e->file, e->sha256);
}

char *inputs_wheel_dir(const char *cache, const struct lock_entry *e)
{
	return stem_dir(cache, "wheel", e);
}

/* RECORD of a wheel that was unpacked without anything else. */
static char *record_path(const char *cache, const struct lock_entry *e)
{
	_free_ char *dir = stem_dir(cache, "record", e);
	const char *version = strchr(e->file, '-') + 1;
	size_t name = (size_t)(version - e->file) + strcspn(version, "-");
	return xasprintf("%s/%.*s.dist-info/RECORD", dir, (int)name, e->file);
}

/* One digest over all wheels of the environment: it names the folder. */
static char *site_dir(const char *cache, const struct plan_triton *t)
{
	struct digest *d = digest_new(DIGEST_SHA256);
	for (const struct lock_entry **e = t->site; *e; e++)
		digest_update(d, (*e)->sha256, strlen((*e)->sha256));
	char hex[DIGEST_HEX_MAX];
	digest_finish_hex(d, hex);
	return xasprintf("%s/site/triton-%s-%.16s", cache, t->version, hex);
}

static int fetch_wheel(struct fetch *f, const struct lock_entry *e, struct err *err)
{
	_free_ char *dir = inputs_wheel_dir(f->cache, e);
	bool torch = !strcmp(e->project, "torch");
	if (intr_check(err) < 0)
		return -1;
	return fetch_members(
	    f, e, torch ? want_of_torch : want_all, NULL, torch ? "parts of " : "", dir, err);
}

static int fetch_records(struct fetch *f, const struct plan_triton *t, struct err *err)
{
	for (size_t i = 0; i < t->n_pythons; i++) {
		_free_ char *dir = stem_dir(f->cache, "record", t->records[i]);
		bool fetched;
		if (intr_check(err) < 0 ||
		    fetch_members(f, t->records[i], want_none, NULL, "RECORD of ", dir, err) < 0 ||
		    pyheaders_fetch(t->pythons[i], &fetched, err) < 0)
			return -1;
		_free_ char *text = xasprintf("fetched the headers of Python %s: %s, %llu bytes",
		    t->pythons[i]->version, t->pythons[i]->package,
		    (unsigned long long)t->pythons[i]->package_size);
		if (fetched)
			fetch_note(f, text);
	}
	return 0;
}

/* The build programs add files of their own to an environment, so its own files alone count. */
static bool has_files(const char *site, const char *wheel, const struct strv *names)
{
	for (size_t i = 0; i < names->n; i++) {
		_free_ char *a = path_join(site, names->v[i]);
		_free_ char *b = path_join(wheel, names->v[i]);
		struct stat x, y;
		if (lstat(a, &x) < 0 || lstat(b, &y) < 0 || x.st_size != y.st_size)
			return false;
	}
	return true;
}

static int link_files(
    const char *site, const char *wheel, const struct strv *names, struct err *err)
{
	for (size_t i = 0; i < names->n; i++) {
		_free_ char *from = path_join(wheel, names->v[i]);
		_free_ char *to = path_join(site, names->v[i]);
		struct stat st;
		if (path_mkdirs_for(to, err) < 0)
			return -1;
		if (link(from, to) == 0 || errno == EEXIST)
			continue;
		if (stat(from, &st) < 0 || path_copy(from, to, st.st_mode & 0777, err) < 0)
			return err_wrap(err, "cannot put '%s' into an environment", from);
	}
	return 0;
}

static int make_site(struct fetch *f, const struct plan_triton *t, struct err *err)
{
	_free_ char *site = site_dir(f->cache, t);
	_free_ char *tmp = xasprintf("%s.tmp", site);
	bool whole = path_is_dir(site);
	if (path_remove_tree(tmp, err) < 0)
		return -1;
	for (const struct lock_entry **e = t->site; *e; e++) {
		_free_ char *dir = inputs_wheel_dir(f->cache, *e);
		_cleanup_(strv_done) struct strv names = STRV_INIT;
		if (path_walk(dir, &names, err) < 0)
			return -1;
		whole = whole && has_files(site, dir, &names);
	}
	if (whole)
		return 0;
	for (const struct lock_entry **e = t->site; *e; e++) {
		_free_ char *dir = inputs_wheel_dir(f->cache, *e);
		_cleanup_(strv_done) struct strv names = STRV_INIT;
		if (path_walk(dir, &names, err) < 0 || link_files(tmp, dir, &names, err) < 0)
			return -1;
	}
	return path_remove_tree(site, err) < 0 ? -1 : fetch_settle(tmp, site, err);
}

int fetch_triton(struct fetch *f, struct err *err)
{
	const struct plan *p = f->plan;
	for (const struct lock_entry **e = p->library; *e; e++)
		if (fetch_wheel(f, *e, err) < 0)
			return -1;
	for (size_t i = 0; i < p->n_tritons; i++) {
		const struct plan_triton *t = &p->tritons[i];
		for (const struct lock_entry **e = t->site; *e; e++)
			if (fetch_wheel(f, *e, err) < 0)
				return -1;
		if (fetch_records(f, t, err) < 0 || make_site(f, t, err) < 0)
			return -1;
	}
	return 0;
}

/* Triton's own cache, which any build may use; a read-only one cannot take anything. */
static int link_kept(
    const struct plan_triton *t, const char *cache, const char *work, struct err *err)
{
	_free_ char *name = xasprintf("kept/%s", t->version);
	_free_ char *shared = xasprintf("%s/kept/triton-%s", cache, t->version);
	_free_ char *own = path_join(work, name);
	if (path_mkdirs(shared, NULL) == 0 && access(shared, W_OK) == 0)
		return fetch_link(work, name, shared, err);
	return path_mkdirs(own, err);
}

static int link_one(
    const struct plan_triton *t, const char *cache, const char *work, struct err *err)
{
	_free_ char *name = xasprintf("site/%s", t->version);
	_free_ char *site = site_dir(cache, t);
	if (fetch_link(work, name, site, err) < 0 || link_kept(t, cache, work, err) < 0)
		return -1;
	for (size_t i = 0; i < t->n_pythons; i++) {
		const struct host_python *py = t->pythons[i];
		_free_ char *record = xasprintf("record/%s/%s", t->version, py->version);
		_free_ char *from = record_path(cache, t->records[i]);
		_free_ char *headers = xasprintf("py/%s", py->version);
		if (fetch_link(work, record, from, err) < 0 ||
		    fetch_link(work, headers, py->include, err) < 0)
			return -1;
	}
	return 0;
}

int link_triton(const struct plan *p, const char *cache, const char *work, struct err *err)
{
	if (path_mkdirs(work, err) < 0 || fetch_link(work, "support", p->recipe->dir, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_tritons; i++)
		if (link_one(&p->tritons[i], cache, work, err) < 0)
			return -1;
	return 0;
}
