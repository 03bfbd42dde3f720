#include "inputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/digest.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../wheel/pyindex.h"
#include "inputs_int.h"
#include "inputs_triton.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "../plan/plan.h"
#include "pyheaders.h"
#include "../data/recipe.h"
#include "../wheel/sdk.h"
#include "../wheel/wheel.h"

char *inputs_source_dir(const struct plan *p, const char *cache)
{
	return xasprintf("%s/src/%s-%.16s", cache, p->recipe->project, p->sdist->sha256);
}

static char *sdk_dir(const char *cache, const struct lock_entry *wheel)
{
	return xasprintf("%s/sdk/%s", cache, wheel->file);
}

static char *part_dir(const char *cache, const struct lock_entry *e, char *const *members)
{
	struct digest *d = digest_new(DIGEST_SHA256);
	for (; *members; members++)
		digest_update(d, *members, strlen(*members) + 1);
	char hex[DIGEST_HEX_MAX];
	digest_finish_hex(d, hex);
	return xasprintf(
	    "%s/part/%.*s-%.8s", cache, (int)(strlen(e->file) - strlen(".whl")), e->file, hex);
}

static char *runtime_members[] = {"lib", NULL};

char *inputs_runtime_dir(const struct plan *p, const char *cache)
{
	return part_dir(cache, p->runtime, runtime_members);
}

/* One digest for all that is put together from wheels: it names the folder. */
static char *toolkit_dir(const struct plan *p, const char *cache)
{
	struct digest *d = digest_new(DIGEST_SHA256);
	for (size_t i = 0; i < p->toolkit->n_parts; i++) {
		if (!p->parts[i])
			continue;
		digest_update(d, p->parts[i]->sha256, strlen(p->parts[i]->sha256));
		for (char **m = p->part_members[i]; *m; m++)
			digest_update(d, *m, strlen(*m) + 1);
	}
	char hex[DIGEST_HEX_MAX];
	digest_finish_hex(d, hex);
	return xasprintf("%s/toolkit/cuda-%s-%.16s", cache, p->cuda, hex);
}

static void on_bytes(void *arg, uint64_t done, uint64_t total)
{
	struct fetch *f = arg;
	if (f->report && f->report->progress)
		f->report->progress(f->report->arg, f->plan->sdist->file, done, total);
}

/* What the recipe names must have come out of the archive. */
static int check_source(const struct plan *p, const char *dir, const char *archive, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	strv_add(&names, "PKG-INFO");
	strv_add(&names, p->recipe->host_source);
	for (char **s = p->recipe->device_sources; *s; s++)
		strv_add(&names, *s);
	for (char **s = p->recipe->python_packages; *s; s++)
		strv_add(&names, *s);
	for (size_t i = 0; i < names.n; i++) {
		_free_ char *path = path_join(dir, names.v[i]);
		if (!path_exists(path))
			return err_set(err, ERR_FORMAT,
			    "tar unpacked no '%s' from '%s': look at the recipe, and which tar is "
			    "in PATH",
			    names.v[i], archive);
	}
	return 0;
}

static int unpack_source(
    const struct plan *p, const char *archive, const char *dir, struct err *err)
{
	_free_ char *tmp = xasprintf("%s.tmp", dir);
	if (path_remove_tree(tmp, err) < 0 || path_mkdirs(tmp, err) < 0)
		return -1;
	char *argv[] = {"tar", "-xf", (char *)archive, "-C", tmp, "--strip-components=1",
	    "--no-same-owner", NULL};
	static char *env[] = {"TAR_OPTIONS", NULL};
	if (proc_check(&(struct proc_spec){.argv = argv, .env = env}, err) < 0)
		return err_wrap(err, "cannot unpack '%s'", archive);
	return check_source(p, tmp, archive, err) < 0 ? -1 : fetch_settle(tmp, dir, err);
}

