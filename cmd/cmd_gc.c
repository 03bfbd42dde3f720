#include <stdio.h>

#include "../repo/change/gc.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "cmd.h"
#include "repo_opts.h"
#include "repo_pages.h"

static bool yes;
static unsigned grace = 60;

static const struct opt opts[] = {
    REPO_OPTS,
    REPO_OPT_CLOCK,
    {"yes", 'y', OPT_FLAG, NULL, "remove them; without it nothing is removed", &yes},
    {"grace", 0, OPT_UINT, "MINUTES", "leave what is garbage for less than that (60)", &grace},
    {NULL},
};

static void report(const char *path, uint64_t size)
{
	printf("%llu\t%s\n", (unsigned long long)size, path);
}

static void report_snapshot(const char *name, unsigned days)
{
	log_note("snapshot %s is %u days old: its suite's retention is over%s", name, days,
	    yes ? "; it is removed" : "");
}

static int run(const struct strv *operands, struct err *err)
{
	struct gc_result res;
	if (repo_opts_check(false, err) < 0)
		return -1;
	struct gc_spec spec = {.repo = repo_opts_spec(false),
	    .remove = yes,
	    .grace_s = grace < 1000000 ? 60 * grace : 60000000,
	    .report = report,
	    .report_snapshot = report_snapshot};
	int rc = gc_run(&spec, &res, err);
	/* Snapshots may be gone though a file could not be removed. */
	if (yes)
		repo_pages_follow();
	if (rc < 0)
		return -1;
	log_note("%zu files, %llu bytes %s; %zu are too young", res.n,
	    (unsigned long long)res.bytes, yes ? "removed" : "would go (--yes removes them)",
	    res.kept);
	return 0;
}

const struct cmd cmd_gc = {"gc", "removes files that no suite needs", "",
    "Lists, and with --yes removes, packages in the pool that no suite and no snapshot lists, "
    "files there that no publish finished, and index files that no Release of the last three "
    "generations names. Snapshots that are older than DIR/retention says go first; what they alone "
    "listed goes the next time.",
    opts, 0, 0, run};
