/*
 * Deflate data (RFC 1951) of which only a part is at hand, and gzip (RFC 1952) for the cache.
 * zlib's inflate and gzip are used here and nowhere else in this layer.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;

/* A raw stream read from its beginning, piece by piece. */
struct flate;
struct flate *flate_new(void) _malloc_;
/* Appends what n further bytes give; *end is set once the stream is over. */
int flate_feed(struct flate *f, const void *p, size_t n, struct buf *out, bool *end,
    struct err *err) _must_check_;
void flate_free(struct flate *f); /* accepts NULL */

/*
 * p holds the last n bytes of a raw stream. Looks for a place where a block begins, decodes from
 * there to the end, and appends the part of it that is certain: blocks copy from the 32 KiB
 * before them, so all is decoded twice, over two pasts that differ in each byte, and what follows
 * the last difference cannot depend on the past. Appends nothing where nothing is certain; then
 * more bytes are needed. That a block does begin there is likely and not sure, if somebody made
 * the stream for it: what is read must be checked by its own redundancy, as dynsym.h does.
 */
int flate_tail(const void *p, size_t n, struct buf *out, struct err *err) _must_check_;

/* Appends p as a gzip file without name and time; and such a file's bytes. */
int flate_pack(const void *p, size_t n, struct buf *out, struct err *err) _must_check_;
int flate_unpack(const void *p, size_t n, struct buf *out, struct err *err) _must_check_;
