/*
 * The only user of liblzma. apt reads one stream of an .xz file and no more, so pieces are the
 * blocks of one stream: header, blocks, and a tail (index and footer) that lists the blocks.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>

struct buf;
struct err;
struct xz_index;

/* Bytes of the stream header, and at most of a block's header. */
#define XZ_HEADER     12
#define XZ_BLOCK_HEAD 1024

int xz_header(struct buf *out, struct err *err) _must_check_;
/* Appends one block, with its check and padding. */
int xz_block(const void *p, size_t n, struct buf *out, struct err *err) _must_check_;

struct xz_index *xz_index_new(void) _malloc_;
/* Counts a block of which the first n bytes are at hand (the whole or XZ_BLOCK_HEAD). */
int xz_index_add(struct xz_index *x, const void *block, size_t n, struct err *err) _must_check_;
/* Appends the tail. */
int xz_index_write(struct xz_index *x, struct buf *out, struct err *err) _must_check_;
void xz_index_free(struct xz_index *x); /* accepts NULL */
