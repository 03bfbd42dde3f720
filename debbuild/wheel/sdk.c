#include "sdk.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "pyindex.h"
#include "wheel.h"

#define STAMP	  ".debkit-sdk"
#define STAMP_MAX 4096

static bool want(void *arg, const char *member)
{
	return str_starts(member, "torch/include/") || !strcmp(member, "torch/version.py") ||
	       str_ends(member, ".dist-info/METADATA");
}

/* What the stamp of this SDK says; size is the wheel's. */
static char *stamp_text(
    const char *filename, const char *record_sha256, const char *cuda, const char *size)
{
	return xasprintf("File: %s\nRecord-Sha256: %s\nCuda: %s\nSize: %s\n", filename,
	    record_sha256, cuda, size);
}

/* True if dir holds exactly this SDK; *size gets the size of the wheel that it came from. */
static bool is_there(const char *dir, const char *filename, const char *record_sha256,
    const char *cuda, uint64_t *size)
{
	_free_ char *path = path_join(dir, STAMP);
	_free_ char *head = stamp_text(filename, record_sha256, cuda, "");
	_cleanup_(buf_done) struct buf text = BUF_INIT(STAMP_MAX);
	unsigned long long n;
	if (!path_exists(path) || path_read(path, &text, NULL) < 0)
		return false;
	size_t len = strlen(head) - 1; /* without the newline behind "Size: " */
	if (strncmp(buf_str(&text), head, len) ||
	    str_parse_u64(str_trim(text.data + len), UINT64_MAX, &n) < 0)
		return false;
	*size = n;
	return true;
}

/* The quoted value of the line "KEY...= 'VALUE'" of version.py, or NULL. */
static char *python_value(const char *text, const char *key)
{
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	strv_split(&lines, text, "\r\n");
	for (size_t i = 0; i < lines.n; i++) {
		if (!str_starts(lines.v[i], key))
			continue;
		const char *rest = lines.v[i] + strlen(key);
		if (!strchr(" :=", *rest))
			continue;
		const char *eq = strchr(rest, '=');
		const char *quote = eq ? strpbrk(eq, "'\"") : NULL;
		if (quote)
			return xstrndup(quote + 1, strcspn(quote + 1, "'\""));
	}
	return NULL;
}

/* Name and version of a wheel's file name (PEP 427), without the local part of the version. */
static int split_name(const char *filename, char **project, char **version, struct err *err)
{
	const char *dash = strchr(filename, '-');
	if (!dash || dash == filename || !strchr(dash + 1, '-') || !str_ends(filename, ".whl"))
		return err_set(err, ERR_FORMAT, "'%s' is no file name of a wheel", filename);
	*project = xstrndup(filename, (size_t)(dash - filename));
	*version = xstrndup(dash + 1, strcspn(dash + 1, "-+"));
	return 0;
}

/* version.py must name the version and the CUDA that were asked for. */
static int check_version(
    const char *dir, const char *filename, const char *version, const char *cuda, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(1 << 16);
	_free_ char *path = path_join(dir, "torch/version.py");
	if (path_read(path, &text, err) < 0)
		return err_set(err, ERR_FORMAT,
		    "wheel '%s' has no torch/version.py: it is not the wheel that was meant, check "
		    "the package index",
		    filename);
	_free_ char *has_version = python_value(buf_str(&text), "__version__");
	_free_ char *has_cuda = python_value(buf_str(&text), "cuda");
	size_t n = strlen(version);
	if (!has_version || strncmp(has_version, version, n) || !strchr("+", has_version[n]))
		return err_set(err, ERR_FORMAT,
		    "wheel '%s' holds torch %s, not %s: it is not the wheel that was meant, check "
		    "the package index",
		    filename, has_version ? has_version : "of no version", version);
	if (!has_cuda || strcmp(has_cuda, cuda))
		return err_set(err, ERR_FORMAT,
		    "wheel '%s' is for CUDA %s, not %s: choose another torch or another --cuda",
		    filename, has_cuda ? has_cuda : "none", cuda);
	return 0;
}

/* dir.new, checked and stamped, becomes dir; what dir held without a right stamp is replaced. */
static int install(const char *fresh, const char *dir, const char *stamp, struct err *err)
{
	_free_ char *path = path_join(fresh, STAMP);
	if (outfile_put(path, 0644, stamp, strlen(stamp), err) < 0 ||
	    path_remove_tree(dir, err) < 0)
		return -1;
	if (rename(fresh, dir) < 0)
		return err_sys(err, "cannot rename '%s' to '%s'", fresh, dir);
	return 0;
}

static void remove_tree(char **path)
{
	if (*path)
		(void)!path_remove_tree(*path, NULL);
	free(*path);
}

static int fetch(struct index *x, const char *filename, const char *sha256,
    const char *record_sha256, const char *cuda, const char *dir, uint64_t *size, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *project = NULL, *version = NULL;
	struct index_file file;
	if (split_name(filename, &project, &version, err) < 0 ||
	    index_find_pinned(x, &a, project, filename, sha256, 0, &file, err) < 0 ||
	    (!file.size && index_size(x, file.url, &file.size, err) < 0))
		return -1;
	_cleanup_(remove_tree) char *fresh = xasprintf("%s.new", dir);
	struct wheel_pin pin = {
	    .name = filename, .url = file.url, .size = file.size, .record_sha256 = record_sha256};
	if (path_remove_tree(fresh, err) < 0 ||
	    wheel_extract(x, &pin, want, NULL, fresh, NULL, err) < 0 ||
	    check_version(fresh, filename, version, cuda, err) < 0)
		return -1;
	_free_ char *digits = xasprintf("%llu", (unsigned long long)file.size);
	_free_ char *stamp = stamp_text(filename, record_sha256, cuda, digits);
	*size = file.size;
	return install(fresh, dir, stamp, err);
}

int sdk_fetch(struct index *x, const char *filename, const char *sha256, const char *record_sha256,
    const char *cuda, const char *dir, struct sdk_cost *cost, struct err *err)
{
	unsigned requests, requests_after;
	uint64_t bytes, bytes_after, size = 0;
	*cost = (struct sdk_cost){0};
	if (is_there(dir, filename, record_sha256, cuda, &cost->wheel_bytes))
		return 0;
	index_cost(x, &requests, &bytes);
	int rc = fetch(x, filename, sha256, record_sha256, cuda, dir, &size, err);
	index_cost(x, &requests_after, &bytes_after);
	cost->requests = requests_after - requests;
	cost->bytes = bytes_after - bytes;
	cost->wheel_bytes = size;
	return rc < 0 ? err_wrap(err, "cannot fetch the torch SDK") : 0;
}
