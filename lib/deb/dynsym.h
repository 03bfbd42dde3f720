/*
 * The names that a shared object exports, read through a callback that may be slow: only its
 * headers and the tables of its dynamic symbols are asked for, wherever they lie in the file.
 */
#pragma once
#include "../base/compat.h"
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct err;

/* Appends exactly n bytes from offset of the object. */
typedef int dynsym_read_fn(
    void *arg, uint64_t offset, uint64_t n, struct buf *out, struct err *err);

struct dynsym {
	const char **names; /* sorted by bytes, each once, without versions */
	size_t n;
};

/*
 * Fills out with the names that a loader finds in the object: defined, global, weak or unique,
 * neither hidden nor internal, and, where there is a .gnu.hash, under their own hash in it; that
 * check covers every name, so that bytes read wrongly cannot pass. ELF64 little-endian shared
 * objects only, of size bytes; name is used in messages. ERR_FORMAT for anything else.
 */
int dynsym_exports(struct arena *a, dynsym_read_fn *read, void *arg, uint64_t size,
    const char *name, struct dynsym *out, struct err *err) _must_check_;
