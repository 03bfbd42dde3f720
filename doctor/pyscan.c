#include "pyscan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/base/err.h"
#include "../lib/base/path.h"
#include "probe.h"
#include "python.h"

#define SITES_MAX 8
#define CFG_MAX	  ((size_t)64 << 10)
#define CHILD_MAX 400
#define ENVS_MAX  400

bool pyscan_pth_enables(const char *text)
{
	size_t want = strlen(PYTHON_IMPORT_ROOT);
	for (const char *s = text; *s;) {
		size_t n = strcspn(s, "\n"), k = n;
		while (k && (s[k - 1] == ' ' || s[k - 1] == '\r' || s[k - 1] == '\t'))
			k--;
		if (k == want && !strncmp(s, PYTHON_IMPORT_ROOT, want))
			return true;
		s += n + (s[n] == '\n');
	}
	return false;
}

static const char *find_pth(struct probe *p, const char *site)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (probe_list(p, site, &names) < 0)
		return NULL;
	for (size_t i = 0; i < names.n; i++) {
		if (!str_ends(names.v[i], ".pth") || names.v[i][0] == '.')
			continue;
		const char *name = arena_printf(p->a, "%s/%s", site, names.v[i]);
		const char *text = probe_text(p, name, CFG_MAX);
		if (text && pyscan_pth_enables(text))
			return name;
	}
	return NULL;
}

static void add_site(struct probe *p, struct pyenv *e, const char *site)
{
	const char **sites = (const char **)e->sites;
	if (e->n_sites < SITES_MAX && probe_is_dir(p, site))
		sites[e->n_sites++] = site;
}

/* What the system's Python (prefix /usr or /usr/local) has on its path, user's packages first. */
static void add_system_sites(struct probe *p, struct pyenv *e, const char *prefix)
{
	const char *v = e->version;
	if (*p->home)
		add_site(
		    p, e, arena_printf(p->a, "%s/.local/lib/python%s/site-packages", p->home, v));
	if (!strcmp(prefix, "/usr")) {
		add_site(p, e, arena_printf(p->a, "/usr/local/lib/python%s/dist-packages", v));
		add_site(p, e, "/usr/lib/python3/dist-packages");
	} else {
		add_site(p, e, arena_printf(p->a, "%s/lib/python%s/site-packages", prefix, v));
	}
}

static const char *make_tag(struct arena *a, const char *version)
{
	const char *dot = strchr(version, '.');
	return dot ? arena_printf(a, "cp%.*s%s", (int)(dot - version), version, dot + 1) : NULL;
}

static void describe(struct probe *p, struct pyenv *e)
{
	e->tag = make_tag(p->a, e->version);
	for (size_t i = 0; i < e->n_sites && !e->enabled_by; i++)
		e->enabled_by = find_pth(p, e->sites[i]);
	dists_read(p, e->sites, e->n_sites, &e->dists);
	torch_read(p, e->sites, e->n_sites, &e->dists, &e->torch);
}

static struct pyenv *new_env(struct probe *p, struct pyenvs *out, const char *dir)
{
	if (out->n == out->cap) {
		struct pyenv *old = out->v;
		out->cap = out->cap ? 2 * out->cap : 16;
		out->v = arena_alloc(p->a, out->cap * sizeof *out->v);
		if (out->n)
			memcpy(out->v, old, out->n * sizeof *out->v);
	}
	struct pyenv *e = &out->v[out->n++];
	*e = (struct pyenv){.dir = dir, .sites = arena_alloc(p->a, SITES_MAX * sizeof *e->sites)};
	return e;
}

static bool is_known(
    struct probe *p, const struct pyenvs *out, const char *dir, const char *version)
{
	struct stat x, y;
	for (size_t i = 0; i < out->n; i++)
		if (str_eq(out->v[i].version, version) && probe_stat(p, dir, &x) &&
		    probe_stat(p, out->v[i].dir, &y) && x.st_dev == y.st_dev &&
		    x.st_ino == y.st_ino)
			return true;
	return false;
}

static void find_exe(struct probe *p, struct pyenv *e)
{
	static const char *const names[] = {"python", "python3"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *name = arena_printf(p->a, "%s/bin/%s", e->dir, names[i]);
		char to[8];
		if (readlink(probe_path(p, name), to, sizeof to) < 0 && !probe_is_file(p, name))
			continue;
		e->exe = name;
		e->gone = !probe_is_file(p, name);
		return;
	}
}

