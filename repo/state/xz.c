#include "xz.h"

#include <lzma.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/xalloc.h"

#define CHECK  LZMA_CHECK_CRC64
#define PRESET 6
#define DICT   ((uint32_t)1 << 20) /* a piece: a larger one is memory for nothing */

struct xz_index {
	lzma_index *list;
};

static int failed(const char *what, lzma_ret rc, struct err *err)
{
	return err_set(err, ERR_SYSTEM, "xz: cannot %s (liblzma says %d)", what, (int)rc);
}

int xz_header(struct buf *out, struct err *err)
{
	lzma_stream_flags flags = {.version = 0, .check = CHECK};
	uint8_t bytes[LZMA_STREAM_HEADER_SIZE];
	lzma_ret rc = lzma_stream_header_encode(&flags, bytes);
	if (rc != LZMA_OK)
		return failed("write a header", rc, err);
	buf_append(out, bytes, sizeof bytes);
	return 0;
}

int xz_block(const void *p, size_t n, struct buf *out, struct err *err)
{
	lzma_options_lzma options;
	if (lzma_lzma_preset(&options, PRESET))
		return failed("find its preset", LZMA_OPTIONS_ERROR, err);
	options.dict_size = DICT;
	lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
	lzma_block block = {.version = 0, .check = CHECK, .filters = filters};
	size_t room = lzma_block_buffer_bound(n), made = 0;
	char *to = buf_reserve(out, room);
	lzma_ret rc = to ? lzma_block_buffer_encode(&block, NULL, p, n, (uint8_t *)to, &made, room)
			 : LZMA_MEM_ERROR;
	if (rc != LZMA_OK)
		return failed("pack", rc, err);
	out->len += made;
	out->data[out->len] = '\0';
	return 0;
}

struct xz_index *xz_index_new(void)
{
	struct xz_index *x = xmalloc(sizeof *x);
	x->list = lzma_index_init(NULL);
	return x;
}

int xz_index_add(struct xz_index *x, const void *p, size_t n, struct err *err)
{
	const uint8_t *bytes = p;
	lzma_filter filters[LZMA_FILTERS_MAX + 1];
	lzma_block block = {.version = 0, .check = CHECK, .filters = filters};
	block.header_size = n ? lzma_block_header_size_decode(bytes[0]) : 0;
	if (n == 0 || bytes[0] == 0 || block.header_size > n)
		return failed("read a block", LZMA_DATA_ERROR, err);
	lzma_ret rc = lzma_block_header_decode(&block, NULL, bytes);
	if (rc != LZMA_OK)
		return failed("read a block", rc, err);
	for (size_t i = 0; filters[i].id != LZMA_VLI_UNKNOWN; i++)
		free(filters[i].options);
	rc = lzma_index_append(
	    x->list, NULL, lzma_block_unpadded_size(&block), block.uncompressed_size);
	return rc == LZMA_OK ? 0 : failed("list a block", rc, err);
}

int xz_index_write(struct xz_index *x, struct buf *out, struct err *err)
{
	size_t size = (size_t)lzma_index_size(x->list), made = 0;
	lzma_stream_flags flags = {.version = 0, .backward_size = size, .check = CHECK};
	uint8_t footer[LZMA_STREAM_HEADER_SIZE];
	char *to = buf_reserve(out, size);
	lzma_ret rc =
	    to ? lzma_index_buffer_encode(x->list, (uint8_t *)to, &made, size) : LZMA_MEM_ERROR;
	if (rc == LZMA_OK)
		rc = lzma_stream_footer_encode(&flags, footer);
	if (rc != LZMA_OK)
		return failed("write the list of blocks", rc, err);
	out->len += made;
	buf_append(out, footer, sizeof footer);
	return 0;
}

void xz_index_free(struct xz_index *x)
{
	if (!x)
		return;
	lzma_index_end(x->list, NULL);
	free(x);
}
