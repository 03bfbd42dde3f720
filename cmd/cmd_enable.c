/* debkit enable, disable, status: one line in an environment's site-packages. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../lib/base/arena.h"
#include "../lib/base/buf.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "../lib/base/outfile.h"
#include "../lib/base/path.h"
#include "../doctor/machine.h"
#include "../doctor/probe.h"
#include "../doctor/python.h"
#include "cmd.h"
#include "doctor_print.h"

#define TABLE_MAX ((size_t)4 << 20)

static const char *venv;
static bool all;
static const struct opt opts[] = {
    {"venv", 0, OPT_STRING, "DIR", "folder of the environment", &venv},
    {"all", 0, OPT_FLAG, NULL, "every environment here that has torch", &all}, {NULL}};

static bool is_enabled(const char *pth, const char *line)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(4096);
	return path_read(pth, &text, NULL) == 0 && !strcmp(buf_str(&text), line);
}

static int enable_site(struct arena *a, const struct python_site *site, struct err *err)
{
	static const char line[] = PYTHON_IMPORT_ROOT "\n";
	const char *pth = python_pth(a, site);
	const char *how = is_enabled(pth, line) ? "already sees" : "now sees";
	if (outfile_put_if_changed(pth, 0644, line, strlen(line), err) < 0)
		return -1;
	log_note("Python %s %s " PYTHON_IMPORT_ROOT " through '%s'", site->version, how, pth);
	return 0;
}

static int disable_site(struct arena *a, const struct python_site *site, struct err *err)
{
	const char *pth = python_pth(a, site);
	if (unlink(pth) == 0)
		log_note("Python %s no longer sees " PYTHON_IMPORT_ROOT ": removed '%s'",
		    site->version, pth);
	else if (errno == ENOENT)
		log_note("Python %s was not enabled: there is no '%s'", site->version, pth);
	else
		return err_sys(err, "cannot remove '%s'", pth);
	return 0;
}

/* A venv that sees its base's packages sees ours through the line that they brought there. */
static bool sees_by_base(const struct pyenv *e)
{
	return e && e->system_site && e->enabled_by && !str_starts(e->enabled_by, e->dir);
}

static void warn_of_no_binding(const char *dir, const struct python_site *site,
    const struct bindings *b, const struct pyenv *e)
{
	for (size_t i = 0; i < b->n; i++)
		if (!e || !e->tag || !strcmp(b->v[i].python, e->tag))
			return;
	if (b->n)
		log_warn("the installed packages have no binding for Python %s: `debkit doctor "
			 "--venv %s` says what to do",
		    site->version, dir);
}

static const struct pyenv *find_version(const struct pyenvs *envs, const char *version)
{
	for (size_t i = 0; i < envs->n; i++)
		if (str_eq(envs->v[i].version, version))
			return &envs->v[i];
	return NULL;
}

static int enable_dir(struct probe *p, const char *dir, struct err *err)
{
	struct python_env env;
	struct pyenvs envs = {0};
	struct bindings b;
	if (python_find(p->a, dir, &env, err) < 0 || pyscan_dir(p, dir, &envs, err) < 0)
		return -1;
	bindings_read(p, &b);
	for (size_t i = 0; i < env.n_sites; i++) {
		const struct pyenv *e = find_version(&envs, env.sites[i].version);
		if (sees_by_base(e))
			log_note("Python %s already sees " PYTHON_IMPORT_ROOT " through '%s' of "
				 "its base",
			    env.sites[i].version, e->enabled_by);
		else if (enable_site(p->a, &env.sites[i], err) < 0)
			return -1;
		warn_of_no_binding(dir, &env.sites[i], &b, e);
	}
	return 0;
}

static int disable_dir(struct probe *p, const char *dir, struct err *err)
{
	struct python_env env;
	if (python_find(p->a, dir, &env, err) < 0)
		return -1;
	for (size_t i = 0; i < env.n_sites; i++)
		if (disable_site(p->a, &env.sites[i], err) < 0)
			return -1;
	return 0;
}

/* Once for each folder that counts; all are tried, the first error is the answer. */
static int each_env(struct probe *p, bool enabled,
    int (*fn)(struct probe *p, const char *dir, struct err *err), struct err *err)
{
	struct pyenvs envs = {0};
	struct err first = {0};
	size_t n = 0;
	pyscan_all(p, &envs);
	for (size_t i = 0; i < envs.n; i++) {
		const struct pyenv *e = &envs.v[i];
		bool done = i && !strcmp(e->dir, envs.v[i - 1].dir);
		if (done || !e->kind || !strcmp(e->kind, "system") || e->broken ||
		    (enabled ? !e->enabled_by : !e->torch.version))
			continue;
		n++;
		struct err why = {0};
		if (fn(p, e->dir, &why) < 0 && !first.code)
			first = why;
	}
	if (!n)
		log_note("no environment here %s", enabled ? "was enabled" : "has torch");
	return first.code ? err_set(err, first.code, "%s", first.msg) : 0;
}

static int run_both(const char *verb, bool enabled,
    int (*fn)(struct probe *p, const char *dir, struct err *err), struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(probe_done) struct probe p;
	probe_init(&p, &a, "");
	if (venv && all)
		return err_set(err, ERR_USAGE, "--venv and --all exclude each other");
	if (all)
		return each_env(&p, enabled, fn, err);
	if (!venv)
		return err_set(err, ERR_USAGE,
		    "which environment? give its folder: debkit %s --venv DIR", verb);
	_free_ char *dir = path_absolute(venv, err);
	return dir ? fn(&p, dir, err) : -1;
}

static int run_enable(const struct strv *operands, struct err *err)
{
	return run_both("enable", false, enable_dir, err);
}

static int run_disable(const struct strv *operands, struct err *err)
{
	return run_both("disable", true, disable_dir, err);
}

static int run_status(const struct strv *operands, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(probe_done) struct probe p;
	_cleanup_(buf_done) struct buf out = BUF_INIT(TABLE_MAX);
	struct machine m = {.p = &p};
	probe_init(&p, &a, "");
	if (venv && pyscan_dir(&p, venv, &m.envs, err) < 0)
		return -1;
	if (!venv)
		pyscan_all(&p, &m.envs);
	bindings_read(&p, &m.bindings);
	doctor_print_table(&m, &out);
	fwrite(buf_str(&out), 1, out.len, stdout);
	return buf_check(&out, "the table", err);
}

const struct cmd cmd_enable = {"enable", "lets a virtual environment see the packages", "",
    "Writes one line into debkit.pth in the environment's site-packages, which puts "
    "/usr/lib/debkit/python on the path of its Python. venv, virtualenv, uv and conda "
    "environments are understood, in another root too; one that sees its base's packages "
    "(include-system-site-packages) is left alone where that is enough. Done twice it changes "
    "nothing; debkit disable undoes it. The system's own Python needs no such line.",
    opts, 0, 0, run_enable};

const struct cmd cmd_disable = {"disable", "takes the packages from a virtual environment", "",
    "Removes debkit.pth, which debkit enable wrote, from the environment's site-packages; with "
    "--all from every environment that has it.",
    opts, 0, 0, run_disable};

static const struct opt status_opts[] = {
    {"venv", 0, OPT_STRING, "DIR", "only the environment in this folder", &venv}, {NULL}};

const struct cmd cmd_status = {"status", "shows which Pythons see the packages", "",
    "Prints one row for each Python of this machine: its torch, whether it sees the packages "
    "(on), and the binding that its torch would get.",
    status_opts, 0, 0, run_status};
