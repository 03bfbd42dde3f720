/*
 * A CUDA compiler from NVIDIA's apt repository, without root: cuda-nvcc-X-Y, cuda-cudart-dev-X-Y
 * and what they need, checked, unpacked into a folder of their own. `debkit build` finds the one in
 * the cache by host_find_nvcc.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "aptsource.h"
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct err;

struct toolchain_request {
	const char *cuda;   /* "12.8" */
	const char *prefix; /* folder to make, or NULL: CACHE/toolchain/cuda-12.8 */
	struct apt_source source;
};

struct toolchain_events {
	void (*note)(void *arg, const char *text);
	void (*bytes)(void *arg, const char *what, uint64_t done, uint64_t total);
	void *arg;
};

struct toolchain_result {
	bool did_work;
	const char *prefix;  /* absolute */
	const char *root;    /* "PREFIX/usr/local/cuda-12.8" */
	const char *version; /* of nvcc, "12.8.93" */
	const char **system; /* what the packages need of this system, if did_work */
	size_t n_system;
};

/*
 * Makes the folder, which appears by one rename, or finds it made already. Takes the lock
 * PREFIX.lock. Each .deb must have the size and hash of the index (ERR_TRUST naming both), and be
 * the package that the index says. ERR_CONFLICT: the folder is something else.
 */
int toolchain_get(struct arena *a, const struct toolchain_request *r,
    const struct toolchain_events *events, struct toolchain_result *out,
    struct err *err) _must_check_;
