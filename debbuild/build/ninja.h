/*
 * The engine: a plan's steps as a build.ninja, and a run of ninja over it. Ninja decides what
 * is out of date (each command line holds the key of its step), runs what it can at once, and
 * keeps the large steps in a pool sized from the machine's memory.
 */
#pragma once
#include "../base/compat.h"
#include <stddef.h>

struct buf;
struct err;
struct plan;

struct ninja_progress {
	/* steps done of total, a step at work (or the last one), seconds left (below 0: unknown) */
	void (*progress)(void *arg, size_t done, size_t total, const char *what, double left_s);
	void *arg;
};

/*
 * The text of build.ninja. program runs steps (`PROGRAM step ...`), cache is the object cache;
 * launcher, or NULL, is put before each command ("srun -n1"). Words and names may hold anything
 * but a newline; names of files no '|' either.
 */
void ninja_write(const struct plan *p, const char *program, const char *cache, const char *launcher,
    struct buf *out);
/*
 * Runs ninja in the folder work. The whole talk of all steps goes to the file work/build.log.
 * A failing step is ERR_TOOL with its own reason and the log's name; ERR_INTERRUPT after a signal.
 */
int ninja_run(const struct plan *p, const char *work, const struct ninja_progress *progress,
    struct err *err) _must_check_;
