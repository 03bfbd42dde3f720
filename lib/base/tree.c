/* The functions of path.h that read or remove whole folders. */
#include "path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "err.h"
#include "strv.h"
#include "xalloc.h"

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

int path_list(const char *dir, struct strv *names, struct err *err)
{
	_cleanup_(close_dir) DIR *d = opendir(dir);
	if (!d)
		return err_sys(err, "cannot list '%s'", dir);
	_cleanup_(strv_done) struct strv found = STRV_INIT;
	for (;;) {
		errno = 0;
		struct dirent *e = readdir(d);
		if (!e)
			break;
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			strv_add(&found, e->d_name);
	}
	if (errno)
		return err_sys(err, "cannot list '%s'", dir);
	strv_sort(&found);
	strv_add_all(names, &found);
	return 0;
}

static int walk(const char *top, const char *rel, struct strv *names, struct err *err)
{
	_free_ char *dir = *rel ? path_join(top, rel) : xstrdup(top);
	_cleanup_(strv_done) struct strv here = STRV_INIT;
	if (path_list(dir, &here, err) < 0)
		return -1;
	for (size_t i = 0; i < here.n; i++) {
		_free_ char *name = path_join(rel, here.v[i]);
		_free_ char *full = path_join(top, name);
		struct stat st;
		if (lstat(full, &st) < 0)
			return err_sys(err, "cannot look at '%s'", full);
		if (S_ISDIR(st.st_mode) && walk(top, name, names, err) < 0)
			return -1;
		if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
			strv_add(names, name);
	}
	return 0;
}

int path_walk(const char *dir, struct strv *names, struct err *err)
{
	_cleanup_(strv_done) struct strv found = STRV_INIT;
	if (walk(dir, "", &found, err) < 0)
		return -1;
	strv_sort(&found);
	strv_add_all(names, &found);
	return 0;
}

int path_sync(const char *dir, struct err *err)
{
	_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || syncfs(fd) < 0 ? err_sys(err, "cannot write '%s'", dir) : 0;
}

static int remove_in(int dirfd, const char *name, const char *shown, struct err *err)
{
	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return err_sys(err, "cannot remove '%s'", shown);
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "cannot remove '%s'", shown);
	_cleanup_(close_dir) DIR *d = fdopendir(fd);
	if (!d) {
		close(fd);
		return err_sys(err, "cannot remove '%s'", shown);
	}
	for (struct dirent *e; (e = readdir(d));) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		_free_ char *inner = path_join(shown, e->d_name);
		if (remove_in(fd, e->d_name, inner, err) < 0)
			return -1;
	}
	if (unlinkat(dirfd, name, AT_REMOVEDIR) < 0)
		return err_sys(err, "cannot remove '%s'", shown);
	return 0;
}

int path_remove_tree(const char *path, struct err *err)
{
	return remove_in(AT_FDCWD, path, path, err);
}
