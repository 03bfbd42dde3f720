#include <stdio.h>

#include "../repo/change/list.h"
#include "../lib/base/clock.h"
#include "../lib/base/err.h"
#include "cmd.h"
#include "repo_opts.h"

static const char *component;
static bool suites;

static const struct opt opts[] = {
    REPO_OPTS,
    REPO_OPT_SUITE,
    {"component", 0, OPT_STRING, "NAME", "only this component", &component},
    {"suites", 0, OPT_FLAG, NULL, "list suites and snapshots instead of packages", &suites},
    {NULL},
};

static void print_package(void *arg, const struct list_line *l)
{
	printf("%s\t%s\t%s\t%s\t%s\t%s\n", l->suite, l->component, l->name, l->version, l->arch,
	    l->path);
}

static void print_suite(void *arg, const struct suite *s, size_t packages)
{
	char date[CLOCK_RFC_MAX], until[CLOCK_RFC_MAX] = "-";
	_free_ char *components = strv_join(&s->components, " ");
	_free_ char *archs = strv_join(&s->archs, " ");
	_free_ char *keys = strv_join(&s->keys, " ");
	clock_format_release(s->date, date);
	if (s->valid_days)
		clock_format_release(s->date + (time_t)s->valid_days * 86400, until);
	printf("Suite: %s\nComponents: %s\nArchitectures: %s\nPackages: %zu\nDate: %s\n"
	       "Valid-Until: %s\nSigned-By: %s\n",
	    s->name, components, archs, packages, date, until, *keys ? keys : "-");
	if (s->snapshot_of)
		printf("Snapshot-Of: %s\n", s->snapshot_of);
	putchar('\n');
}

static int run(const struct strv *operands, struct err *err)
{
	if (repo_opts_check(false, err) < 0)
		return -1;
	struct list_spec spec = {.repo = repo_opts_spec(false),
	    .suite = repo_opts.suite,
	    .component = component,
	    .packages = operands};
	if (suites)
		return list_suites(&spec.repo, print_suite, NULL, err);
	return list_packages(&spec, print_package, NULL, err);
}

const struct cmd cmd_list = {"list", "says what a repository lists", "[NAME[:ARCH][=VERSION]...]",
    "One line for each package: suite, component, name, version, architecture and file, "
    "separated by tabs. NAME may have wildcards.",
    opts, 0, SIZE_MAX, run};
