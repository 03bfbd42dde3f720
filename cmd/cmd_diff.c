#include <stdio.h>

#include "../repo/change/list.h"
#include "../lib/base/err.h"
#include "cmd.h"
#include "repo_opts.h"

static const struct opt opts[] = {REPO_OPTS, {NULL}};

static void print(void *arg, char sign, const struct list_line *l)
{
	printf("%c\t%s\t%s\t%s\t%s\n", sign, l->component, l->name, l->version, l->arch);
}

static int run(const struct strv *operands, struct err *err)
{
	if (repo_opts_check(false, err) < 0)
		return -1;
	struct repo_spec spec = repo_opts_spec(false);
	return list_diff(&spec, operands->v[0], operands->v[1], print, NULL, err);
}

const struct cmd cmd_diff = {"diff", "compares two suites or snapshots", "SUITE SUITE",
    "One line for each package that only one of them lists: - for the first, + for the second, "
    "then component, name, version and architecture.",
    opts, 2, 2, run};