/* pyvenv.cfg, PEP 405, and what uv and virtualenv add to it. */
static void read_cfg(struct probe *p, struct pyenv *e)
{
	const char *name = arena_printf(p->a, "%s/pyvenv.cfg", e->dir);
	const char *text = probe_text(p, name, CFG_MAX);
	if (!text) {
		e->broken = arena_printf(p->a, "'%s': %s", name, strerror(errno));
		return;
	}
	const char *see = probe_setting(p, text, "include-system-site-packages");
	e->home = probe_setting(p, text, "home");
	e->system_site = see && !strcasecmp(see, "true");
	if (probe_setting(p, text, "uv"))
		e->kind = "uv";
	else if (probe_setting(p, text, "virtualenv"))
		e->kind = "virtualenv";
}

static void fill(struct probe *p, struct pyenv *e, enum python_kind kind)
{
	e->kind = kind == PYTHON_CONDA ? "conda" : kind == PYTHON_PREFIX ? "prefix" : "venv";
	find_exe(p, e);
	if (kind == PYTHON_VENV)
		read_cfg(p, e);
	if (!e->broken && !e->exe)
		e->broken = arena_printf(p->a, "it has no bin/python");
	else if (!e->broken && e->gone)
		e->broken = arena_printf(p->a, "its interpreter '%s' leads nowhere", e->exe);
	if (e->system_site && e->home) {
		_free_ char *prefix = path_dir(e->home);
		add_system_sites(p, e, arena_strdup(p->a, prefix));
	}
	describe(p, e);
}

static int add_dir(struct probe *p, const char *dir, struct pyenvs *out, struct err *err)
{
	struct python_env found;
	size_t skip = strlen(p->root);
	if (python_find(p->a, probe_path(p, dir), &found, err) < 0)
		return -1;
	probe_note(p, arena_printf(p->a, "%s/lib", dir));
	for (size_t i = 0; i < found.n_sites; i++) {
		if (is_known(p, out, dir, found.sites[i].version))
			continue;
		struct pyenv *e = new_env(p, out, dir);
		e->version = found.sites[i].version;
		add_site(p, e, found.sites[i].path + skip);
		fill(p, e, found.kind);
	}
	return 0;
}

int pyscan_dir(struct probe *p, const char *dir, struct pyenvs *out, struct err *err)
{
	_free_ char *full = path_absolute(dir, err);
	return full ? add_dir(p, arena_strdup(p->a, full), out, err) : -1;
}

/* A folder that may be anything: only what is an environment by its marks is taken. */
static void try_dir(struct probe *p, const char *dir, struct pyenvs *out);

static void try_children(struct probe *p, const char *dir, bool deep, struct pyenvs *out)
{
	static const char *const inner[] = {".venv", "venv", "env"};
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (probe_list(p, dir, &names) < 0)
		return;
	for (size_t i = 0; i < names.n && i < CHILD_MAX && out->n < ENVS_MAX; i++) {
		const char *child =
		    arena_printf(p->a, "%s/%s", strcmp(dir, "/") != 0 ? dir : "", names.v[i]);
		try_dir(p, child, out);
		for (size_t k = 0; deep && k < ARRAY_SIZE(inner); k++)
			try_dir(p, arena_printf(p->a, "%s/%s", child, inner[k]), out);
	}
}

static void try_dir(struct probe *p, const char *dir, struct pyenvs *out)
{
	bool venv = probe_is_file(p, arena_printf(p->a, "%s/pyvenv.cfg", dir));
	bool conda = !venv && probe_is_dir(p, arena_printf(p->a, "%s/conda-meta", dir));
	if (!venv && !conda)
		return;
	struct err err = {0};
	if (add_dir(p, dir, out, &err) < 0 && venv && !is_known(p, out, dir, NULL))
		new_env(p, out, dir)->broken = arena_strdup(p->a, err.msg);
	if (conda)
		try_children(p, arena_printf(p->a, "%s/envs", dir), false, out);
}

