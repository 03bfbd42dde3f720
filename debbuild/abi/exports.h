/*
 * What the libraries of one wheel export: of torch's those that an extension links, of NVIDIA's
 * runtime libcudart. Read out of the remote wheel by ranges, never stored whole, and kept in the
 * cache as a list of names, whose SHA-256 the lock pins (Exports-Sha256). Its plain text, which
 * the hash is of:
 *
 *	wheel torch-2.10.0-3-cp311-cp311-manylinux_2_28_x86_64.whl
 *	library libc10.so
 *	_ZN2at...                  sorted by bytes, one a line
 *	library libc10_cuda.so
 *	...
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/digest.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;
struct index;
struct lock_entry;

struct exports_library {
	const char *name;   /* "libc10.so" */
	const char **names; /* sorted by bytes */
	size_t n;
};

struct exports {
	const char *wheel; /* file name */
	struct exports_library *libraries;
	size_t n;
	char sha256[SHA256_HEX]; /* of the plain text */
};

struct exports_cost {
	unsigned requests;
	uint64_t bytes, wheel_bytes; /* received; size of the wheel */
};

/* Reads the names out of the wheel, whatever the lock says of them: for writing the lock. */
int exports_read(struct arena *a, struct index *x, const struct lock_entry *e, struct exports *out,
    struct exports_cost *cost, struct err *err) _must_check_;
/*
 * As the lock pins them: from CACHE/abi/, else out of the wheel and into there. ERR_TRUST, naming
 * both hashes, if they differ from the lock, or if the lock has none. cost is 0 for the cache.
 */
int exports_load(struct arena *a, struct index *x, const struct lock_entry *e, const char *cache,
    struct exports *out, struct exports_cost *cost, struct err *err) _must_check_;
/* The library that exports the name, or NULL. */
const struct exports_library *exports_find(const struct exports *e, const char *name) _must_check_;
/* What a load cost, for people; owned by the caller. */
char *exports_cost_text(const struct lock_entry *e, const struct exports_cost *cost);
