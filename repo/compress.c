#include "compress.h"

#include <zlib.h>
#include <zstd.h>

#include "../debbuild/base/buf.h"
#include "../debbuild/base/err.h"

#define GZ_LEVEL  6
#define ZST_LEVEL 12
#define GZIP_WRAP 16 /* added to the window bits: a gzip member, not a zlib stream */

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
	out->len += made;
	return 0;
}

int compress_zst(const void *p, size_t n, struct buf *out, struct err *err)
{
	size_t room = ZSTD_compressBound(n);
	char *to = buf_reserve(out, room);
	size_t made = to ? ZSTD_compress(to, room, p, n, ZST_LEVEL) : 0;
	if (!to || ZSTD_isError(made))
		return err_set(err, ERR_SYSTEM, "zstd cannot compress %zu bytes", n);
	out->len += made;
	return 0;
}
