/*
 * One step of a build as a Slurm job, run by srun(1): it starts as soon as there is room and tells
 * of its end at once, where sbatch --wait asks every few seconds. What the step says comes back as
 * if it ran here.
 *
 * A job whose node fails, that is preempted or of which Slurm loses sight is run again; so is one
 * that hits its limit of time or memory, with twice as much; three times in all. A job that is
 * cancelled by hand is not. While the controller does not answer, this waits, up to five minutes.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>

struct arena;
struct err;

struct slurm_job {
	const char *token; /* comment of all jobs of this build, and text of SLURM_TOKEN */
	const char *partition;
	const char *key;      /* of the step */
	const char *out;      /* the file that is made: also the job's name */
	const char *name;     /* of the step, for messages */
	const char *compiler; /* what it runs; one in PATH must be the same on the node */
	unsigned memory_mb;   /* 0: none is asked for */
	unsigned minutes;
	unsigned most_minutes, most_memory_mb; /* what there is; 0: unknown */
};

#define SLURM_TRIES 3

/* Reads what the file of jobs says of the step with this key; *found: it is one of them. */
int slurm_job_load(struct arena *a, const char *file, const char *key, struct slurm_job *out,
    bool *found, struct err *err) _must_check_;
/*
 * Runs argv (argv[0] absolute) in the working folder, which must be the same on the node; cache is
 * another such folder. 0 if it ended well and
 * noted in this folder that it made its output (step.h). ERR_TOOL with what the step said, or with
 * the job's number and what became of it.
 */
int slurm_job_run(
    const struct slurm_job *j, char *const *argv, const char *cache, struct err *err) _must_check_;

/* What became of a job, from the words of srun and of the step (said) and from JobState. */
enum slurm_fate {
	SLURM_FAILED,	 /* the step ran and said why */
	SLURM_REFUSED,	 /* Slurm does not take such a job */
	SLURM_AWAY,	 /* the controller did not answer */
	SLURM_LOST,	 /* node failed, preempted, or unknown */
	SLURM_TIME,	 /* limit of time */
	SLURM_MEMORY,	 /* limit of memory */
	SLURM_CANCELLED, /* by somebody */
	SLURM_DIFFERS,	 /* the node has another compiler */
	SLURM_UNSEEN	 /* the node does not have the folder */
};
/* state is NULL where there is no job, or Slurm does not know it any more. */
enum slurm_fate slurm_job_fate(const char *said, const char *state) _must_check_;
