/* Makes .deb files byte by byte, so that a test can make them wrong. Plain members only. */
#pragma once
#include "../../lib/base/buf.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define GOOD_CONTROL                                                                               \
	"Package: demo\nVersion: 1.0-1\nArchitecture: amd64\n"                                     \
	"Maintainer: Demo <demo@example.org>\nDescription: demonstration\n"

static inline void make_ar_header(struct buf *b, const char *name, const char *size)
{
	buf_printf(
	    b, "%-16s%-12s%-6s%-6s%-8s%-10s`\n", name, "1700000000", "0", "0", "100644", size);
}

static inline void make_ar(struct buf *b, const char *name, const void *p, size_t n)
{
	char size[24];
	snprintf(size, sizeof size, "%zu", n);
	make_ar_header(b, name, size);
	buf_append(b, p, n);
	if (n & 1)
		buf_putc(b, '\n');
}

/* A ustar header with this size field, checksum right. */
static inline void make_tar_header(
    struct buf *b, char type, const char *name, const char *link, const char *size)
{
	char h[512] = {0};
	memcpy(h, name, strnlen(name, 100));
	memcpy(h + 100, "0000644", 8);
	memcpy(h + 108, "0000000", 8);
	memcpy(h + 116, "0000000", 8);
	memcpy(h + 124, size, strnlen(size, 12));
	memcpy(h + 136, "14525144000", 12);
	h[156] = type;
	memcpy(h + 157, link, strnlen(link, 100));
	memcpy(h + 257, "ustar\00000", 8);
	memset(h + 148, ' ', 8);
	unsigned sum = 0;
	for (size_t i = 0; i < sizeof h; i++)
		sum += (unsigned char)h[i];
	snprintf(h + 148, 8, "%06o", sum);
	buf_append(b, h, sizeof h);
}

static inline void make_tar(
    struct buf *b, char type, const char *name, const char *link, const void *p, size_t n)
{
	static const char zero[512];
	char size[24];
	snprintf(size, sizeof size, "%011zo", n);
	make_tar_header(b, type, name, link, size);
	buf_append(b, p, n);
	buf_append(b, zero, -n & 511);
}

static inline void make_tar_end(struct buf *b)
{
	static const char zero[1024];
	buf_append(b, zero, sizeof zero);
}

static inline void make_control_tar(struct buf *b, const void *text, size_t n)
{
	make_tar(b, '5', "./", "", "", 0);
	make_tar(b, '0', "./control", "", text, n);
	make_tar_end(b);
}

static inline void make_data_tar(struct buf *b)
{
	make_tar(b, '5', "./", "", "", 0);
	make_tar(b, '5', "./usr/", "", "", 0);
	make_tar(b, '0', "./usr/hello", "", "hello\n", 6);
	make_tar_end(b);
}

/* The start of a package: magic, debian-binary. */
static inline void make_start(struct buf *b)
{
	buf_puts(b, "!<arch>\n");
	make_ar(b, "debian-binary", "2.0\n", 4);
}

static inline void make_deb(struct buf *b, const struct buf *control, const struct buf *data)
{
	make_start(b);
	make_ar(b, "control.tar", buf_str(control), control->len);
	make_ar(b, "data.tar", buf_str(data), data->len);
}
