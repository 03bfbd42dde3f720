#include "merge.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"

/* The nearest folder above that is there must be to itself or lie in it, links followed. */
static int check_inside(const char *to, const char *target, const char *what, struct err *err)
{
	_free_ char *top = realpath(to, NULL);
	_free_ char *dir = path_dir(target);
	struct stat st;
	while (strlen(dir) > strlen(to) && stat(dir, &st) < 0) {
		char *up = path_dir(dir);
		free(dir);
		dir = up;
	}
	_free_ char *real = realpath(dir, NULL);
	if (!top || !real)
		return err_sys(err, "cannot look at '%s'", dir);
	size_t n = strlen(top);
	if (!strncmp(real, top, n) && (real[n] == '\0' || real[n] == '/'))
		return 0;
	return err_set(err, ERR_FORMAT, "%s: '%s' lies behind a link that leads out to '%s'", what,
	    target, real);
}

static bool same_link(const char *a, const char *b)
{
	char x[PATH_MAX], y[PATH_MAX];
	ssize_t n = readlink(a, x, sizeof x), m = readlink(b, y, sizeof y);
	return n > 0 && n == m && !memcmp(x, y, (size_t)n);
}

int merge_tree(const char *from, const char *to, const char *what, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_mkdirs(to, err) < 0 || path_walk(from, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		_free_ char *source = path_join(from, names.v[i]);
		_free_ char *target = path_join(to, names.v[i]);
		if (check_inside(to, target, what, err) < 0 || path_mkdirs_for(target, err) < 0)
			return -1;
		if (path_exists(target)) {
			if (same_link(source, target))
				continue;
			return err_set(err, ERR_CONFLICT, "%s: another package has '%s' too", what,
			    names.v[i]);
		}
		if (rename(source, target) < 0)
			return err_sys(err, "cannot rename '%s' to '%s'", source, target);
	}
	return 0;
}