/* Whole installations side by side: pyenv's, uv's. */
static void try_installations(struct probe *p, const char *dir, struct pyenvs *out)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (probe_list(p, dir, &names) < 0)
		return;
	for (size_t i = 0; i < names.n && i < CHILD_MAX; i++) {
		const char *child = arena_printf(p->a, "%s/%s", dir, names.v[i]);
		if (probe_is_file(p, arena_printf(p->a, "%s/bin/python3", child)))
			(void)!add_dir(p, child, out, NULL);
	}
}

static bool is_python3(const char *name, const char **version)
{
	static const char prefix[] = "python3.";
	if (!str_starts(name, prefix))
		return false;
	size_t n = strspn(name + strlen(prefix), "0123456789");
	const char *rest = name + strlen(prefix) + n;
	*version = name + strlen("python");
	return n && n < 4 && (!*rest || !strcmp(rest, "t"));
}

static struct pyenv *add_system(
    struct probe *p, const char *prefix, const char *version, struct pyenvs *out)
{
	struct pyenv *e = new_env(p, out, prefix);
	e->kind = "system";
	e->version = arena_strdup(p->a, version);
	e->exe = arena_printf(p->a, "%s/bin/python%s", prefix, version);
	add_system_sites(p, e, prefix);
	describe(p, e);
	return e;
}

static void find_system(struct probe *p, const char *prefix, struct pyenvs *out)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	const char *version;
	if (probe_list(p, arena_printf(p->a, "%s/bin", prefix), &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++)
		if (is_python3(names.v[i], &version) &&
		    probe_is_file(p, arena_printf(p->a, "%s/bin/%s", prefix, names.v[i])))
			add_system(p, prefix, version, out);
}

static void scan_home(struct probe *p, const char *home, struct pyenvs *out)
{
	static const char *const children[] = {".virtualenvs", "venvs", ".local/share/uv/tools",
	    ".local/pipx/venvs", ".local/share/pipx/venvs"};
	static const char *const installed[] = {".pyenv/versions", ".local/share/uv/python"};
	try_children(p, home, true, out);
	for (size_t i = 0; i < ARRAY_SIZE(children); i++)
		try_children(p, arena_printf(p->a, "%s/%s", home, children[i]), false, out);
	for (size_t i = 0; i < ARRAY_SIZE(installed); i++)
		try_installations(p, arena_printf(p->a, "%s/%s", home, installed[i]), out);
}

void pyscan_all(struct probe *p, struct pyenvs *out)
{
	static const char *const folders[] = {"/", "/opt", "/srv", "/app", "/workspace", "/home"};
	static const char *const named[] = {"VIRTUAL_ENV", "CONDA_PREFIX", "PWD"};
	static const char *const inside[] = {"", "/.venv", "/venv", "/env"};
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		const char *dir = getenv(named[i]);
		for (size_t k = 0; dir && *dir == '/' && k < ARRAY_SIZE(inside); k++)
			try_dir(p, arena_printf(p->a, "%s%s", dir, inside[k]), out);
	}
	find_system(p, "/usr", out);
	find_system(p, "/usr/local", out);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		try_children(p, folders[i], true, out);
	if (*p->home)
		scan_home(p, p->home, out);
}

static int add_prefix(struct probe *p, const char *real, struct pyenvs *out, struct err *err)
{
	_free_ char *bin = path_dir(real), *prefix = path_dir(bin);
	const char *version;
	if (!is_python3(path_base(real), &version) ||
	    (strcmp(prefix, "/usr") != 0 && strcmp(prefix, "/usr/local") != 0))
		return add_dir(p, arena_strdup(p->a, prefix), out, err);
	add_system(p, arena_strdup(p->a, prefix), version, out);
	return 0;
}

int pyscan_exe(struct probe *p, const char *exe, struct pyenvs *out, struct err *err)
{
	_free_ char *found = strchr(exe, '/') ? NULL : path_find_program(exe, NULL);
	_free_ char *full = path_absolute(found ? found : exe, err);
	if (!full)
		return -1;
	if (!path_is_exec(probe_path(p, full)))
		return err_set(err, ERR_USAGE,
		    "'%s' is no program that can be run: give the path of a Python", exe);
	_free_ char *bin = path_dir(full), *dir = path_dir(bin);
	if (probe_is_file(p, arena_printf(p->a, "%s/pyvenv.cfg", dir)))
		return add_dir(p, arena_strdup(p->a, dir), out, err);
	const char *real = probe_real(p, full);
	return add_prefix(p, real ? real : full, out, err);
}
