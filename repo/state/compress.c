#include "compress.h"

#include <stdbool.h>
#include <zlib.h>
#include <zstd.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"

#define GZ_LEVEL  6
#define GZIP_WRAP 16 /* added to the window bits: a gzip member, not a zlib stream */
#define BLOCK	  ((size_t)256 << 10)

/*
 * zstd's levels serve stanzas badly: 9 packs worse than 3, and 19 takes a hundred times as long.
 * Stanzas repeat with long matches between digits that never match; this search, lazy with one
 * probe and long minimum matches, packs as well as level 19 at the speed of level 6.
 */
static const struct {
	ZSTD_cParameter name;
	int value;
} zst_search[] = {
    {ZSTD_c_compressionLevel, 15},
    {ZSTD_c_strategy, ZSTD_lazy2},
    {ZSTD_c_searchLog, 1},
    {ZSTD_c_minMatch, 6},
    {ZSTD_c_hashLog, 14},
    {ZSTD_c_chainLog, 18},
};

/* n bytes were written at the end of b, in room that buf_reserve gave. */
static void grown(struct buf *b, size_t n)
{
	b->len += n;
	b->data[b->len] = '\0';
}

int compress_gz(const void *p, size_t n, struct buf *out, struct err *err)
{
	z_stream z = {0};
	if (deflateInit2(&z, GZ_LEVEL, Z_DEFLATED, GZIP_WRAP + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return err_set(err, ERR_SYSTEM, "zlib cannot start");
	size_t room = deflateBound(&z, n);
	char *to = buf_reserve(out, room);
	if (to) {
		z.next_in = (Bytef *)p;
		z.avail_in = (uInt)n;
		z.next_out = (Bytef *)to;
		z.avail_out = (uInt)room;
	}
	int rc = to ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
	size_t made = z.total_out;
	deflateEnd(&z);
	if (rc != Z_STREAM_END)
		return err_set(err, ERR_SYSTEM, "zlib cannot compress %zu bytes", n);
	grown(out, made);
	return 0;
}

static void free_cctx(ZSTD_CCtx **c)
{
	ZSTD_freeCCtx(*c);
}

int compress_zst(const void *p, size_t n, struct buf *out, struct err *err)
{
	_cleanup_(free_cctx) ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(n);
	char *to = buf_reserve(out, room);
	if (!c || !to)
		return err_set(err, ERR_SYSTEM, "no memory to compress %zu bytes", n);
	for (size_t i = 0; i < ARRAY_SIZE(zst_search); i++)
		if (ZSTD_isError(
			ZSTD_CCtx_setParameter(c, zst_search[i].name, zst_search[i].value)))
			return err_set(err, ERR_SYSTEM, "this libzstd lacks a parameter");
	size_t made = ZSTD_compress2(c, to, room, p, n);
	if (ZSTD_isError(made))
		return err_set(err, ERR_SYSTEM, "zstd: %s", ZSTD_getErrorName(made));
	grown(out, made);
	return 0;
}

/* Inflates one member; z keeps what follows it. */
static int inflate_member(z_stream *z, struct buf *out, struct err *err)
{
	int rc = Z_OK;
	if (inflateReset(z) != Z_OK)
		return err_set(err, ERR_SYSTEM, "zlib cannot start");
	while (rc != Z_STREAM_END) {
		char *to = buf_reserve(out, BLOCK);
		if (!to)
			return buf_check(out, "what a gzip file holds", err);
		z->next_out = (Bytef *)to;
		z->avail_out = (uInt)BLOCK;
		rc = inflate(z, Z_NO_FLUSH);
		if (rc != Z_OK && rc != Z_STREAM_END)
			return err_set(err, ERR_FORMAT, "damaged or truncated gzip data");
		grown(out, BLOCK - z->avail_out);
	}
	return 0;
}

int decompress_gz(const void *p, size_t n, struct buf *out, struct err *err)
{
	z_stream z = {.next_in = (Bytef *)p, .avail_in = (uInt)n};
	if (inflateInit2(&z, GZIP_WRAP + MAX_WBITS) != Z_OK)
		return err_set(err, ERR_SYSTEM, "zlib cannot start");
	int rc = 0;
	while (rc == 0 && z.avail_in)
		rc = inflate_member(&z, out, err);
	inflateEnd(&z);
	return rc;
}

static void free_dctx(ZSTD_DCtx **d)
{
	ZSTD_freeDCtx(*d);
}

int decompress_zst(const void *p, size_t n, struct buf *out, struct err *err)
{
	_cleanup_(free_dctx) ZSTD_DCtx *d = ZSTD_createDCtx();
	ZSTD_inBuffer in = {p, n, 0};
	size_t left = 0;
	bool full = false;
	while (d && (in.pos < n || (left && full))) {
		char *to = buf_reserve(out, BLOCK);
		if (!to)
			return buf_check(out, "what a zstd file holds", err);
		ZSTD_outBuffer o = {to, BLOCK, 0};
		left = ZSTD_decompressStream(d, &o, &in);
		if (ZSTD_isError(left))
			return err_set(
			    err, ERR_FORMAT, "damaged zstd data: %s", ZSTD_getErrorName(left));
		grown(out, o.pos);
		full = o.pos == o.size;
	}
	if (!d || left)
		return err_set(err, ERR_FORMAT, "damaged or truncated zstd data");
	return 0;
}
