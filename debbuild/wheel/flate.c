#include "flate.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/xalloc.h"

#define WINDOW	  (32u << 10) /* how far back a block may copy */
#define CHUNK	  (64u << 10)
#define RAW	  (-15) /* zlib's names for a raw stream and for gzip, both with a 32 KiB window */
#define GZIP	  (15 + 16)
#define LEVEL	  3			/* half the time of 6 for a fifth more bytes */
#define HEADER	  ((size_t)17 + 3 * 19) /* bits of a dynamic block's header up to its code lengths */
#define TRIES_MAX 1000u			/* a real stream takes about 100 */
#define STORED	  0u
#define DYNAMIC	  2u

struct flate {
	z_stream z;
	unsigned char chunk[CHUNK];
	bool ended;
};

static int start(z_stream *z, int format, struct err *err)
{
	*z = (z_stream){0};
	return inflateInit2(z, format) == Z_OK ? 0 : err_set(err, ERR_SYSTEM, "cannot start zlib");
}

static int damaged(const z_stream *z, struct err *err)
{
	return err_set(err, ERR_FORMAT, "its compressed data is damaged: %s",
	    z->msg ? z->msg : "it does not end");
}

/* zlib counts bytes in unsigned int: takes the next piece of what is left. */
static void offer(z_stream *z, const unsigned char **p, size_t *n)
{
	if (z->avail_in || !*n)
		return;
	unsigned take = *n > (1u << 30) ? 1u << 30 : (unsigned)*n;
	z->next_in = (unsigned char *)(uintptr_t)*p;
	z->avail_in = take;
	*p += take;
	*n -= take;
}

/* Fills chunk; 0, or zlib's word that ends the matter. *got is less than CHUNK at the end. */
static int next_chunk(
    z_stream *z, const unsigned char **p, size_t *n, unsigned char *chunk, size_t *got)
{
	int rc = Z_OK;
	z->next_out = chunk;
	z->avail_out = CHUNK;
	while (z->avail_out && rc == Z_OK) {
		offer(z, p, n);
		rc = inflate(z, Z_NO_FLUSH);
	}
	*got = CHUNK - z->avail_out;
	return rc;
}

struct flate *flate_new(void)
{
	struct flate *f = xcalloc(1, sizeof *f);
	if (start(&f->z, RAW, NULL) < 0)
		f->ended = true; /* no memory: the first feed says that nothing comes */
	return f;
}

void flate_free(struct flate *f)
{
	if (!f)
		return;
	inflateEnd(&f->z);
	free(f);
}

int flate_feed(
    struct flate *f, const void *p, size_t n, struct buf *out, bool *end, struct err *err)
{
	const unsigned char *at = p;
	while (!f->ended && !out->failed) {
		size_t got;
		int rc = next_chunk(&f->z, &at, &n, f->chunk, &got);
		buf_append(out, f->chunk, got);
		f->ended = rc == Z_STREAM_END;
		if (rc == Z_BUF_ERROR && !n) /* all that came is used up */
			break;
		if (rc != Z_OK && rc != Z_STREAM_END)
			return damaged(&f->z, err);
	}
	*end = f->ended;
	return buf_check(out, "a member", err);
}

/* count bits from the bit offset at, lowest first; count is at most 14. */
static unsigned get_bits(const unsigned char *p, size_t at, unsigned count)
{
	uint32_t v = p[at / 8] | (uint32_t)p[at / 8 + 1] << 8 | (uint32_t)p[at / 8 + 2] << 16;
	return (v >> at % 8) & ((1u << count) - 1);
}

/* A dynamic block's lengths of the code for code lengths must make a complete prefix code. */
static bool may_be_dynamic(const unsigned char *p, size_t at)
{
	unsigned literals = get_bits(p, at + 3, 5), distances = get_bits(p, at + 8, 5);
	unsigned lengths = get_bits(p, at + 13, 4) + 4, space = 0;
	if (literals > 29 || distances > 29)
		return false;
	for (unsigned i = 0; i < lengths; i++) {
		unsigned len = get_bits(p, at + 17 + (size_t)3 * i, 3);
		space += len ? 128u >> len : 0;
	}
	return space == 128;
}

/* A stored block's length stands there twice, once with all bits turned, at a whole byte. */
static bool may_be_stored(const unsigned char *p, size_t at)
{
	unsigned pad = (unsigned)(8 - (at + 3) % 8) % 8;
	const unsigned char *b = p + (at + 3 + pad) / 8;
	return !get_bits(p, at + 3, pad) && (b[0] | b[1]) && (b[0] ^ b[2]) == 0xff &&
	       (b[1] ^ b[3]) == 0xff;
}

