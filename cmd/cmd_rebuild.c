/* debkit rebuild: is a package what its .buildinfo says it was made from? */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/base/arena.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "../lib/base/path.h"
#include "../lib/base/strv.h"
#include "../lib/base/xalloc.h"
#include "../debbuild/make/rebuild.h"
#include "build_events.h"
#include "cells_opts.h"
#include "cmd.h"

static const char *deb, *keyring, *work;
static bool unsigned_ok, cached, record, quiet;
static const struct opt opts[] = {
    {"deb", 0, OPT_STRING, "FILE", "the package; default: beside the .buildinfo", &deb},
    {"keyring", 0, OPT_STRING, "FILE",
	"keys that may have signed the .buildinfo; default: the one that it names, in GNUPGHOME",
	&keyring},
    {"unsigned-ok", 0, OPT_FLAG, NULL, "take a .buildinfo without a signature", &unsigned_ok},
    {"cached", 0, OPT_FLAG, NULL,
	"take compiled objects from the cache: checks all but the compilers", &cached},
    {"work", 0, OPT_STRING, "DIR", "build there and leave it; default: a temporary folder", &work},
    {"record", 0, OPT_FLAG, NULL, "note in templates/states what was the same; not with --cached",
	&record},
    {"quiet", 'q', OPT_FLAG, NULL, "no progress and no notes", &quiet}, {NULL}};

static void remove_work(char **dir)
{
	struct err err = {0};
	if (*dir && path_remove_tree(*dir, &err) < 0)
		log_warn("%s", err.msg);
	free(*dir);
}

static int make_temporary(char **dir, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	*dir = xasprintf("%s/debkit-rebuild.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (mkdtemp(*dir))
		return 0;
	err_sys(err, "cannot create '%s'", *dir);
	free(*dir);
	*dir = NULL;
	return -1;
}

/* Every cell that the rebuilt package serves. */
static int note_cells(struct arena *a, const struct rebuild_result *res, struct err *err)
{
	_free_ char *dir = path_dir(res->made);
	struct cells_opts o = {.recipe = res->recipe, .cuda = res->cuda, .out = dir};
	struct cells_source s;
	if (cells_opts_load(a, &o, &s, err) < 0)
		return -1;
	for (size_t i = 0; i < s.built.n; i++) {
		const struct built_package *p = &s.built.v[i];
		for (size_t k = 0; k < p->n && !strcmp(p->path, res->made); k++)
			if (states_record(s.states_path,
				&(struct state_fact){.state = "rebuilt",
				    .recipe = s.recipe.name,
				    .version = s.recipe.deb_version,
				    .torch = p->v[k].torch,
				    .cuda = p->cuda,
				    .python = p->v[k].python},
				err) < 0)
				return -1;
	}
	return 0;
}

/* One after another in the same folder: what one build makes serves the next. */
static int rebuild(const char *buildinfo, const char *dir, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct rebuild_result res;
	struct rebuild_spec spec = {.buildinfo = buildinfo,
	    .deb = deb,
	    .keyring = keyring,
	    .unsigned_ok = unsigned_ok,
	    .cached = cached,
	    .work = dir,
	    .events = &build_events};
	if (rebuild_run(&a, &spec, &res, err) < 0)
		return -1;
	log_progress_end();
	if (!res.same)
		return err_set(err, ERR_FORMAT, "%s %s is not the same when it is made again: %s",
		    res.package, res.version, res.why);
	printf("%s %s %s: the same, byte for byte%s\n", res.package, res.version, res.arch,
	    cached ? " (objects from the cache)" : "");
	return record ? note_cells(&a, &res, err) : 0;
}

static int run(const struct strv *operands, struct err *err)
{
	_cleanup_(remove_work) char *temporary = NULL;
	log_set_quiet(quiet);
	if (record && cached)
		return err_set(
		    err, ERR_USAGE, "--record needs a whole rebuild: leave --cached out");
	if (deb && operands->n > 1)
		return err_set(err, ERR_USAGE, "--deb goes with one .buildinfo");
	if (!work && make_temporary(&temporary, err) < 0)
		return -1;
	for (size_t i = 0; i < operands->n; i++)
		if (rebuild(operands->v[i], work ? work : temporary, err) < 0)
			return -1;
	return 0;
}

const struct cmd cmd_rebuild = {"rebuild", "make a package again and compare it",
    "FILE.buildinfo...",
    "Builds what each FILE.buildinfo describes: the same recipe, CUDA, torches, Pythons, GPU "
    "archs, "
    "compiler and date, from the inputs that templates/lock pins. Compares the new package with "
    "the old one, byte for byte but for the signature. Exits with 1 and the first difference if "
    "they are not the same. Everything is compiled again, in a folder of its own, unless --cached "
    "is given. The signature of the .buildinfo is checked first. No secret key is needed, only "
    "the public one: the keyring package holds it.",
    opts, 1, SIZE_MAX, run};
