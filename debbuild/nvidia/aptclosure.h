/*
 * Packages and all that they need, as far as one repository has it. What it does not have is the
 * system's affair (gcc, libc6), unless it is part of that CUDA. Pure.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>
#include <stdint.h>

struct apt_package;
struct apt_packages;
struct arena;
struct err;

struct apt_closure {
	const struct apt_package **v; /* each package once, in the order found, roots first */
	size_t n;
	const char **system; /* relations left to the system, each once: "libc6 (>= 2.34)" */
	size_t n_system;
	uint64_t size, installed; /* sums, bytes */
};

/*
 * Takes the newest version of each that fits. ERR_FORMAT: a root that is not there, with what
 * there is of its kind; a package named cuda-* or *-SUFFIX that is needed and not there; two that
 * need different versions of a third; a stanza that cannot be used.
 */
int aptclosure_make(struct arena *a, const struct apt_packages *all, const char *const *roots,
    const char *suffix, struct apt_closure *out, struct err *err) _must_check_;
