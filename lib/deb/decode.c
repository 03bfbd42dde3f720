#include "decode.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "../base/err.h"
#include "../base/xalloc.h"
#include "ar.h"

#define BLOCK ((size_t)64 << 10)

/* gzip goes to zlib itself, which checks the CRC; libarchive's gzip filter does not. */
enum kind { KIND_PLAIN, KIND_GZIP, KIND_ARCHIVE };

struct decoder {
	struct ar_reader *r;
	enum kind kind;
	uint64_t left; /* bytes of output still allowed */
	uint64_t max;
	struct err input; /* why the read callback failed */
	struct archive *archive;
	z_stream z;
	bool z_open, z_done; /* z_done: between two gzip members */
	char *block;
};

static la_ssize_t source(struct archive *a, void *arg, const void **p)
{
	struct decoder *d = arg;
	size_t n;
	if (ar_data(d->r, p, &n, &d->input) < 0) {
		archive_set_error(a, EINVAL, "%s", d->input.msg);
		return -1;
	}
	return (la_ssize_t)n;
}

static int fail(struct decoder *d, struct err *err)
{
	if (d->input.code) {
		if (err)
			*err = d->input;
		return -1;
	}
	const char *why = archive_error_string(d->archive);
	return err_set(err, ERR_FORMAT, "cannot decompress: %s", why ? why : "damaged");
}

static int open_archive(struct decoder *d, int filter, struct err *err)
{
	struct archive_entry *e;
	d->archive = archive_read_new();
	/* WARN means that libarchive would run an external program. */
	if (archive_read_append_filter(d->archive, filter) != ARCHIVE_OK ||
	    archive_read_support_format_raw(d->archive) != ARCHIVE_OK ||
	    archive_read_open(d->archive, d, NULL, source, NULL) != ARCHIVE_OK ||
	    archive_read_next_header(d->archive, &e) != ARCHIVE_OK)
		return fail(d, err);
	return 0;
}

static int open_gzip(struct decoder *d)
{
	d->block = xmalloc(BLOCK);
	if (inflateInit2(&d->z, 16 + MAX_WBITS) != Z_OK)
		abort(); /* out of memory, or a zlib of another version */
	d->z_open = true;
	return 0;
}

struct decoder *decoder_new(struct ar_reader *r, const char *ext, uint64_t max, struct err *err)
{
	struct decoder *d = xcalloc(1, sizeof *d);
	d->r = r;
	d->left = d->max = max;
	int status;
	if (!*ext) {
		d->kind = KIND_PLAIN;
		status = 0;
	} else if (!strcmp(ext, ".gz")) {
		d->kind = KIND_GZIP;
		status = open_gzip(d);
	} else if (!strcmp(ext, ".xz") || !strcmp(ext, ".zst")) {
		d->kind = KIND_ARCHIVE;
		status =
		    open_archive(d, ext[1] == 'x' ? ARCHIVE_FILTER_XZ : ARCHIVE_FILTER_ZSTD, err);
	} else {
		status = err_set(err, ERR_FORMAT,
		    "compression '%s' is not supported: use .zst, .xz, .gz or none", ext);
	}
	if (status < 0) {
		decoder_free(d);
		return NULL;
	}
	return d;
}

static int gzip_data(struct decoder *d, size_t *n, struct err *err)
{
	d->z.next_out = (Bytef *)d->block;
	d->z.avail_out = BLOCK;
	while (d->z.avail_out == BLOCK) {
		if (!d->z.avail_in) {
			const void *p;
			size_t in;
			if (ar_data(d->r, &p, &in, err) < 0)
				return -1;
			if (!in && d->z_done)
				break;
			if (!in)
				return err_set(
				    err, ERR_FORMAT, "cannot decompress: truncated gzip data");
			d->z.next_in = (Bytef *)p;
			d->z.avail_in = (uInt)in;
		}
		if (d->z_done && inflateReset(&d->z) != Z_OK)
			abort();
		int r = inflate(&d->z, Z_NO_FLUSH);
		if (r != Z_OK && r != Z_STREAM_END)
			return err_set(err, ERR_FORMAT, "cannot decompress: %s",
			    d->z.msg ? d->z.msg : "damaged gzip data");
		d->z_done = r == Z_STREAM_END;
	}
	*n = BLOCK - d->z.avail_out;
	return 0;
}

static int archive_data(struct decoder *d, const void **p, size_t *n, struct err *err)
{
	la_int64_t offset;
	int r = archive_read_data_block(d->archive, p, n, &offset);
	if (r == ARCHIVE_EOF) {
		*p = "";
		*n = 0;
	} else if (r != ARCHIVE_OK) {
		return fail(d, err);
	}
	return 0;
}

int decoder_data(struct decoder *d, const void **p, size_t *n, struct err *err)
{
	int r;
	if (d->kind == KIND_PLAIN) {
		r = ar_data(d->r, p, n, err);
	} else if (d->kind == KIND_GZIP) {
		*p = d->block;
		r = gzip_data(d, n, err);
	} else {
		r = archive_data(d, p, n, err);
	}
	if (r == 0 && *n > d->left)
		return err_set(
		    err, ERR_FORMAT, "unpacks to more than %llu bytes", (unsigned long long)d->max);
	if (r == 0)
		d->left -= *n;
	return r;
}

void decoder_free(struct decoder *d)
{
	if (!d)
		return;
	if (d->archive)
		archive_read_free(d->archive);
	if (d->z_open)
		inflateEnd(&d->z);
	free(d->block);
	free(d);
}
