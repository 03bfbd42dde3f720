/*
 * The engine: a plan's steps as a build.ninja, and a run of ninja over it. Ninja decides what
 * is out of date (each command line holds the key of its step), runs what it can at once, and
 * keeps the large steps in a pool sized from the machine's memory.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/strv.h"
#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct plan;

struct ninja_progress {
	/* steps done of total, a step at work (or the last one), seconds left (below 0: unknown) */
	void (*progress)(void *arg, size_t done, size_t total, const char *what, double left_s);
	void *arg;
};

/* How steps are started. */
struct ninja_launch {
	const char *words; /* put before each command ("srun -n1"), or NULL */
	/*
	 * Or all costly steps are jobs on a cluster: the file, relative to the work folder, from
	 * which `debkit step` learns how (slurm_job.h), and how many of them, and of the heavy
	 * ones, the cluster runs at once. All others run here.
	 */
	const char *jobs;
	unsigned slots, heavy_slots;
};

/*
 * The text of build.ninja. program runs steps (`PROGRAM step ...`), cache is the object cache;
 * Commands are the same here and on a cluster, so that a build may change between them. Words and
 * names may hold anything but a newline; names of files no '|' either.
 */
void ninja_write(const struct plan *p, const char *program, const char *cache,
    const struct ninja_launch *launch, struct buf *out);
/* What a run left undone. */
struct ninja_result {
	bool *undone; /* for each step of the plan: it failed, or one that it needs did */
	size_t n_undone;
	struct strv reasons; /* what each step that failed said, in the order of their ends */
	char *log; /* the file that holds the whole talk, or NULL: nothing was to be run */
};
#define NINJA_RESULT_INIT                                                                          \
	{                                                                                          \
		.undone = NULL, .n_undone = 0, .reasons = STRV_INIT, .log = NULL                   \
	}
/*
 * Runs ninja in the folder work; all steps that can be run are. The whole talk of all steps goes
 * to the file work/build.log. Each output is compared with what its step made, before and after.
 * Failing steps are no error here: res tells of them. ERR_TOOL if
 * ninja itself fails, ERR_INTERRUPT after a signal.
 */
int ninja_run(const struct plan *p, const struct ninja_launch *launch, const char *work,
    const struct ninja_progress *progress, struct ninja_result *res, struct err *err) _must_check_;
void ninja_result_done(struct ninja_result *res);
