#include "../repo/bundle/bundle.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "../lib/base/path.h"
#include "../lib/base/xalloc.h"
#include "cmd.h"
#include "repo_opts.h"

#include <stdio.h>

static const char *want, *out;
static struct strv recipes = STRV_INIT;

static const struct opt opts[] = {
    REPO_OPTS,
    REPO_OPT_SUITE,
    {"for", 0, OPT_STRING, "SYSTEM,TORCH,PYTHON,GPU",
	"the machine, such as ubuntu24.04,torch2.10,py3.12,sm_120 (required)", &want},
    {"recipe", 0, OPT_LIST, "NAME[,NAME...]",
	"only causal-conv1d or flash-linear-attention; default: all that fit the machine",
	&recipes},
    {"out", 'o', OPT_STRING, "FILE.tar", "what to write; default: debkit-bundle.tar", &out},
    {NULL},
};

static int run(const struct strv *operands, struct err *err)
{
	_cleanup_(bundle_result_done) struct bundle_result res = {0};
	if (repo_opts_check(true, err) < 0)
		return -1;
	if (!want)
		return err_set(err, ERR_USAGE,
		    "for which machine? give --for ubuntu24.04,torch2.10,py3.12,sm_120");
	_free_ char *templates = path_templates_dir(err);
	if (!templates)
		return -1;
	struct bundle_spec spec = {.repo = repo_opts_spec(false),
	    .suite = repo_opts.suite,
	    .want = want,
	    .templates = templates,
	    .recipes = &recipes,
	    .out = out ? out : "debkit-bundle.tar"};
	if (bundle_run(&spec, &res, err) < 0)
		return -1;
	for (size_t i = 0; i < res.warnings.n; i++)
		log_warn("%s", res.warnings.v[i]);
	log_note(
	    "'%s' holds %zu packages; unpack it on the machine and run install.sh there as root",
	    spec.out, res.packages.n);
	puts(spec.out);
	return 0;
}

const struct cmd cmd_bundle = {"bundle", "pack what a machine without network needs", "",
    "Writes one tar with the packages of a suite that fit the machine, all that they need of the "
    "repository (the provider of the CUDA runtime too), the suite's signed indexes, the key, "
    "checksums and a script of ten lines that installs them by apt. No key is needed. What the "
    "distribution itself has, such as libc6 and python3, must be on the machine.",
    opts, 0, 0, run};
