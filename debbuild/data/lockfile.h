/*
 * The lock: one stanza for each file that a build may fetch, with its hashes. What is not in
 * the lock, or differs from it, is refused (ERR_TRUST).
 *
 *	File: torch-2.10.0-...-cp311-cp311-manylinux_2_28_x86_64.whl
 *	Project: torch
 *	Size: 915736904
 *	Sha256: ...
 *	Record-Sha256: ...      of its RECORD member, for wheels that are read by ranges
 *	Exports-Sha256: ...     of the list of what its libraries export (see exports.h)
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;
struct torch_release;

struct lock_entry {
	const char *file, *project;
	const char *sha256;	    /* of the whole file */
	const char *record_sha256;  /* or NULL */
	const char *exports_sha256; /* or NULL */
	const char *index;	    /* address of its index, or NULL: the machine's own */
	uint64_t size;
};

struct lockfile {
	const char *source; /* its path, for messages */
	struct lock_entry *v;
	size_t n;
};

/* Reads templates/lock; a bad line is FILE:LINE with what was expected. */
int lockfile_load(
    struct arena *a, const char *path, struct lockfile *out, struct err *err) _must_check_;
/* The entry of that file, or NULL. */
const struct lock_entry *lockfile_find(const struct lockfile *l, const char *file) _must_check_;
/*
 * The wheel of project and version for a Python tag ("cp311"), or NULL python for any. NULL if
 * the lock has none.
 */
const struct lock_entry *lockfile_wheel(const struct lockfile *l, const char *project,
    const char *version, const char *python) _must_check_;
/* The torch's version as its wheels have it: "2.11.0+cu128" on PyTorch's own index. */
const char *lockfile_torch_version(struct arena *a, const struct torch_release *t);
/* The wheel of that torch for a Python ("3.11"), or NULL if the lock has none. */
const struct lock_entry *lockfile_torch(
    const struct lockfile *l, const struct torch_release *t, const char *python) _must_check_;