static int fetch_sdist(struct fetch *f, struct err *err)
{
	const struct lock_entry *e = f->plan->sdist;
	_free_ char *dir = inputs_source_dir(f->plan, f->cache);
	int there = fetch_is_there(f, dir, err);
	if (there)
		return there < 0 ? -1 : 0;
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct index *x;
	struct index_file file;
	_free_ char *path = xasprintf("%s/file/%s", f->cache, e->file);
	if (indexes_get(&f->indexes, e->index, &x, err) < 0 || path_mkdirs_for(path, err) < 0 ||
	    index_find_pinned(x, &a, e->project, e->file, e->sha256, e->size, &file, err) < 0 ||
	    index_fetch(x, file.url, e->sha256, e->size, path, on_bytes, f, err) < 0)
		return -1;
	if (unpack_source(f->plan, path, dir, err) < 0)
		return -1;
	_free_ char *text =
	    xasprintf("fetched %s, %llu bytes", e->file, (unsigned long long)e->size);
	fetch_note(f, text);
	return 0;
}

static int fetch_sdk(struct fetch *f, size_t i, struct err *err)
{
	const struct lock_entry *e = f->plan->wheels[i];
	_free_ char *dir = sdk_dir(f->cache, e);
	struct index *x;
	struct sdk_cost cost = {0};
	if (!e->record_sha256)
		return err_set(err, ERR_TRUST, "'%s' has no Record-Sha256 in the lock", e->file);
	if (fetch_is_there(f, dir, err) < 0 || path_mkdirs_for(dir, err) < 0 ||
	    indexes_get(&f->indexes, e->index, &x, err) < 0 ||
	    sdk_fetch(x, e->file, e->sha256, e->record_sha256, f->plan->cuda, dir, &cost, err) < 0)
		return -1;
	if (!cost.bytes)
		return 0;
	_free_ char *text =
	    xasprintf("fetched the headers of torch %s: %llu bytes in %u requests, of a "
		      "wheel of %llu",
		f->plan->torches[i]->version, (unsigned long long)cost.bytes, cost.requests,
		(unsigned long long)cost.wheel_bytes);
	fetch_note(f, text);
	return 0;
}

/* "nvidia/cuda_nvcc/bin/ptxas" to "bin/ptxas"; NULL for what lies elsewhere. */
static const char *below_component(const char *member)
{
	if (!str_starts(member, "nvidia/"))
		return NULL;
	const char *slash = strchr(member + strlen("nvidia/"), '/');
	return slash ? slash + 1 : NULL;
}

static bool is_below(const char *name, const char *wanted)
{
	size_t n = strlen(wanted);
	return !strncmp(name, wanted, n) && (name[n] == '\0' || name[n] == '/');
}

static bool want_member(void *arg, const char *member)
{
	char *const *wanted = arg;
	const char *name = below_component(member);
	if (strstr(member, ".dist-info/") && strcasestr(path_base(member), "license"))
		return true;
	for (; name && *wanted; wanted++)
		if (is_below(name, *wanted))
			return true;
	return false;
}

static int fetch_part(struct fetch *f, const struct lock_entry *e, char **members, struct err *err)
{
	_free_ char *dir = part_dir(f->cache, e, members);
	return fetch_members(f, e, want_member, members, "parts of ", dir, err);
}

/* Links the files of a part into the toolkit, as clang and nvcc expect them: lib is lib64. */
static int merge_part(const char *part, const char *toolkit, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_walk(part, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		const char *name = below_component(names.v[i]);
		if (!name)
			continue;
		_free_ char *from = path_join(part, names.v[i]);
		_free_ char *to = is_below(name, "lib") ? xasprintf("%s/lib64%s", toolkit, name + 3)
							: path_join(toolkit, name);
		if (path_mkdirs_for(to, err) < 0)
			return -1;
		if (link(from, to) < 0 && errno != EEXIST && path_copy(from, to, 0644, err) < 0)
			return -1;
		if ((is_below(name, "bin") || is_below(name, "nvvm/bin")) && chmod(to, 0755) < 0)
			return err_sys(err, "cannot make '%s' executable", to);
	}
	return 0;
}

