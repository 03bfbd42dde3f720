/* What the transfers of index.c are used for: pages, ranges, sizes, whole files. */
#include "pyindex.h"

#include <string.h>
#include <unistd.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/digest.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "pyindex_int.h"

#define FETCH_MAX ((uint64_t)4 << 30)

static int write_buf(void *arg, const void *p, size_t n, struct err *err)
{
	struct buf *b = arg;
	buf_append(b, p, n);
	return buf_check(b, "the server's answer", err);
}

static int restart_buf(void *arg, struct err *err)
{
	buf_truncate(arg, 0);
	return 0;
}

int index_get(struct index *x, const char *url, struct buf *out, bool *missing, struct err *err)
{
	struct transfer t = {.x = x,
	    .url = url,
	    .limit = out->max,
	    .write = write_buf,
	    .restart = restart_buf,
	    .arg = out};
	int rc = index_receive(&t, err);
	*missing = t.status == 404;
	if (*missing)
		err_clear(err);
	return *missing ? 0 : rc;
}

int index_get_page(struct index *x, const char *url, struct buf *page, bool *missing,
    char type[INDEX_TYPE_MAX], char **final_url, struct err *err)
{
	struct transfer t = {.x = x,
	    .url = url,
	    .page = true,
	    .limit = page->max,
	    .write = write_buf,
	    .restart = restart_buf,
	    .arg = page};
	int rc = index_receive(&t, err);
	*missing = t.status == 404;
	if (*missing) {
		err_clear(err);
		return 0;
	}
	if (rc < 0)
		return -1;
	memcpy(type, t.type, INDEX_TYPE_MAX);
	*final_url = index_final_url(x);
	return 0;
}

/*
 * A range grows the caller's buffer, which may hold bytes already; a broken try goes on behind
 * what has come.
 */
int index_range(
    struct index *x, const char *url, uint64_t offset, uint64_t n, struct buf *out, struct err *err)
{
	struct transfer t = {.x = x,
	    .url = url,
	    .ranged = true,
	    .offset = offset,
	    .limit = n,
	    .write = write_buf,
	    .arg = out};
	return n ? index_receive(&t, err) : 0;
}

static int write_nothing(void *arg, const void *p, size_t n, struct err *err)
{
	return 0;
}

int index_size(struct index *x, const char *url, uint64_t *size, struct err *err)
{
	struct transfer t = {
	    .x = x, .url = url, .ranged = true, .limit = 1, .write = write_nothing};
	if (index_receive(&t, err) < 0)
		return -1;
	_free_ char *shown = index_public_url(url);
	if (!t.range_total)
		return err_set(
		    err, ERR_NETWORK, "'%s': the server does not tell the file's size", shown);
	*size = t.range_total;
	return 0;
}

/* Where the bytes of a whole file go. */
struct file_sink {
	struct outfile out;
	struct digest *digest;
	uint64_t done, total;
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

static void sink_done(struct file_sink *s)
{
	outfile_done(&s->out);
	digest_free(s->digest);
}

static int write_file(void *arg, const void *p, size_t n, struct err *err)
{
	struct file_sink *s = arg;
	if (outfile_write(&s->out, p, n, err) < 0)
		return -1;
	digest_update(s->digest, p, n);
	s->done += n;
	if (s->progress)
		s->progress(s->arg, s->done, s->total);
	return 0;
}

static int restart_file(void *arg, struct err *err)
{
	struct file_sink *s = arg;
	if (ftruncate(s->out.fd, 0) < 0 || lseek(s->out.fd, 0, SEEK_SET) < 0)
		return err_sys(err, "cannot empty '%s'", s->out.tmp);
	digest_free(s->digest);
	s->digest = digest_new(DIGEST_SHA256);
	s->done = 0;
	return 0;
}

int index_fetch(struct index *x, const char *url, const char *sha256, uint64_t size,
    const char *path, void (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
    struct err *err)
{
	char hex[DIGEST_HEX_MAX];
	if (path_exists(path) && digest_file_hex(DIGEST_SHA256, path, hex, NULL, NULL) == 0 &&
	    !strcmp(hex, sha256))
		return 0;
	_cleanup_(sink_done) struct file_sink s = {.out = OUTFILE_INIT,
	    .digest = digest_new(DIGEST_SHA256),
	    .total = size,
	    .progress = progress,
	    .arg = arg};
	if (path_mkdirs_for(path, err) < 0 || outfile_open(&s.out, path, 0644, err) < 0)
		return -1;
	struct transfer t = {.x = x,
	    .url = url,
	    .limit = size ? size : FETCH_MAX,
	    .write = write_file,
	    .restart = restart_file,
	    .arg = &s};
	if (index_receive(&t, err) < 0)
		return -1;
	digest_finish_hex(take_ptr(s.digest), hex);
	_free_ char *shown = index_public_url(url);
	if (strcmp(hex, sha256))
		return err_set(
		    err, ERR_TRUST, "'%s' has SHA-256 %s, expected %s", shown, hex, sha256);
	return outfile_commit(&s.out, err);
}
