#include <stdio.h>

#include "../repo/change/edit.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "cmd.h"
#include "repo_opts.h"
#include "repo_pages.h"

static const char *from, *to, *component;
static bool dry_run;

static const struct opt opts[] = {
    REPO_OPTS,
    REPO_OPT_CLOCK,
    REPO_OPT_KEYS,
    {"from", 0, OPT_STRING, "SUITE", "suite that lists the packages", &from},
    {"to", 0, OPT_STRING, "SUITE", "suite that shall list them, too", &to},
    {"component", 0, OPT_STRING, "NAME", "only from this component", &component},
    {"dry-run", 'n', OPT_FLAG, NULL, "only say what would come", &dry_run},
    {NULL},
};

static void report(const char *in, const char *name, const char *version, const char *arch)
{
	printf("%s\t%s\t%s\t%s\n", in, name, version, arch);
}

static int run(const struct strv *operands, struct err *err)
{
	struct edit_result res;
	if (repo_opts_check(false, err) < 0)
		return -1;
	if (!from || !to)
		return err_set(err, ERR_USAGE, "give --from SUITE and --to SUITE");
	struct edit_spec spec = {.repo = repo_opts_spec(false),
	    .suite = to,
	    .sign_keys = &repo_opts.keys,
	    .component = component,
	    .packages = operands,
	    .from = from,
	    .dry_run = dry_run,
	    .valid_days = -1,
	    .report = report};
	if (edit_copy(&spec, &res, err) < 0)
		return -1;
	log_note("%zu packages %s suite %s (%zu were there)", res.changed,
	    dry_run ? "would come to" : "copied to", to, res.present);
	if (!dry_run)
		repo_pages_follow();
	repo_say_waits();
	return 0;
}

const struct cmd cmd_copy = {"copy", "lists packages of one suite in another",
    "[NAME[:ARCH][=VERSION]...]",
    "From testing to stable, say: the packages that are named, or all, are listed in the other "
    "suite as well. No file of the pool is touched. The other suite is made if it does not "
    "exist, with the keys of the first.",
    opts, 0, SIZE_MAX, run};
