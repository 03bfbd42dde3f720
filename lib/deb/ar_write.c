#include "ar.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/err.h"
#include "../base/outfile.h"
#include "../base/xalloc.h"
#include "deb.h"

#define BLOCK ((size_t)1 << 17)

struct ar_sink {
	struct outfile *out;
	size_t skip; /* bytes at the front that are not written */
};

static la_ssize_t sink(struct archive *a, void *arg, const void *p, size_t n)
{
	struct ar_sink *s = arg;
	struct err why = {0};
	size_t skip = n < s->skip ? n : s->skip;
	if (outfile_write(s->out, (const char *)p + skip, n - skip, &why) < 0) {
		archive_set_error(a, errno, "%s", why.msg);
		return -1;
	}
	s->skip -= skip;
	return (la_ssize_t)n;
}

static void free_archive(struct archive **a)
{
	archive_write_free(*a);
}

static void free_entry(struct archive_entry **e)
{
	archive_entry_free(*e);
}

static int fail(struct archive *a, struct err *err)
{
	const char *why = archive_error_string(a);
	return err_set(err, ERR_SYSTEM, "%s", why ? why : "cannot write the archive");
}

static int put_fd(struct archive *a, int fd, uint64_t size, struct err *err)
{
	_free_ char *block = xmalloc(BLOCK);
	for (uint64_t at = 0; at < size;) {
		ssize_t n = pread(fd, block, BLOCK, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(err, "cannot read a temporary file");
		if (archive_write_data(a, block, (size_t)n) != n)
			return fail(a, err);
		at += (uint64_t)n;
	}
	return 0;
}

static int put_part(struct archive *a, const struct ar_part *part, time_t mtime, struct err *err)
{
	uint64_t size = part->size;
	struct stat st;
	if (!part->p) {
		if (fstat(part->fd, &st) < 0)
			return err_sys(err, "cannot look at a temporary file");
		size = (uint64_t)st.st_size;
	}
	_cleanup_(free_entry) struct archive_entry *e = archive_entry_new();
	archive_entry_set_pathname(e, part->name);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0644);
	archive_entry_set_size(e, (la_int64_t)size);
	archive_entry_set_mtime(e, mtime, 0);
	if (archive_write_header(a, e) != ARCHIVE_OK)
		return fail(a, err);
	if (!part->p)
		return put_fd(a, part->fd, size, err);
	return archive_write_data(a, part->p, part->size) == (la_ssize_t)size ? 0 : fail(a, err);
}

static int write_parts(
    struct ar_sink *to, const struct ar_part *parts, size_t n, time_t mtime, struct err *err)
{
	_cleanup_(free_archive) struct archive *a = archive_write_new();
	if (archive_write_set_format_ar_bsd(a) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(a, 1) != ARCHIVE_OK ||
	    archive_write_open(a, to, NULL, sink, NULL) != ARCHIVE_OK)
		return fail(a, err);
	for (size_t i = 0; i < n; i++)
		if (put_part(a, &parts[i], mtime, err) < 0)
			return -1;
	return archive_write_close(a) == ARCHIVE_OK ? 0 : fail(a, err);
}

int ar_write(
    struct outfile *out, const struct ar_part *parts, size_t n, time_t mtime, struct err *err)
{
	return write_parts(&(struct ar_sink){.out = out}, parts, n, mtime, err);
}

int ar_append(struct outfile *out, const struct ar_part *part, time_t mtime, struct err *err)
{
	struct ar_sink to = {.out = out, .skip = AR_MAGIC_LEN};
	return write_parts(&to, part, 1, mtime, err);
}