/*
 * Can a block begin here? Few places look like it by chance; zlib judges the rest. Blocks with the
 * fixed code have nothing to tell them by and are not looked for.
 */
static bool may_begin(const unsigned char *p, size_t at)
{
	unsigned kind = get_bits(p, at, 3) >> 1; /* behind the bit of the last block */
	return kind == DYNAMIC ? may_be_dynamic(p, at) : kind == STORED && may_be_stored(p, at);
}

/* Readies z for the bit offset `at` of p, as if WINDOW bytes of `past` went before. */
static int start_at(
    z_stream *z, const unsigned char **p, size_t *n, size_t at, unsigned char past, struct err *err)
{
	unsigned char window[WINDOW];
	memset(window, past, sizeof window);
	if (start(z, RAW, err) < 0)
		return -1;
	inflateSetDictionary(z, window, sizeof window);
	*p += at / 8;
	*n -= at / 8;
	if (at % 8) {
		inflatePrime(z, 8 - (int)(at % 8), **p >> at % 8);
		*p += 1;
		*n -= 1;
	}
	return 0;
}

/* Appends the bytes of a after the last one that differs from b, or all to what is there. */
static void keep_equal(
    const unsigned char *a, const unsigned char *b, size_t n, struct buf *out, size_t begin)
{
	size_t from = n;
	while (from && a[from - 1] == b[from - 1])
		from--;
	if (from)
		buf_truncate(out, begin);
	buf_append(out, a + from, n - from);
}

/* One decoding over two pasts. *done: the stream ended properly with the last byte. */
static int decode_twice(
    const unsigned char *p, size_t n, size_t at, struct buf *out, bool *done, struct err *err)
{
	_cleanup_(inflateEnd) z_stream a = {0};
	_cleanup_(inflateEnd) z_stream b = {0};
	_free_ unsigned char *chunks = xmalloc((size_t)2 * CHUNK);
	const unsigned char *pa = p, *pb = p;
	size_t na = n, nb = n, begin = out->len, got = 0, same = 0;
	int rc = Z_OK;
	*done = false;
	if (start_at(&a, &pa, &na, at, 0x00, err) < 0 || start_at(&b, &pb, &nb, at, 0xff, err) < 0)
		return -1;
	while (rc == Z_OK && !out->failed) {
		rc = next_chunk(&a, &pa, &na, chunks, &got);
		if (next_chunk(&b, &pb, &nb, chunks + CHUNK, &same) != rc || same != got)
			break;
		keep_equal(chunks, chunks + CHUNK, got, out, begin);
	}
	*done = rc == Z_STREAM_END && !a.avail_in && !na;
	if (!*done)
		buf_truncate(out, begin);
	return buf_check(out, "the end of a member", err);
}

int flate_tail(const void *p, size_t n, struct buf *out, struct err *err)
{
	bool done = false;
	size_t bits = n > HEADER / 8 + 4 ? (n - HEADER / 8 - 4) * 8 : 0;
	for (size_t at = 0, tries = 0; at < bits && tries < TRIES_MAX && !done; at++) {
		if (!may_begin(p, at))
			continue;
		tries++;
		if (intr_check(err) < 0 || decode_twice(p, n, at, out, &done, err) < 0)
			return -1;
	}
	return 0;
}

int flate_pack(const void *p, size_t n, struct buf *out, struct err *err)
{
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)p};
	if (n > UINT_MAX / 2)
		return err_set(
		    err, ERR_FORMAT, "%zu bytes are more than can be compressed at once", n);
	if (deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return err_set(err, ERR_SYSTEM, "cannot start zlib");
	z.avail_in = (unsigned)n;
	size_t bound = deflateBound(&z, (uLong)n);
	char *to = buf_reserve(out, bound);
	if (to) {
		z.next_out = (unsigned char *)to;
		z.avail_out = (unsigned)bound;
		deflate(&z, Z_FINISH);
		out->len += bound - z.avail_out;
		out->data[out->len] = '\0';
	}
	deflateEnd(&z);
	return buf_check(out, "compressed data", err);
}

int flate_unpack(const void *p, size_t n, struct buf *out, struct err *err)
{
	_cleanup_(inflateEnd) z_stream z = {0};
	_free_ unsigned char *chunk = xmalloc(CHUNK);
	const unsigned char *at = p;
	int rc = Z_OK;
	if (start(&z, GZIP, err) < 0)
		return -1;
	while (rc == Z_OK && !out->failed) {
		size_t got;
		rc = next_chunk(&z, &at, &n, chunk, &got);
		buf_append(out, chunk, got);
	}
	if (rc != Z_STREAM_END && !out->failed)
		return damaged(&z, err);
	return buf_check(out, "unpacked data", err);
}
