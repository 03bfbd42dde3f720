#include "tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../base/err.h"
#include "../base/limits.h"
#include "../base/outfile.h"
#include "../base/xalloc.h"

#define BLOCK ((size_t)1 << 17)

/* Each worker of zstd at level 19 takes tens of megabytes. */
#define WORKERS_MAX 8

struct tar_writer {
	struct archive *archive;
	struct archive_entry *entry;
	struct outfile *out;
	struct err sink_err; /* why the write callback failed */
	time_t mtime;
	char *name;
};

static la_ssize_t sink(struct archive *a, void *arg, const void *p, size_t n)
{
	struct tar_writer *t = arg;
	if (outfile_write(t->out, p, n, &t->sink_err) < 0) {
		archive_set_error(a, errno, "%s", t->sink_err.msg);
		return -1;
	}
	return (la_ssize_t)n;
}

static int fail(struct tar_writer *t, struct err *err)
{
	if (t->sink_err.code) {
		if (err)
			*err = t->sink_err;
		return -1;
	}
	const char *why = archive_error_string(t->archive);
	return err_set(err, ERR_SYSTEM, "cannot write %s: %s", t->name, why ? why : "no reason");
}

/*
 * zstd gives the same bytes with any number of workers from one up (other than with none), so
 * that all CPUs may help; xz does not.
 */
static const char *workers(bool xz, char text[16])
{
	unsigned n = xz ? 1 : limits_cpus("");
	snprintf(text, 16, "%u", n > WORKERS_MAX ? WORKERS_MAX : n);
	return text;
}

static int set_filter(struct archive *a, enum deb_compress compress)
{
	bool xz = compress == DEB_XZ;
	char threads[16];
	const char *filter = xz ? "xz" : "zstd";
	int r = xz ? archive_write_add_filter_xz(a) : archive_write_add_filter_zstd(a);
	/* Other numbers than OK mean an external program or an unknown option: other bytes. */
	if (r != ARCHIVE_OK ||
	    archive_write_set_filter_option(a, filter, "compression-level", xz ? "6" : "19") ||
	    archive_write_set_filter_option(a, filter, "threads", workers(xz, threads)))
		return -1;
	return 0;
}

struct tar_writer *tar_writer_new(struct outfile *out, enum deb_compress compress, time_t mtime,
    const char *name, struct err *err)
{
	struct tar_writer *t = xcalloc(1, sizeof *t);
	t->archive = archive_write_new();
	t->entry = archive_entry_new();
	t->out = out;
	t->mtime = mtime;
	t->name = xstrdup(name);
	if (archive_write_set_format_gnutar(t->archive) != ARCHIVE_OK ||
	    set_filter(t->archive, compress) < 0 ||
	    archive_write_set_bytes_in_last_block(t->archive, 1) != ARCHIVE_OK ||
	    archive_write_open(t->archive, t, NULL, sink, NULL) != ARCHIVE_OK) {
		fail(t, err);
		tar_writer_free(t);
		return NULL;
	}
	return t;
}

void tar_writer_free(struct tar_writer *t)
{
	if (!t)
		return;
	archive_write_free(t->archive);
	archive_entry_free(t->entry);
	free(t->name);
	free(t);
}

static int put_header(struct tar_writer *t, const char *rel, unsigned type, unsigned mode,
    uint64_t size, const char *target, struct err *err)
{
	struct archive_entry *e = archive_entry_clear(t->entry);
	bool dir = type == AE_IFDIR;
	_free_ char *name = xasprintf("./%s%s", rel, dir && *rel ? "/" : "");
	archive_entry_set_pathname(e, name);
	archive_entry_set_filetype(e, type);
	archive_entry_set_perm(e, (mode_t)mode);
	archive_entry_set_size(e, (la_int64_t)size);
	archive_entry_set_mtime(e, t->mtime, 0);
	archive_entry_set_uid(e, 0);
	archive_entry_set_gid(e, 0);
	archive_entry_set_uname(e, "root");
	archive_entry_set_gname(e, "root");
	if (target)
		archive_entry_set_symlink(e, target);
	return archive_write_header(t->archive, e) == ARCHIVE_OK ? 0 : fail(t, err);
}

static int put_data(struct tar_writer *t, const void *p, size_t n, struct err *err)
{
	la_ssize_t done = n ? archive_write_data(t->archive, p, n) : 0;
	return done == (la_ssize_t)n ? 0 : fail(t, err);
}

int tar_add_dir(struct tar_writer *t, const char *rel, struct err *err)
{
	return put_header(t, rel, AE_IFDIR, 0755, 0, NULL, err);
}

int tar_add_link(struct tar_writer *t, const char *rel, const char *target, struct err *err)
{
	return put_header(t, rel, AE_IFLNK, 0777, 0, target, err);
}

int tar_add_bytes(
    struct tar_writer *t, const char *rel, unsigned mode, const void *p, size_t n, struct err *err)
{
	if (put_header(t, rel, AE_IFREG, mode, n, NULL, err) < 0)
		return -1;
	return put_data(t, p, n, err);
}

int tar_add_file(struct tar_writer *t, const char *rel, unsigned mode, int fd, uint64_t size,
    const char *full, char md5[DIGEST_HEX_MAX], struct err *err)
{
	if (put_header(t, rel, AE_IFREG, mode, size, NULL, err) < 0)
		return -1;
	_free_ char *block = xmalloc(BLOCK);
	_cleanup_(digest_clear) struct digest *d = digest_new(DIGEST_MD5);
	while (size) {
		ssize_t n = read(fd, block, size < BLOCK ? (size_t)size : BLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "cannot read '%s'", full);
		if (n == 0)
			return err_set(err, ERR_CONFLICT,
			    "'%s' became shorter while it was packed: build again", full);
		digest_update(d, block, (size_t)n);
		if (put_data(t, block, (size_t)n, err) < 0)
			return -1;
		size -= (uint64_t)n;
	}
	digest_finish_hex(take_ptr(d), md5);
	return 0;
}

int tar_writer_close(struct tar_writer *t, struct err *err)
{
	return archive_write_close(t->archive) == ARCHIVE_OK ? 0 : fail(t, err);
}
