/* One function over many items, on all processors. */
#pragma once
#include "compat.h"
#include <stddef.h>

/*
 * Calls fn(arg, i) once for each i below n, from several threads, in no order; returns when all
 * are done. fn keeps its results and errors in its own slot of arg. One item: no thread.
 */
void parallel_run(size_t n, void (*fn)(void *arg, size_t i), void *arg);
/*
 * Threads that parallel_run uses at most: the processors this process may run on, 1 to 16. One
 * while faults are injected (base/txn.h), so that the N-th call is the same in each run.
 */
unsigned parallel_threads(void) _must_check_;
