/* Compression of whole buffers: the only user of zlib and zstd. Same input, same bytes. */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>

struct buf;
struct err;

/* Appends one gzip member (no name, no time). */
int compress_gz(const void *p, size_t n, struct buf *out, struct err *err) _must_check_;
/* Appends one zstd frame that states its plain size. */
int compress_zst(const void *p, size_t n, struct buf *out, struct err *err) _must_check_;
/* Appends what all members, or frames, hold; ERR_FORMAT if they do not end properly. */
int decompress_gz(const void *p, size_t n, struct buf *out, struct err *err) _must_check_;
int decompress_zst(const void *p, size_t n, struct buf *out, struct err *err) _must_check_;
