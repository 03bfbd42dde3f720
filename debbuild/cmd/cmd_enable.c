/* debkit enable, debkit disable: one line in an environment's site-packages. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include "../base/log.h"
#include "../base/outfile.h"
#include "../base/path.h"
#include "../probe/python.h"
#include "cmd.h"

static const char *venv;
static const struct opt opts[] = {
    {"venv", 0, OPT_STRING, "DIR", "folder of the environment", &venv}, {NULL}};

static int find(struct arena *a, const char *verb, struct python_env *env, struct err *err)
{
	if (!venv)
		return err_set(err, ERR_USAGE,
		    "which environment? give its folder: debkit %s --venv DIR", verb);
	_free_ char *dir = path_absolute(venv, err);
	return dir ? python_find(a, dir, env, err) : -1;
}

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

static int run_enable(const struct strv *operands, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct python_env env;
	if (find(&a, "enable", &env, err) < 0)
		return -1;
	for (size_t i = 0; i < env.n_sites; i++)
		if (enable_site(&a, &env.sites[i], err) < 0)
			return -1;
	return 0;
}

static int run_disable(const struct strv *operands, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct python_env env;
	if (find(&a, "disable", &env, err) < 0)
		return -1;
	for (size_t i = 0; i < env.n_sites; i++)
		if (disable_site(&a, &env.sites[i], err) < 0)
			return -1;
	return 0;
}

const struct cmd cmd_enable = {"enable", "lets a virtual environment see the packages", "",
    "Writes one line into debkit.pth in the environment's site-packages, which puts "
    "/usr/lib/debkit/python on the path of its Python. venv, virtualenv, uv and conda "
    "environments are understood, in another root too. Done twice it changes nothing; debkit "
    "disable undoes it. The system's own Python needs no such line.",
    opts, 0, 0, run_enable};

const struct cmd cmd_disable = {"disable", "takes the packages from a virtual environment", "",
    "Removes debkit.pth, which debkit enable wrote, from the environment's site-packages.", opts, 0,
    0, run_disable};
