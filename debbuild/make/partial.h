/* What is left of a plan when some of its bindings, or some Triton's kernels, did not compile. */
#pragma once
#include "../../lib/base/compat.h"
#include "../plan/plan.h"

struct err;
struct ninja_result;

struct partial {
	struct plan plan; /* as far as it was carried out */
	size_t n_left_out;
	const char *left_out; /* "torch 2.9 with Python 3.11, ..." or "Triton 3.5.1, ..." */
	const char *log;      /* file with the compilers' whole talk */
};

/*
 * Fills out from what ninja_run reports; calls warn with one line for each binding or Triton that
 * is left out. ERR_TOOL, with what the first failed step said, if nothing is left to ship.
 */
int partial_make(struct arena *a, const struct plan *p, const struct ninja_result *res,
    void (*warn)(void *arg, const char *text), void *arg, struct partial *out,
    struct err *err) _must_check_;
