#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "err.h"
#include "path.h"
#include "txn.h"
#include "xalloc.h"

/* A rename would take a device or socket away from all who use it. */
static int check_target(const char *path, struct err *err)
{
	struct stat st;
	if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
		return 0;
	return err_set(err, ERR_SYSTEM,
	    "'%s' is there and is no regular file: move it away, or name another", path);
}

int outfile_open(struct outfile *o, const char *path, mode_t mode, struct err *err)
{
	_free_ char *tmp = xasprintf("%s.XXXXXX", path);
	if (check_target(path, err) < 0)
		return -1;
	int fd = txn_fault("open") < 0 ? -1 : mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "cannot create '%s'", path);
	o->fd = fd;
	o->path = xstrdup(path);
	o->tmp = take_ptr(tmp);
	if (fchmod(fd, mode) < 0)
		return err_sys(err, "cannot set the mode of '%s'", o->tmp);
	return 0;
}

int outfile_write(struct outfile *o, const void *p, size_t n, struct err *err)
{
	const char *from = p;
	while (n) {
		ssize_t done = txn_fault("write") < 0 ? -1 : write(o->fd, from, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_sys(err, "cannot write '%s'", o->path);
		from += done;
		n -= (size_t)done;
	}
	return 0;
}

static int fsync_dir_of(const char *path)
{
	_free_ char *dir = path_dir(path);
	_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || txn_fault("fsync") < 0 ? -1 : fsync(fd);
}

static int commit(struct outfile *o, bool durable, struct err *err)
{
	if (durable && (txn_fault("fsync") < 0 || fsync(o->fd) < 0))
		return err_sys(err, "cannot write '%s'", o->path);
	if (close(take_fd(&o->fd)) < 0)
		return err_sys(err, "cannot write '%s'", o->path);
	if (txn_fault("rename") < 0 || rename(o->tmp, o->path) < 0)
		return err_sys(err, "cannot rename '%s' to '%s'", o->tmp, o->path);
	free(take_ptr(o->tmp));
	if (durable && fsync_dir_of(o->path) < 0)
		return err_sys(err, "cannot write the folder of '%s'", o->path);
	return 0;
}

int outfile_commit(struct outfile *o, struct err *err)
{
	return commit(o, true, err);
}

int outfile_commit_cache(struct outfile *o, struct err *err)
{
	return commit(o, false, err);
}

void outfile_done(struct outfile *o)
{
	close_fd(&o->fd);
	o->fd = -1;
	if (o->tmp)
		unlink(o->tmp);
	free(o->tmp);
	free(o->path);
	o->tmp = o->path = NULL;
}

int outfile_put(const char *path, mode_t mode, const void *p, size_t n, struct err *err)
{
	_cleanup_(outfile_done) struct outfile o = OUTFILE_INIT;
	if (outfile_open(&o, path, mode, err) < 0 || outfile_write(&o, p, n, err) < 0)
		return -1;
	return outfile_commit(&o, err);
}

int outfile_put_if_changed(const char *path, mode_t mode, const void *p, size_t n, struct err *err)
{
	_cleanup_(buf_done) struct buf old = BUF_INIT(n);
	struct stat st;
	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size == n &&
	    path_read(path, &old, NULL) == 0 && (n == 0 || !memcmp(old.data, p, n)))
		return 0;
	return outfile_put(path, mode, p, n, err);
}
