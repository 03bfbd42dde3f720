/* debkit step: one step of a build graph, as ninja runs it. */
#include <string.h>

#include "../lib/base/arena.h"
#include "../lib/base/err.h"
#include "../lib/base/proc.h"
#include "../debbuild/make/slurm_job.h"
#include "../debbuild/make/step.h"
#include "cmd.h"

static const char *cache, *key, *name, *output;

static const struct opt opts[] = {{"cache", 0, OPT_STRING, "DIR", "the object cache", &cache},
    {"key", 0, OPT_STRING, "HEX", "names the result by all that goes into it", &key},
    {"name", 0, OPT_STRING, "TEXT", "what is made, for logs", &name},
    {"output", 0, OPT_STRING, "FILE", "the file that the command makes", &output},
    {NULL, 0, OPT_END, NULL, NULL, NULL}};

/* As a job of a cluster, if the build has one for it; from the cache it is taken here. */
static int run_as_job(const char *jobs, const struct strv *operands, bool *found, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(strv_done) struct strv argv = STRV_INIT;
	struct slurm_job job;
	if (slurm_job_load(&a, jobs, key, &job, found, err) < 0)
		return -1;
	if (!*found || step_take(cache, key, output))
		return 0;
	job.name = name;
	job.out = output;
	/* What debkit does itself depends on c++filt alone. */
	job.compiler = strcmp(operands->v[0], STEP_SELF) ? operands->v[0] : "c++filt";
	char program[4096];
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
	if (n < 0)
		return err_sys(err, "cannot tell where debkit itself lies");
	program[n] = '\0';
	const char *const words[] = {program, "step", "--cache", cache, "--key", key, "--name",
	    name, "--output", output, "--"};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		strv_add(&argv, words[i]);
	strv_add_all(&argv, operands);
	return slurm_job_run(&job, argv.v, cache, err);
}

static int run(const struct strv *operands, struct err *err)
{
	if (!cache || !key || !name || !output)
		return err_set(
		    err, ERR_USAGE, "debkit step needs --cache, --key, --name and --output");
	const char *jobs = getenv(STEP_JOBS_ENV);
	bool found = false;
	proc_end_with_parent();
	if (jobs && run_as_job(jobs, operands, &found, err) < 0)
		return -1;
	if (found)
		return 0;
	struct step_cost cost;
	return step_run(cache, key, name, output, operands->v, &cost, err);
}

const struct cmd cmd_step = {"step", "run one step of a build (used by ninja)",
    "-- COMMAND [ARG...]",
    "Runs a command that makes one file, unless the object cache holds the result of the same "
    "key already. `debkit build` writes these calls into its build.ninja.",
    opts, 1, SIZE_MAX, run};
