#include <stdio.h>

#include "../repo/change/edit.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "cmd.h"
#include "repo_opts.h"
#include "repo_pages.h"

static const char *component;
static bool dry_run;

static const struct opt opts[] = {
    REPO_OPTS,
    REPO_OPT_CLOCK,
    REPO_OPT_SUITE,
    REPO_OPT_KEYS,
    {"component", 0, OPT_STRING, "NAME", "only from this component", &component},
    {"dry-run", 'n', OPT_FLAG, NULL, "only say what would go", &dry_run},
    {NULL},
};

static void report(const char *in, const char *name, const char *version, const char *arch)
{
	printf("%s\t%s\t%s\t%s\n", in, name, version, arch);
}

static int run(const struct strv *operands, struct err *err)
{
	struct edit_result res;
	if (repo_opts_check(true, err) < 0)
		return -1;
	struct edit_spec spec = {.repo = repo_opts_spec(false),
	    .suite = repo_opts.suite,
	    .sign_keys = &repo_opts.keys,
	    .component = component,
	    .packages = operands,
	    .dry_run = dry_run,
	    .valid_days = -1,
	    .report = report};
	if (edit_remove(&spec, &res, err) < 0)
		return -1;
	log_note("%zu packages %s suite %s; their files stay in the pool until debkit gc",
	    res.changed, dry_run ? "would leave" : "have left", repo_opts.suite);
	if (!dry_run)
		repo_pages_follow();
	repo_say_waits();
	return 0;
}

const struct cmd cmd_remove = {"remove", "takes packages out of a suite",
    "NAME[:ARCH][=VERSION]...",
    "The packages are no longer listed in the suite; NAME may have wildcards. Their files stay in "
    "the pool, where other suites and snapshots may list them, until debkit gc.",
    opts, 1, SIZE_MAX, run};
