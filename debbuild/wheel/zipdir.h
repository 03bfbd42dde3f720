/*
 * The central directory of a zip file (APPNOTE.TXT 4.3, with zip64), for two questions: where
 * are the bytes of the wanted members, and how would the directory look that names these alone.
 * Unpacking is libarchive's.
 */
#pragma once
#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/compat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* Appends exactly n bytes from offset of the zip file. */
typedef int zipdir_read_fn(
    void *arg, uint64_t offset, uint64_t n, struct buf *out, struct err *err);

struct zip_member {
	const char *name;      /* a folder's ends with '/' */
	uint64_t offset, end;  /* bytes of the file from local header to the next member */
	uint64_t packed, size; /* as the directory says */
	unsigned method;       /* 0: stored, 8: deflate */
	bool encrypted, regular, executable, wanted;
	size_t raw, raw_len; /* its record in zipdir.raw */
};

struct zipdir {
	struct zip_member *v; /* sorted by offset */
	size_t n;
	uint64_t start; /* offset of the directory in the file */
	struct buf raw;
	struct arena arena;
};
#define ZIPDIR_MAX ((size_t)64 << 20)
#define ZIPDIR_INIT                                                                                \
	{                                                                                          \
		.v = NULL, .n = 0, .start = 0, .raw = BUF_INIT(ZIPDIR_MAX + 65536),                \
		.arena = ARENA_INIT                                                                \
	}

/*
 * Reads the directory of a file of size bytes in one or two reads. Refuses a split archive,
 * members that share bytes or leave the file, and names that leave a folder (ERR_FORMAT).
 */
int zipdir_read(
    struct zipdir *d, zipdir_read_fn *read, void *arg, uint64_t size, struct err *err) _must_check_;
/* Appends a directory of the wanted members and its end records; out[0] lies at d->start. */
void zipdir_write_wanted(const struct zipdir *d, struct buf *out);
void zipdir_done(struct zipdir *d);
