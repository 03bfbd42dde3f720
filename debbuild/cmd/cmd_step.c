/* debkit step: one step of a build graph, as ninja runs it. */
#include "../base/err.h"
#include "../base/proc.h"
#include "../build/step.h"
#include "cmd.h"

static const char *cache, *key, *name, *output;

static const struct opt opts[] = {{"cache", 0, OPT_STRING, "DIR", "the object cache", &cache},
    {"key", 0, OPT_STRING, "HEX", "names the result by all that goes into it", &key},
    {"name", 0, OPT_STRING, "TEXT", "what is made, for logs", &name},
    {"output", 0, OPT_STRING, "FILE", "the file that the command makes", &output},
    {NULL, 0, OPT_END, NULL, NULL, NULL}};

static int run(const struct strv *operands, struct err *err)
{
	if (!cache || !key || !name || !output)
		return err_set(
		    err, ERR_USAGE, "debkit step needs --cache, --key, --name and --output");
	proc_end_with_parent();
	struct step_cost cost;
	return step_run(cache, key, name, output, operands->v, &cost, err);
}

const struct cmd cmd_step = {"step", "run one step of a build (used by ninja)",
    "-- COMMAND [ARG...]",
    "Runs a command that makes one file, unless the object cache holds the result of the same "
    "key already. `debkit build` writes these calls into its build.ninja.",
    opts, 1, SIZE_MAX, run};
