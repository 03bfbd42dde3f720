#include "deb_list.h"

#include <archive.h>
#include <archive_entry.h>

#include "../base/buf.h"
#include "../base/err.h"

#define BLOCK ((size_t)256 << 10)

static void archive_done(struct archive **a)
{
	archive_read_free(*a);
}

/* WARN from a filter would mean that libarchive runs an external program: such a one is left out,
 * and its bytes come as they are. */
static int open_list(struct archive *a, const char *path)
{
	static int (*const filters[])(struct archive *) = {archive_read_support_filter_gzip,
	    archive_read_support_filter_bzip2, archive_read_support_filter_xz,
	    archive_read_support_filter_lz4, archive_read_support_filter_zstd};
	struct archive_entry *e;
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		if (filters[i](a) < ARCHIVE_WARN)
			return ARCHIVE_FATAL;
	if (archive_read_support_format_raw(a) != ARCHIVE_OK ||
	    archive_read_support_format_empty(a) != ARCHIVE_OK ||
	    archive_read_open_filename(a, path, BLOCK) != ARCHIVE_OK)
		return ARCHIVE_FATAL;
	return archive_read_next_header(a, &e);
}

int deb_list_read(const char *path, struct buf *out, struct err *err)
{
	_cleanup_(archive_done) struct archive *a = archive_read_new();
	int rc = open_list(a, path);
	if (rc == ARCHIVE_EOF)
		return 0;
	for (const void *p; rc == ARCHIVE_OK;) {
		size_t n;
		la_int64_t at;
		rc = archive_read_data_block(a, &p, &n, &at);
		if (rc == ARCHIVE_OK)
			buf_append(out, p, n);
		if (out->failed)
			return buf_check(out, path, err);
	}
	if (rc == ARCHIVE_EOF)
		return 0;
	const char *why = archive_error_string(a);
	return err_set(err, ERR_FORMAT, "cannot read '%s': %s", path, why ? why : "damaged");
}
