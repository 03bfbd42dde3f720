#include <stdio.h>

#include "../repo/change/snapshot.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "cmd.h"
#include "repo_opts.h"
#include "repo_pages.h"

static const struct opt opts[] = {
    REPO_OPTS,
    REPO_OPT_CLOCK,
    REPO_OPT_SUITE,
    REPO_OPT_KEYS,
    {NULL},
};

static int run(const struct strv *operands, struct err *err)
{
	_free_ char *name = NULL;
	if (repo_opts_check(true, err) < 0)
		return -1;
	struct snapshot_spec spec = {.repo = repo_opts_spec(false),
	    .suite = repo_opts.suite,
	    .name = operands->n ? operands->v[0] : NULL,
	    .sign_keys = &repo_opts.keys};
	if (snapshot_make(&spec, &name, err) < 0)
		return -1;
	puts(name);
	log_note("suite %s is kept as suite %s", repo_opts.suite, name);
	repo_pages_follow();
	return 0;
}

const struct cmd cmd_snapshot = {"snapshot", "keeps a suite as it is, under another name", "[NAME]",
    "Makes a suite NAME (SUITE-YYYYMMDD unless given) that lists what the suite lists now and "
    "never changes: clients name it in Suites. It costs hard links and a signature. Remove its "
    "folder below DIR/dists to give it up.",
    opts, 0, 1, run};
