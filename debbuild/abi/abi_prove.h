/*
 * What a package may claim: for each binding of a plan the torches of its CUDA on which it has
 * every symbol, proved against the export tables of that torch's real libraries for the same
 * Python. Never taken for granted: what a wheel of the matrix and the lock does not show, is not
 * claimed.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>

struct arena;
struct err;
struct lockfile;
struct matrix;
struct plan;

struct abi_proof {
	const char **minors; /* "2.10", "2.11" in the order of the matrix; n of them */
	size_t n;
};

struct abi_paths {
	const char *templates, *cache, *work;	   /* bindings lie at work/BINDING->out */
	void (*note)(void *arg, const char *text); /* one line for what was fetched, or NULL */
	void *arg;
};

/*
 * Fills proofs, one for each binding of the plan, in the arena. Fetches lists of exports that the
 * cache lacks. ERR_FORMAT if a binding, or the kernel library with it, lacks a symbol on its own
 * torch: names the symbol, the library that would have to define it, and the torches that lack it.
 */
int abi_prove(struct arena *a, const struct plan *p, const struct matrix *m,
    const struct lockfile *lock, const struct abi_paths *paths, struct abi_proof **proofs,
    struct err *err) _must_check_;
