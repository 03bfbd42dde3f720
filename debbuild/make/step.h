/*
 * One step of a build, as ninja runs it: the output comes from the object cache if a step with
 * the same key was run before, in any folder; else the command runs and its output goes there.
 * Cache entries are checked by SHA-256 when they are used and written atomically.
 */
#pragma once
/* The first word of a command that debkit runs itself. */
#define STEP_SELF "debkit"

#include "../../lib/base/compat.h"
#include <stdbool.h>
#include <stdint.h>

struct err;

struct step_cost {
	double cpu_s, wall_s;
	uint64_t max_rss; /* bytes */
	bool cached;	  /* the output came from the cache; the cost is that of the first run */
};

/*
 * Runs argv in the working folder, which must make the file out. key (64 hexadecimal digits)
 * names the result, cache is the folder of the object cache (made if absent). What the command says
 * goes to standard output only if it fails, or warns. ERR_TOOL when it fails; out is then absent.
 */
int step_run(const char *cache, const char *key, const char *name, const char *out,
    char *const *argv, struct step_cost *cost, struct err *err) _must_check_;
/* Makes out from the cache alone. False, without trouble, if the cache does not hold it. */
bool step_take(const char *cache, const char *key, const char *out);
/* Forgets that out was made. */
void step_forget(const char *work, const char *out);
/* True if a step of that key noted that it made out; out itself is not read. */
bool step_is_noted(const char *work, const char *out, const char *key);
/* True if out in the folder work holds what a step of this key made, byte for byte. */
bool step_is_made(const char *work, const char *out, const char *key);
/* Folders, relative to the working folder: in the one a running step leaves its name, in the other
 * each output's key and hash. */
#define STEP_RUNNING_DIR "running"
#define STEP_MADE_DIR	 "made"
/* Environment variable: names the file of jobs (slurm_job.h) where costly steps are jobs of a
 * cluster. */
#define STEP_JOBS_ENV "DEBKIT_JOBS"
