#include "unsigned.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include "../base/strv.h"
#include "../base/xalloc.h"
#include "deb.h"

#define AR_HEADER 60 /* bytes before each member's data */
#define CHUNK	  ((size_t)1 << 20)

uint64_t deb_unsigned_size(const struct deb_info *d)
{
	for (size_t i = 0; i < d->n_members; i++)
		if (str_starts(d->members[i].name, "_gpg"))
			return d->members[i].offset - AR_HEADER;
	return d->size;
}

static int open_deb(const struct deb_info *d, struct err *err)
{
	int fd = open(d->source, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_sys(err, "cannot open '%s'", d->source) : fd;
}

/* Reads n bytes at an offset; a file that became shorter is an error. */
static int read_at(
    int fd, const struct deb_info *d, void *p, size_t n, uint64_t at, struct err *err)
{
	if (pread(fd, p, n, (off_t)at) == (ssize_t)n)
		return 0;
	return err_set(err, ERR_CONFLICT, "'%s' changed while it was read", d->source);
}

int deb_unsigned_digest(const struct deb_info *d, char sha256[SHA256_HEX], struct err *err)
{
	_close_ int fd = open_deb(d, err);
	_free_ char *chunk = xmalloc(CHUNK);
	char hex[DIGEST_HEX_MAX];
	uint64_t left = deb_unsigned_size(d), at = 0;
	if (fd < 0)
		return -1;
	struct digest *sum = digest_new(DIGEST_SHA256);
	while (left) {
		size_t n = left < CHUNK ? (size_t)left : CHUNK;
		if (read_at(fd, d, chunk, n, at, err) < 0) {
			digest_free(sum);
			return -1;
		}
		digest_update(sum, chunk, n);
		at += n;
		left -= n;
	}
	digest_finish_hex(sum, hex);
	memcpy(sha256, hex, SHA256_HEX);
	return 0;
}

/* Stores the offset of the first byte that differs; *at is the end if none does. */
static int find_offset(
    const struct deb_info *one, const struct deb_info *other, uint64_t *at, struct err *err)
{
	_close_ int a = open_deb(one, err);
	_close_ int b = a < 0 ? -1 : open_deb(other, err);
	_free_ char *chunk = xmalloc(2 * CHUNK);
	uint64_t left = deb_unsigned_size(one), end = deb_unsigned_size(other);
	if (b < 0)
		return -1;
	if (end < left)
		left = end;
	for (*at = 0; left;) {
		size_t n = left < CHUNK ? (size_t)left : CHUNK, i = 0;
		if (read_at(a, one, chunk, n, *at, err) < 0 ||
		    read_at(b, other, chunk + CHUNK, n, *at, err) < 0)
			return -1;
		while (i < n && chunk[i] == chunk[CHUNK + i])
			i++;
		*at += i;
		if (i < n)
			return 0;
		left -= n;
	}
	return 0;
}

/* The first field in which the control files differ. */
static bool explain_control(const struct stanza *one, const struct stanza *other, struct buf *why)
{
	for (size_t i = 0; i < one->n || i < other->n; i++) {
		const char *name = i < one->n ? one->fields[i].name : other->fields[i].name;
		const char *a = stanza_get(one, name), *b = stanza_get(other, name);
		if (str_eq(a, b))
			continue;
		buf_printf(why, "field %s is '%s' in one and '%s' in the other", name,
		    a ? a : "(absent)", b ? b : "(absent)");
		return true;
	}
	return false;
}

/* The first file of data.tar in which they differ; both lists are sorted by the same rule. */
static bool explain_files(const struct deb_info *one, const struct deb_info *other, struct buf *why)
{
	for (size_t i = 0; i < one->n_files || i < other->n_files; i++) {
		const struct deb_file *a = i < one->n_files ? &one->files[i] : NULL;
		const struct deb_file *b = i < other->n_files ? &other->files[i] : NULL;
		if (!a || !b || strcmp(a->path, b->path))
			buf_printf(why, "one has '/%s' where the other has '%s%s'",
			    a ? a->path : b->path, a && b ? "/" : "", a && b ? b->path : "no file");
		else if (a->type != b->type || a->mode != b->mode || !str_eq(a->link, b->link))
			buf_printf(why, "type, mode or target of '/%s' differ", a->path);
		else if (a->size != b->size || strcmp(a->md5, b->md5))
			buf_printf(why, "'/%s' has other bytes (%llu in one, %llu in the other)",
			    a->path, (unsigned long long)a->size, (unsigned long long)b->size);
		else
			continue;
		return true;
	}
	return false;
}

static void explain(
    const struct deb_info *one, const struct deb_info *other, uint64_t at, struct buf *why)
{
	const char *member = "the archive";
	if (explain_control(&one->control, &other->control, why) || explain_files(one, other, why))
		return;
	for (size_t i = 0; i < one->n_members; i++)
		if (at >= one->members[i].offset - AR_HEADER)
			member = one->members[i].name;
	buf_printf(why, "the packed bytes of %s differ from offset %llu on", member,
	    (unsigned long long)at);
}

int deb_compare(const char *one, const char *other, struct buf *why, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct deb_info d[2];
	unsigned flags = DEB_READ_FILES | DEB_READ_SIGNED;
	uint64_t at;
	if (deb_read(&a, one, flags, NULL, NULL, &d[0], err) < 0 ||
	    deb_read(&a, other, flags, NULL, NULL, &d[1], err) < 0 ||
	    find_offset(&d[0], &d[1], &at, err) < 0)
		return -1;
	if (at == deb_unsigned_size(&d[0]) && at == deb_unsigned_size(&d[1]))
		return 0;
	explain(&d[0], &d[1], at, why);
	return buf_check(why, "a difference", err) < 0 ? -1 : 1;
}
