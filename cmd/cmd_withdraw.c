#include "../repo/change/withdraw.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "cmd.h"
#include "repo_opts.h"
#include "repo_pages.h"

#include <stdio.h>

static const char *reason;

static const struct opt opts[] = {
    REPO_OPTS,
    REPO_OPT_CLOCK,
    {"reason", 0, OPT_STRING, "TEXT", "why, in one line that users will read (required)", &reason},
    {NULL},
};

static void report(const char *suite, const char *name, const char *version, const char *arch)
{
	printf("%s\t%s\t%s\t%s\n", suite, name, version, arch);
}

static int run(const struct strv *operands, struct err *err)
{
	struct withdraw_result res;
	if (repo_opts_check(false, err) < 0)
		return -1;
	struct withdraw_spec spec = {.repo = repo_opts_spec(false),
	    .package = operands->v[0],
	    .version = operands->v[1],
	    .reason = reason,
	    .report = report};
	int rc = withdraw_run(&spec, &res, err);
	/* Some suites may be changed where another could not be signed. */
	repo_pages_follow();
	if (rc < 0)
		return -1;
	if (res.known && !res.packages)
		log_note("nothing to do: %s %s is withdrawn already", spec.package, spec.version);
	else
		log_note("%s %s is withdrawn: snapshots keep it, '%s/" WITHDRAWN_FILE "' says why",
		    spec.package, spec.version, repo_opts.root);
	return 0;
}

const struct cmd cmd_withdraw = {"withdraw", "take a version back, with the reason",
    "PACKAGE VERSION",
    "No suite but the snapshots lists that version of the package any more, on any architecture, "
    "and it cannot be published or copied again. The file DIR/withdrawn, which the keys of the "
    "repository sign, tells people and programs why.",
    opts, 2, 2, run};
