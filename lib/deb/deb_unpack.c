#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/arena.h"
#include "../base/err.h"
#include "../base/outfile.h"
#include "../base/path.h"
#include "../base/xalloc.h"
#include "ar.h"
#include "deb.h"

#define BLOCK ((size_t)1 << 17)

struct unpacker {
	const char *dir;
	int fd; /* of the file being written, or -1 */
};

static void unpacker_done(struct unpacker *u)
{
	close_fd(&u->fd);
}

/* Regular files come first, links after all of them: nothing is written through a link. */
static int write_file(void *arg, const struct deb_file *f, const void *p, size_t n, struct err *err)
{
	struct unpacker *u = arg;
	if (u->fd < 0) {
		_free_ char *full = path_join(u->dir, f->path);
		if (path_mkdirs_for(full, err) < 0)
			return -1;
		u->fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (u->fd < 0 || fchmod(u->fd, f->mode & 0777) < 0)
			return err_sys(err, "cannot create '%s'", full);
	}
	if (n == 0)
		return close(take_fd(&u->fd)) < 0 ? err_sys(err, "cannot write '%s'", f->path) : 0;
	for (const char *from = p; n;) {
		ssize_t done = write(u->fd, from, n);
		if (done < 0 && errno != EINTR)
			return err_sys(err, "cannot write '%s'", f->path);
		from += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

/* Makes what is of this type. */
static int make_type(const char *dir, const struct deb_info *info, char type, struct err *err)
{
	for (size_t i = 0; i < info->n_files; i++) {
		const struct deb_file *f = &info->files[i];
		if (f->type != type)
			continue;
		_free_ char *full = path_join(dir, f->path);
		if (type == 'd') {
			if (path_mkdirs(full, err) < 0)
				return -1;
			continue;
		}
		_free_ char *target = type == 'h' ? path_join(dir, f->link) : xstrdup(f->link);
		if (path_mkdirs_for(full, err) < 0)
			return -1;
		if ((type == 'h' ? link(target, full) : symlink(target, full)) < 0)
			return err_sys(err, "cannot make the link '%s'", full);
	}
	return 0;
}

int deb_unpack(const char *path, const char *dir, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(unpacker_done) struct unpacker u = {.dir = dir, .fd = -1};
	struct deb_info info;
	if (path_mkdirs(dir, err) < 0 ||
	    deb_read(&a, path, DEB_READ_FILES | DEB_READ_SIGNED, write_file, &u, &info, err) < 0)
		return -1;
	for (const char *type = "dhl"; *type; type++)
		if (make_type(dir, &info, *type, err) < 0)
			return -1;
	return 0;
}

/* Copies the bytes from..to of the open file. */
static int copy_range(struct outfile *out, int fd, uint64_t from, uint64_t to, struct err *err)
{
	_free_ char *block = xmalloc(BLOCK);
	while (from < to) {
		size_t want = to - from < BLOCK ? (size_t)(to - from) : BLOCK;
		ssize_t n = pread(fd, block, want, (off_t)from);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "cannot read");
		if (n == 0)
			return err_set(err, ERR_FORMAT, "truncated while it was read");
		if (outfile_write(out, block, (size_t)n, err) < 0)
			return -1;
		from += (uint64_t)n;
	}
	return 0;
}

static int copy_others(struct ar_reader *ar, struct outfile *out, const char *name, struct err *err)
{
	struct deb_member m;
	int r;
	if (copy_range(out, ar->fd, 0, AR_MAGIC_LEN, err) < 0)
		return -1;
	while ((r = ar_next(ar, &m, err)) > 0)
		if (strcmp(m.name, name) != 0 && copy_range(out, ar->fd, m.offset - AR_HEADER_LEN,
						     m.offset + m.size + (m.size & 1), err) < 0)
			return -1;
	return r;
}

/* The copy belongs to whom the package did, where that can be, and is readable for the same. */
static int keep_mode(int from, struct outfile *o, struct err *err)
{
	struct stat st;
	if (fstat(from, &st) < 0 || fchmod(o->fd, st.st_mode & 0777) < 0)
		return err_sys(err, "cannot set the mode of '%s'", o->tmp);
	return fchown(o->fd, st.st_uid, st.st_gid) < 0 && errno != EPERM
		   ? err_sys(err, "cannot set the owner of '%s'", o->tmp)
		   : 0;
}

int deb_append_member(const char *path, const char *out, const char *name, const void *p, size_t n,
    time_t mtime, struct err *err)
{
	if (!*name || strlen(name) > 16 || strpbrk(name, "/ \n"))
		return err_set(err, ERR_FORMAT, "'%s' cannot be the name of an ar member", name);
	_cleanup_(ar_close) struct ar_reader ar = AR_READER_INIT;
	_cleanup_(outfile_done) struct outfile o = OUTFILE_INIT;
	const struct ar_part part = {.name = name, .p = p, .size = n, .fd = -1};
	if (ar_open(&ar, path, 0, err) < 0 || outfile_open(&o, out, 0600, err) < 0 ||
	    keep_mode(ar.fd, &o, err) < 0 || copy_others(&ar, &o, name, err) < 0 ||
	    ar_append(&o, &part, mtime, err) < 0)
		return err_wrap(err, "'%s'", path);
	return outfile_commit(&o, err);
}
