/*
 * What a plan needs before its steps can run: sources, torch headers, toolkit, all in the cache
 * and checked against the lock, and the work folder's links to them.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdint.h>

struct err;
struct plan;

struct inputs_report {
	void (*note)(
	    void *arg, const char *text); /* one line for what was fetched, with its cost */
	void (*progress)(void *arg, const char *what, uint64_t done, uint64_t total); /* bytes */
	void *arg;
};

/* Fetches what the cache lacks. Nothing half-fetched is ever taken for whole. */
int inputs_fetch(const struct plan *p, const char *cache, const struct inputs_report *report,
    struct err *err) _must_check_;
/* Points work/{src,tk,sdk,py,support} at the inputs; removes links to what is no longer used. */
int inputs_link(
    const struct plan *p, const char *cache, const char *work, struct err *err) _must_check_;
/* The folder of the runtime wheel's files (libcudart and its licence). Owned by the caller. */
char *inputs_runtime_dir(const struct plan *p, const char *cache);
/* The folder of upstream's sources. Owned by the caller. */
char *inputs_source_dir(const struct plan *p, const char *cache);
