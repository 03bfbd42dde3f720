#include "path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "buf.h"
#include "err.h"
#include "intr.h"
#include "outfile.h"
#include "strv.h"
#include "xalloc.h"

char *path_join(const char *dir, const char *name)
{
	if (name[0] == '/' || !*dir)
		return xstrdup(name);
	return xasprintf("%s%s%s", dir, str_ends(dir, "/") ? "" : "/", name);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

char *path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

char *path_absolute(const char *path, struct err *err)
{
	_free_ char *full = NULL;
	if (path[0] == '/') {
		full = xstrdup(path);
	} else {
		_free_ char *cwd = getcwd(NULL, 0);
		if (!cwd) {
			err_sys(err, "cannot tell the working folder");
			return NULL;
		}
		full = path_join(cwd, path);
	}
	_cleanup_(strv_done) struct strv parts = STRV_INIT;
	strv_split(&parts, full, "/");
	_cleanup_(strv_done) struct strv kept = STRV_INIT;
	for (size_t i = 0; i < parts.n; i++) {
		if (!strcmp(parts.v[i], "."))
			continue;
		if (!strcmp(parts.v[i], "..")) {
			if (kept.n)
				free(take_ptr(kept.v[--kept.n]));
			continue;
		}
		strv_add(&kept, parts.v[i]);
	}
	_free_ char *joined = strv_join(&kept, "/");
	return xasprintf("/%s", joined);
}

bool path_is_safe_member(const char *name)
{
	if (!*name || name[0] == '/' || strpbrk(name, "\n\r"))
		return false;
	for (const char *p = name;;) {
		size_t n = strcspn(p, "/");
		if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		if (!p[n])
			return true;
		p += n + 1;
	}
}

bool path_exists(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0;
}

char *path_follow(const char *path)
{
	struct stat st;
	char *real = lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;
	return real ? real : xstrdup(path);
}

bool path_is_dir(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool path_is_exec(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static int make_dir(const char *path, struct err *err)
{
	if (mkdir(path, 0777) == 0)
		return chmod(path, 0755) == 0 ? 0
					      : err_sys(err, "cannot set the mode of '%s'", path);
	int saved = errno;
	if (path_is_dir(path))
		return 0;
	if (saved == EEXIST)
		return err_set(err, ERR_SYSTEM,
		    "'%s' is there and is no folder: move it away, or name another", path);
	errno = saved;
	return err_sys(err, "cannot make the folder '%s'", path);
}

int path_mkdirs(const char *path, struct err *err)
{
	if (path_is_dir(path))
		return 0;
	_free_ char *work = xstrdup(path);
	for (char *p = work; *p; p++) {
		if (*p != '/' || p == work)
			continue;
		*p = '\0';
		if (make_dir(work, err) < 0)
			return -1;
		*p = '/';
	}
	return make_dir(work, err);
}

int path_mkdirs_for(const char *path, struct err *err)
{
	_free_ char *dir = path_dir(path);
	return path_mkdirs(dir, err);
}

int path_read(const char *path, struct buf *b, struct err *err)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "cannot read '%s'", path);
	for (;;) {
		char block[65536];
		ssize_t n = read(fd, block, sizeof block);
		if (n < 0 && errno == EINTR && intr_check(err) == 0)
			continue;
		if (n < 0)
			return err_sys(err, "cannot read '%s'", path);
		if (n == 0)
			return 0;
		buf_append(b, block, (size_t)n);
		_free_ char *what = b->failed ? xasprintf("'%s'", path) : NULL;
		if (b->failed)
			return buf_check(b, what, err);
	}
}

char *path_find_program(const char *name, const char *search)
{
	if (strchr(name, '/'))
		return path_is_exec(name) ? xstrdup(name) : NULL;
	if (!search)
		search = getenv("PATH");
	_cleanup_(strv_done) struct strv dirs = STRV_INIT;
	strv_split(&dirs, search ? search : "/usr/bin:/bin", ":");
	for (size_t i = 0; i < dirs.n; i++) {
		_free_ char *full = path_join(dirs.v[i], name);
		if (path_is_exec(full))
			return take_ptr(full);
	}
	return NULL;
}

int path_copy(const char *from, const char *to, mode_t mode, struct err *err)
{
	_close_ int in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return err_sys(err, "cannot read '%s'", from);
	_cleanup_(outfile_done) struct outfile o = OUTFILE_INIT;
	if (outfile_open(&o, to, mode, err) < 0)
		return -1;
	_free_ char *block = xmalloc(1 << 18);
	for (;;) {
		ssize_t n = read(in, block, 1 << 18);
		if (n < 0)
			return err_sys(err, "cannot read '%s'", from);
		if (n == 0)
			return outfile_commit_cache(&o, err);
		if (outfile_write(&o, block, (size_t)n, err) < 0)
			return -1;
	}
}

int path_free_bytes(const char *path, uint64_t *out, struct err *err)
{
	_free_ char *at = xstrdup(path);
	struct statvfs vfs;
	while (statvfs(at, &vfs) < 0) {
		if (errno != ENOENT || !strcmp(at, "/") || !strcmp(at, "."))
			return err_sys(err, "cannot tell the free space at '%s'", path);
		char *parent = path_dir(at);
		free(at);
		at = parent;
	}
	*out = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	return 0;
}

char *path_cache_dir(struct err *err)
{
	const char *own = getenv("DEBKIT_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
		   *home = getenv("HOME");
	if (own && *own)
		return path_absolute(own, err);
	if (xdg && xdg[0] == '/')
		return path_join(xdg, "debkit");
	if (home && home[0] == '/')
		return path_join(home, ".cache/debkit");
	err_set(err, ERR_USAGE, "no place for the cache: set DEBKIT_CACHE or HOME");
	return NULL;
}

char *path_templates_dir(struct err *err)
{
	const char *own = getenv("DEBKIT_TEMPLATES");
	if (own && *own)
		return path_absolute(own, err);
	/* A program in build/CONFIG/debkit of the source tree uses the tree's templates. */
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (n > 0) {
		exe[n] = '\0';
		_free_ char *dir = path_dir(exe);
		_free_ char *beside = xasprintf("%s/../../templates", dir);
		_free_ char *mark = path_join(beside, "matrix");
		if (path_exists(mark))
			return path_absolute(beside, err);
	}
	if (path_is_dir(DEBKIT_DATADIR "/templates"))
		return xstrdup(DEBKIT_DATADIR "/templates");
	err_set(err, ERR_SYSTEM,
	    "templates not found in '%s': reinstall debkit or set DEBKIT_TEMPLATES",
	    DEBKIT_DATADIR "/templates");
	return NULL;
}
