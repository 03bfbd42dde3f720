/*
 * A Slurm cluster as a place for the costly steps of a build: what it is, asked of sinfo(1) before
 * anything starts, and what is to be said to each job, in a file that its step reads. One step is
 * one job (slurm_job.h). The folder of the build, the cache and debkit itself must lie under the
 * same names on all nodes.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;
struct plan;
struct step_estimate;

struct slurm_cluster {
	const char *partition; /* always named */
	unsigned nodes;	       /* that take jobs, no more than were asked for */
	unsigned cores;	       /* of all of them */
	unsigned heavy;	       /* steps of heavy_bytes that fit at once */
	unsigned memory_mb;    /* of the smallest node; 0: the cluster does not tell */
	unsigned minutes;      /* the partition's time limit; 0: none */
};

/*
 * Asks sinfo. partition NULL: the default one; nodes 0: all. ERR_TOOL if Slurm is not there or does
 * not answer, ERR_USAGE for a partition that it does not have, with those that it has.
 */
int slurm_look(struct arena *a, const char *partition, unsigned nodes, uint64_t heavy_bytes,
    struct slurm_cluster *out, struct err *err) _must_check_;
/* As slurm_look, from what `sinfo -eho SLURM_SINFO_FORMAT` printed. */
#define SLURM_SINFO_FORMAT "%P|%R|%D|%c|%m|%t|%l|%a"
int slurm_read_sinfo(struct arena *a, const char *text, const char *partition, unsigned nodes,
    uint64_t heavy_bytes, struct slurm_cluster *out, struct err *err) _must_check_;
/* Minutes, rounded up, of "5:00", "1:00:00", "2-12:00:00"; 0 for "infinite" and anything else. */
unsigned slurm_parse_minutes(const char *text) _must_check_;

/* The folder in the work folder, and what lies there. */
#define SLURM_DIR   "slurm"
#define SLURM_JOBS  SLURM_DIR "/jobs"
#define SLURM_TOKEN SLURM_DIR "/token"

/*
 * Writes WORK/slurm/jobs, with memory and time for each costly step, and WORK/slurm/token, by which
 * a job knows the folder and by which all jobs of this build are known. Jobs that an earlier build
 * in this folder left behind are cancelled first.
 */
int slurm_prepare(const struct plan *p, const struct step_estimate *e,
    const struct slurm_cluster *c, const char *work, struct err *err) _must_check_;
/* Cancels all jobs of the build whose token lies in that work folder, and waits until they are gone
 * from the queue, though not for ever. Works after a signal. */
void slurm_cancel_all(const char *work);
