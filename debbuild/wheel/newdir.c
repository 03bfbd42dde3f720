#include "newdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/txn.h"
#include "../../lib/base/xalloc.h"

int newdir_open(struct newdir *d, const char *path, struct err *err)
{
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	d->path = xstrndup(path, n);
	if (path_mkdirs_for(d->path, err) < 0)
		return -1;
	d->tmp = xasprintf("%s.part", d->path);
	if (path_remove_tree(d->tmp, err) < 0)
		return -1;
	if (txn_fault("mkdir") < 0 || mkdir(d->tmp, 0700) < 0)
		return err_sys(err, "cannot create the folder '%s'", d->tmp);
	if (chmod(d->tmp, 0755) < 0)
		return err_sys(err, "cannot set the mode of '%s'", d->tmp);
	return 0;
}

static int make_folder(struct newdir *d, struct err *err)
{
	_free_ char *folder = path_dir(d->file);
	if (str_eq(folder, d->folder))
		return 0;
	free(d->folder);
	d->folder = take_ptr(folder);
	return path_mkdirs(d->folder, err);
}

int newdir_create(struct newdir *d, const char *name, mode_t mode, struct err *err)
{
	d->file = path_join(d->tmp, name);
	d->digest = digest_new(DIGEST_SHA256);
	if (make_folder(d, err) < 0)
		return -1;
	if (txn_fault("open") == 0)
		d->fd = open(d->file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (d->fd < 0 || fchmod(d->fd, mode) < 0)
		return err_sys(err, "cannot create '%s'", d->file);
	return 0;
}

int newdir_write(void *arg, const void *p, size_t n, struct err *err)
{
	struct newdir *d = arg;
	const char *from = p;
	digest_update(d->digest, p, n);
	while (n) {
		ssize_t done = txn_fault("write") < 0 ? -1 : write(d->fd, from, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_sys(err, "cannot write '%s'", d->file);
		from += done;
		n -= (size_t)done;
	}
	return 0;
}

int newdir_finish(struct newdir *d, char hex[SHA256_HEX], struct err *err)
{
	char all[DIGEST_HEX_MAX];
	digest_finish_hex(take_ptr(d->digest), all);
	memcpy(hex, all, SHA256_HEX);
	if (close(take_fd(&d->fd)) < 0)
		return err_sys(err, "cannot write '%s'", d->file);
	free(take_ptr(d->file));
	return 0;
}

int newdir_commit(struct newdir *d, struct err *err)
{
	_close_ int fd = open(d->tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || txn_fault("fsync") < 0 || syncfs(fd) < 0)
		return err_sys(err, "cannot write '%s'", d->tmp);
	if (txn_fault("rename") < 0 || rename(d->tmp, d->path) < 0) {
		if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
			return err_set(err, ERR_CONFLICT,
			    "'%s' is there already and is no empty folder: move it away", d->path);
		return err_sys(err, "cannot rename '%s' to '%s'", d->tmp, d->path);
	}
	free(take_ptr(d->tmp));
	return 0;
}

void newdir_done(struct newdir *d)
{
	close_fd(&d->fd);
	digest_free(d->digest);
	if (d->tmp)
		(void)!path_remove_tree(d->tmp, NULL);
	free(d->file);
	free(d->folder);
	free(d->tmp);
	free(d->path);
	*d = (struct newdir)NEWDIR_INIT;
}
