/*
 * A growing byte buffer with a mandatory maximum. The first append past the maximum sets
 * `failed` and every later one does nothing, so that a caller checks once, at the end.
 * data is always NUL-terminated (the NUL is not counted in len).
 *
 *	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
 *	buf_printf(&b, "%s: %s\n", name, value);
 *	if (buf_check(&b, "control file", err) < 0)
 *		return -1;
 */
#pragma once
#include "compat.h"
#include <stdbool.h>
#include <stddef.h>

struct err;
struct buf {
	char *data;
	size_t len, cap, max;
	bool failed;
};
#define BUF_INIT(maximum)                                                                          \
	{                                                                                          \
		.data = NULL, .len = 0, .cap = 0, .max = (maximum), .failed = false                \
	}

void buf_append(struct buf *b, const void *p, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) _printf_(2, 3);
/* Room for n more bytes and a NUL at data + len, or NULL past the maximum; the caller adds to len
 * and writes the NUL. */
char *buf_reserve(struct buf *b, size_t n) _must_check_;
void buf_truncate(struct buf *b, size_t len);
/* 0, or ERR_FORMAT "WHAT is larger than N bytes". */
int buf_check(const struct buf *b, const char *what, struct err *err) _must_check_;
/* The text, never NULL ("" when empty); owned by the buffer. */
const char *buf_str(const struct buf *b);
/* Hands the bytes to the caller (never NULL), empties the buffer. */
char *buf_take(struct buf *b);
void buf_done(struct buf *b);
