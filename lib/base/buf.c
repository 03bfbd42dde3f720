#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "xalloc.h"

char *buf_reserve(struct buf *b, size_t n)
{
	if (b->failed)
		return NULL;
	if (n > b->max || b->len > b->max - n) {
		b->failed = true;
		return NULL;
	}
	size_t need = b->len + n + 1;
	if (need > b->cap) {
		size_t cap = b->cap ? b->cap : 256;
		while (cap < need)
			cap += cap / 2;
		b->data = xreallocarray(b->data, cap, 1);
		b->data[b->len] = '\0';
		b->cap = cap;
	}
	return b->data + b->len;
}

void buf_append(struct buf *b, const void *p, size_t n)
{
	char *to = buf_reserve(b, n);
	if (!to)
		return;
	if (n)
		memcpy(to, p, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
	buf_append(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	buf_append(b, &c, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	_free_ char *s = xvasprintf(fmt, ap);
	va_end(ap);
	buf_puts(b, s);
}

void buf_truncate(struct buf *b, size_t len)
{
	if (len >= b->len)
		return;
	b->len = len;
	b->data[len] = '\0';
}

int buf_check(const struct buf *b, const char *what, struct err *err)
{
	if (b->failed)
		return err_set(err, ERR_FORMAT, "%s is larger than %zu bytes", what, b->max);
	return 0;
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
	char *s = b->data ? b->data : xstrdup("");
	b->data = NULL;
	b->len = b->cap = 0;
	return s;
}

void buf_done(struct buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
}
