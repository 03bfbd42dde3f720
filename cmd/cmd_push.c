#include "../repo/serve/push.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "cmd.h"
#include "repo_opts.h"

static bool remove_gone;
static const char *limit;

static const struct opt opts[] = {
    REPO_OPTS,
    {"delete", 0, OPT_FLAG, NULL, "at the end, remove there what the repository no longer has",
	&remove_gone},
    {"bwlimit", 0, OPT_STRING, "RATE", "rsync's limit, in KiB a second", &limit},
    {NULL},
};

static void say_step(const char *what)
{
	log_note("%s", what);
}

static int run(const struct strv *operands, struct err *err)
{
	if (repo_opts_check(false, err) < 0)
		return -1;
	struct repo_spec repo = repo_opts_spec(false);
	struct push_spec spec = {.root = repo.root,
	    .to = operands->v[0],
	    .remove = remove_gone,
	    .limit = limit,
	    .wait = repo.wait,
	    .waiting = repo.waiting,
	    .step = repo_opts.verbose ? say_step : NULL};
	if (push_run(&spec, err) < 0)
		return -1;
	log_note("'%s' is as '%s'", spec.to, spec.root);
	return 0;
}

const struct cmd cmd_push = {"push", "copies a repository to where it is served", "DEST",
    "Runs rsync to a folder, to [USER@]HOST:PATH over ssh, or to HOST::MODULE/PATH, in the order "
    "pool, by-hash, indexes, Release, InRelease: clients there see the old lists or the new ones, "
    "whatever stops it, and the same command goes on where it stopped. Publishers wait meanwhile. "
    "$RSYNC_RSH names another ssh.",
    opts, 1, 1, run};
