#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "inputs_triton.h"
#include "../data/lockfile.h"
#include "../plan/plan.h"
#include "../data/recipe.h"
#include "stage_int.h"

/* Text that stands before a package's own __init__.py; a file beside the recipe. */
static int put_hooked(
    const struct plan *p, const char *dir, const char *package, const char *wheel, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(STAGE_TEXT_MAX);
	_free_ char *hook = xasprintf("%s/%s_hook.py", p->recipe->dir, package);
	_free_ char *own = xasprintf("%s/%s/__init__.py", wheel, package);
	_free_ char *name = xasprintf(STAGE_IMPORT_ROOT "/%s/__init__.py", package);
	if (!path_exists(hook) || !path_exists(own))
		return 0;
	if (path_read(hook, &text, err) < 0 || path_read(own, &text, err) < 0)
		return -1;
	return stage_put_text(dir, name, text.data, text.len, err);
}

/* What pip and importlib.metadata read. Without RECORD pip leaves the files to dpkg. */
static int put_dist_info(const char *dir, const char *wheel, const char *info, struct err *err)
{
	static char *none[] = {NULL};
	_cleanup_(buf_done) struct buf text = BUF_INIT(STAGE_TEXT_MAX);
	_free_ char *from = xasprintf("%s/%s/METADATA", wheel, info);
	_free_ char *metadata = xasprintf(STAGE_IMPORT_ROOT "/%s/METADATA", info);
	_free_ char *installer = xasprintf(STAGE_IMPORT_ROOT "/%s/INSTALLER", info);
	_free_ char *top_from = xasprintf("%s/%s/top_level.txt", wheel, info);
	_free_ char *top = xasprintf(STAGE_IMPORT_ROOT "/%s/top_level.txt", info);
	if (stage_write_metadata(none, from, &text, err) < 0 ||
	    stage_put_text(dir, metadata, buf_str(&text), text.len, err) < 0 ||
	    stage_put_text(dir, installer, "debkit\n", strlen("debkit\n"), err) < 0)
		return -1;
	return path_exists(top_from) ? stage_put_file(dir, top, top_from, 0644, err) : 0;
}

/* One of upstream's wheels: the packages that the recipe names, and its dist-info. */
static int put_wheel(const struct plan *p, const char *dir, const char *wheel, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_list(wheel, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++)
		if (str_ends(names.v[i], ".dist-info") &&
		    put_dist_info(dir, wheel, names.v[i], err) < 0)
			return -1;
	for (char **name = p->recipe->python_packages; *name; name++) {
		_free_ char *from = path_join(wheel, *name);
		_free_ char *to = path_join(STAGE_IMPORT_ROOT, *name);
		if (!path_is_dir(from))
			continue;
		if (stage_put_tree(dir, to, from, ".py", err) < 0 ||
		    put_hooked(p, dir, *name, wheel, err) < 0)
			return -1;
	}
	return 0;
}

int stage_modules(
    const struct stage_context *c, const struct plan_package *pkg, const char *dir, struct err *err)
{
	static const char overlay[] = "debkit_triton";
	const struct plan *p = c->plan;
	for (const struct lock_entry **e = p->library; *e; e++) {
		_free_ char *wheel = inputs_wheel_dir(c->cache, *e);
		if (put_wheel(p, dir, wheel, err) < 0)
			return -1;
	}
	_free_ char *from = path_join(p->recipe->dir, overlay);
	_free_ char *to = path_join(STAGE_IMPORT_ROOT, overlay);
	return stage_put_tree(dir, to, from, ".py", err) < 0 ? -1 : stage_put_pth(p, dir, err);
}

int stage_kernels(
    const struct stage_context *c, const struct plan_package *pkg, const char *dir, struct err *err)
{
	const struct plan *p = c->plan;
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *base = path_join(dir, stage_kernels_dir(&a, p));
	if (path_mkdirs(base, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_tritons; i++) {
		const struct plan_triton *t = &p->tritons[i];
		_free_ char *store = path_join(c->work, t->out);
		_free_ char *manifest = xasprintf("%s/triton-%s/manifest", base, t->version);
		char *argv[] = {"tar", "-xpf", store, "-C", base, "--no-same-owner", NULL};
		static char *env[] = {"TAR_OPTIONS", NULL};
		if (proc_check(&(struct proc_spec){.argv = argv, .env = env}, err) < 0)
			return err_wrap(err, "cannot unpack '%s'", store);
		if (!path_exists(manifest))
			return err_set(
			    err, ERR_FORMAT, "'%s' holds no triton-%s/manifest", store, t->version);
	}
	return 0;
}

int stage_meta(
    const struct stage_context *c, const struct plan_package *pkg, const char *dir, struct err *err)
{
	return 0;
}

const char *stage_kernels_dir(struct arena *a, const struct plan *p)
{
	return arena_printf(
	    a, "usr/lib/%s/debkit/%s/%s", p->host->multiarch, p->recipe->name, p->flavour);
}
