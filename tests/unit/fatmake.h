/* Makes CUDA fat binaries as fatbin.h describes them; the code in them is zeros. */
#pragma once
#include "../../lib/base/buf.h"
#include <stdint.h>
#include <string.h>

/* size: bytes in the container; plain: bytes unpacked, 0 for an entry that is not packed. */
struct fat {
	unsigned kind, arch, flags, size, plain;
};

static inline void put_le(unsigned char *p, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

/* Adds one container with the entries up to one of kind 0. */
static inline void make_fatbin(struct buf *b, const struct fat *f)
{
	static const char zero[65536];
	unsigned char head[16] = {0};
	uint64_t size = 0;
	for (const struct fat *e = f; e->kind; e++)
		size += 64 + e->size;
	put_le(head, 0xBA55ED50, 4);
	put_le(head + 4, 1, 2);
	put_le(head + 6, sizeof head, 2);
	put_le(head + 8, size, 8);
	buf_append(b, head, sizeof head);
	for (; f->kind; f++) {
		unsigned char h[64] = {0};
		put_le(h, f->kind, 2);
		put_le(h + 2, 0x101, 2);
		put_le(h + 4, sizeof h, 4);
		put_le(h + 8, f->size, 8);
		put_le(h + 16, f->plain ? f->size : 0, 4);
		put_le(h + 28, f->arch, 4);
		put_le(h + 40, f->flags, 8);
		put_le(h + 56, f->plain, 8);
		buf_append(b, h, sizeof h);
		buf_append(b, zero, f->size);
	}
}
