#include "python.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../lib/base/arena.h"
#include "../lib/base/err.h"
#include "../lib/base/path.h"
#include "../lib/base/strv.h"

static bool has_dir(const char *dir, const char *name)
{
	_free_ char *path = path_join(dir, name);
	return path_is_dir(path);
}

static int find_kind(const char *dir, enum python_kind *kind, struct err *err)
{
	_free_ char *cfg = path_join(dir, "pyvenv.cfg");
	_free_ char *program = path_join(dir, "bin/python3");
	if (!path_is_dir(dir))
		return err_set(err, ERR_USAGE, "there is no folder '%s'", dir);
	if (path_exists(cfg))
		*kind = PYTHON_VENV;
	else if (has_dir(dir, "conda-meta"))
		*kind = PYTHON_CONDA;
	else if (path_is_exec(program))
		*kind = PYTHON_PREFIX;
	else
		return err_set(err, ERR_USAGE,
		    "'%s' is no Python environment: it has neither pyvenv.cfg (venv, virtualenv, "
		    "uv) nor conda-meta nor bin/python3; give the folder that `python3 -m venv` "
		    "made",
		    dir);
	return 0;
}

/* The minor of python3.11 or python3.13t; -1 for any other name. */
static int minor_of(const char *name)
{
	static const char prefix[] = "python3.";
	if (!str_starts(name, prefix))
		return -1;
	const char *digits = name + strlen(prefix);
	size_t n = strspn(digits, "0123456789");
	if (n < 1 || n > 4 || (digits[n] && strcmp(digits + n, "t") != 0))
		return -1;
	return atoi(digits);
}

static int compare_sites(const void *a, const void *b)
{
	const struct python_site *x = a, *y = b;
	int d = atoi(x->version + 2) - atoi(y->version + 2);
	return d ? d : strcmp(x->version, y->version);
}

static bool is_link(const char *dir, const char *name)
{
	_free_ char *path = path_join(dir, name);
	struct stat st;
	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static struct python_site *find_same(struct python_env *env, const char *path)
{
	struct stat x, y;
	for (size_t i = 0; i < env->n_sites; i++)
		if (stat(path, &x) == 0 && stat(env->sites[i].path, &y) == 0 &&
		    x.st_dev == y.st_dev && x.st_ino == y.st_ino)
			return &env->sites[i];
	return NULL;
}

static int find_sites(struct arena *a, const char *lib, struct python_env *env, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_list(lib, &names, err) < 0)
		return -1;
	env->sites = arena_alloc(a, names.n * sizeof *env->sites);
	for (size_t i = 0; i < names.n; i++) {
		struct python_site site = {arena_strdup(a, names.v[i] + strcspn(names.v[i], "3")),
		    arena_printf(a, "%s/%s/site-packages", lib, names.v[i])};
		if (minor_of(names.v[i]) < 0 || !path_is_dir(site.path))
			continue;
		/* conda has python3.1 as a second name of python3.11: the real name counts. */
		struct python_site *same = find_same(env, site.path);
		if (!same)
			env->sites[env->n_sites++] = site;
		else if (!is_link(lib, names.v[i]))
			*same = site;
	}
	qsort(env->sites, env->n_sites, sizeof *env->sites, compare_sites);
	return 0;
}

int python_find(struct arena *a, const char *dir, struct python_env *out, struct err *err)
{
	/* lib64 is a link to lib, or holds what lib has already; alone it is rare, and counts. */
	static const char *const libs[] = {"lib", "lib64"};
	struct python_env env = {.dir = arena_strdup(a, dir)};
	if (find_kind(dir, &env.kind, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(libs) && !env.n_sites; i++) {
		_free_ char *lib = path_join(dir, libs[i]);
		if (path_is_dir(lib) && find_sites(a, lib, &env, err) < 0)
			return -1;
	}
	if (!env.n_sites && has_dir(dir, "lib/python3/dist-packages"))
		return err_set(err, ERR_USAGE,
		    "'%s' is the system's own Python, which the packages reach without this", dir);
	if (!env.n_sites)
		return err_set(err, ERR_FORMAT,
		    "'%s' is no whole Python environment: it has no lib/python3.*/site-packages; "
		    "make it again",
		    dir);
	*out = env;
	return 0;
}

const char *python_pth(struct arena *a, const struct python_site *site)
{
	return arena_printf(a, "%s/" PYTHON_PTH, site->path);
}
