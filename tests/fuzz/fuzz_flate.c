/* Bytes as a raw deflate stream from its start, as the end of one, and as a gzip file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../debbuild/wheel/flate.h"

#define MAX ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int rc, const struct err *err)
{
	if (rc < 0 && err->code != ERR_FORMAT)
		abort();
}

/* Fed whole or in two pieces, a stream gives the same. */
static void feed(const uint8_t *data, size_t size, size_t cut, struct buf *out, struct err *err)
{
	struct flate *f = flate_new();
	bool end = false;
	int rc = flate_feed(f, data, cut, out, &end, err);
	if (rc == 0 && !end)
		rc = flate_feed(f, data + cut, size - cut, out, &end, err);
	check(rc, err);
	if (rc < 0)
		buf_truncate(out, 0);
	flate_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(buf_done) struct buf whole = BUF_INIT(MAX), parts = BUF_INIT(MAX);
	_cleanup_(buf_done) struct buf tail = BUF_INIT(MAX), plain = BUF_INIT(MAX);
	struct err err = {0};
	feed(data, size, size, &whole, &err);
	feed(data, size, size / 3, &parts, &err);
	if (whole.len != parts.len || (whole.len && memcmp(whole.data, parts.data, whole.len) != 0))
		abort();
	check(flate_tail(data, size, &tail, &err), &err);
	check(flate_unpack(data, size, &plain, &err), &err);
	return 0;
}