static int fetch_toolkit(struct fetch *f, struct err *err)
{
	const struct plan *p = f->plan;
	if (fetch_part(f, p->runtime, runtime_members, err) < 0)
		return -1;
	if (!p->n_steps)
		return 0;
	_free_ char *dir = toolkit_dir(p, f->cache);
	int there = fetch_is_there(f, dir, err);
	if (there)
		return there < 0 ? -1 : 0;
	_free_ char *tmp = xasprintf("%s.tmp", dir);
	if (path_remove_tree(tmp, err) < 0)
		return -1;
	for (size_t i = 0; i < p->toolkit->n_parts; i++) {
		char **members = p->part_members[i];
		if (!p->parts[i])
			continue;
		_free_ char *part = part_dir(f->cache, p->parts[i], members);
		if (intr_check(err) < 0 || fetch_part(f, p->parts[i], members, err) < 0 ||
		    merge_part(part, tmp, err) < 0)
			return -1;
	}
	return fetch_settle(tmp, dir, err);
}

static int fetch_pythons(struct fetch *f, struct err *err)
{
	for (size_t i = 0; i < f->plan->n_bindings; i++) {
		const struct host_python *py = f->plan->bindings[i].python;
		bool fetched;
		if (intr_check(err) < 0 || pyheaders_fetch(py, &fetched, err) < 0)
			return -1;
		if (!fetched)
			continue;
		_free_ char *text = xasprintf("fetched the headers of Python %s: %s, %llu bytes",
		    py->version, py->package, (unsigned long long)py->package_size);
		fetch_note(f, text);
	}
	return 0;
}

static int fetch_extension(struct fetch *f, struct err *err)
{
	if (fetch_pythons(f, err) < 0 || fetch_sdist(f, err) < 0 || fetch_toolkit(f, err) < 0)
		return -1;
	for (size_t i = 0; i < f->plan->n_torches; i++)
		if (intr_check(err) < 0 || fetch_sdk(f, i, err) < 0)
			return -1;
	return 0;
}

int inputs_fetch(
    const struct plan *p, const char *cache, const struct inputs_report *report, struct err *err)
{
	_cleanup_(fetch_done) struct fetch f = {.plan = p, .cache = cache, .report = report};
	return p->recipe->kind == RECIPE_TRITON ? fetch_triton(&f, err) : fetch_extension(&f, err);
}

int inputs_link(const struct plan *p, const char *cache, const char *work, struct err *err)
{
	if (p->recipe->kind == RECIPE_TRITON)
		return link_triton(p, cache, work, err);
	_free_ char *src = inputs_source_dir(p, cache);
	_free_ char *own = toolkit_dir(p, cache);
	const char *compiler = p->host->toolkit_root ? p->host->toolkit_root : own;
	if (path_mkdirs(work, err) < 0 || fetch_link(work, "src", src, err) < 0)
		return -1;
	if (!p->n_steps)
		return 0;
	_free_ char *device = sdk_dir(cache, p->wheels[0]);
	if (fetch_link(work, "tk", compiler, err) < 0 || fetch_link(work, "cuda", own, err) < 0 ||
	    fetch_link(work, "support", p->recipe->dir, err) < 0 ||
	    fetch_link(work, "sdk/device", device, err) < 0)
		return -1;
	_free_ char *nvrtc = recipe_nvrtc_dir(p->recipe);
	if (p->host->route == ROUTE_NVRTC && fetch_link(work, "nvrtc", nvrtc, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_torches; i++) {
		_free_ char *name = xasprintf("sdk/%s", p->torches[i]->version);
		_free_ char *sdk = sdk_dir(cache, p->wheels[i]);
		if (fetch_link(work, name, sdk, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < p->n_bindings; i++) {
		_free_ char *name = xasprintf("py/%s", p->bindings[i].python->version);
		if (fetch_link(work, name, p->bindings[i].python->include, err) < 0)
			return -1;
	}
	return 0;
}
