/*
 * Child programs. argv[0] is looked up in PATH. No shell is ever involved. A signal that intr.h
 * noted is passed on to the child once, as SIGINT, and the child is waited for. A child whose
 * parent is killed gets SIGTERM: nothing runs on that nobody waits for.
 *
 *	struct proc_result r;
 *	if (proc_run(&(struct proc_spec){.argv = v.v, .out = &text}, &r, err) < 0)
 *		return -1;            the program could not be started, or was not found
 *	if (r.status != 0) ...        it ran and said no
 */
#pragma once
#include "compat.h"
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;

struct proc_spec {
	char *const *argv; /* NULL-terminated */
	const char *dir;   /* working folder, or NULL */
	char *const *env;  /* "NAME=value" to set, "NAME" to unset, NULL-terminated; or NULL */
	const void *in;	   /* bytes for its standard input, or NULL for /dev/null */
	size_t in_len;
	struct buf *out;    /* collects standard output, or NULL: inherited */
	struct buf *errout; /* collects standard error (may equal out), or NULL: inherited */
	bool out_to_stderr; /* with out NULL: standard output goes to our standard error */
	/* With out NULL and line set: called for each line of standard output, no newline. */
	void (*line)(void *arg, const char *line);
	/* If set: called about once a second while the program runs. */
	void (*tick)(void *arg);
	void *arg; /* for line and tick */
	/* It leads a process group: the signal goes to all that it started, and if the leader is
	 * still there some seconds later, all are killed. What outlives its leader is left alone.
	 */
	bool group;
	/* If not 0: a group that is killed after so many seconds: ERR_TOOL. For questions that a
	 * program answers at once. */
	unsigned timeout_s;
	const bool *stop; /* if set and it becomes true, in tick: as if a signal had come */
	bool tidy; /* a signal that came is not passed on: for what is put in order after it */
};

struct proc_result {
	int status;	  /* exit status; 128 + signal if it was killed */
	double cpu_s;	  /* user + system CPU seconds of it and its waited-for children */
	uint64_t max_rss; /* bytes, of the largest single process */
};

/* From now on this process gets SIGTERM when the one that started it dies. */
void proc_end_with_parent(void);
/* Runs to the end. -1 with ERR_TOOL if it cannot be started; else 0, whatever its status. */
int proc_run(const struct proc_spec *spec, struct proc_result *res, struct err *err) _must_check_;
/* As proc_run, and a status other than 0 is ERR_TOOL with the last line of its stderr. */
int proc_check(const struct proc_spec *spec, struct err *err) _must_check_;
/* Runs argv and appends its standard output to out; a status other than 0 is ERR_TOOL, more
 * output than out may hold ERR_FORMAT. */
int proc_capture(char *const *argv, struct buf *out, struct err *err) _must_check_;
