/*
 * A zip file as libarchive shall see it: its directory names the wanted members alone, their
 * bytes are read when asked for, and every other byte reads as zero and costs nothing. A run of
 * wanted members is read in windows of up to ZIPVIEW_WINDOW bytes.
 */
#pragma once
#include "../../lib/base/buf.h"
#include "../../lib/base/compat.h"
#include "zipdir.h"

#define ZIPVIEW_WINDOW ((uint64_t)8 << 20)

struct zipview {
	const struct zipdir *dir;
	zipdir_read_fn *read;
	void *arg;
	struct buf tail; /* the directory in place of the file's own */
	struct buf window;
	uint64_t window_at; /* offset of window.data */
	uint64_t pos;
};

/* Looks at d's members that are wanted now; d must outlive the view. */
void zipview_init(struct zipview *v, const struct zipdir *d, zipdir_read_fn *read, void *arg);
/* The bytes at pos and behind it, as many as are at hand; moves pos. 0 bytes: the end. */
int zipview_next(struct zipview *v, const void **p, size_t *n, struct err *err) _must_check_;
uint64_t zipview_size(const struct zipview *v);
void zipview_done(struct zipview *v);
