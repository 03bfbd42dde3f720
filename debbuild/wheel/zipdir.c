#include "zipdir.h"

#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/xalloc.h"

/* Sizes of the fixed parts of the records. */
#define EOCD	  22u
#define EOCD64	  56u
#define LOCATOR64 20u
#define CENTRAL	  46u
#define LOCAL	  30u
#define TAIL	  ((uint64_t)64 << 10)

#define FLAG_ENCRYPTED ((1u << 0) | (1u << 6) | (1u << 13))
#define EXTRA_ZIP64    0x0001u
#define MADE_BY_UNIX   3u

struct location {
	uint64_t start, size, count;
};

static uint64_t le(const char *p, size_t n)
{
	uint64_t v = 0;
	while (n--)
		v = v << 8 | (unsigned char)p[n];
	return v;
}

static void put_le(struct buf *out, uint64_t v, size_t n)
{
	for (; n--; v >>= 8)
		buf_putc(out, (char)(v & 0xff));
}

/* The end record: the last one whose comment reaches exactly to the end of the file. */
static const char *find_eocd(const struct buf *tail)
{
	if (tail->len < EOCD)
		return NULL;
	for (size_t at = tail->len - EOCD + 1; at-- > 0;) {
		const char *p = tail->data + at;
		if (!memcmp(p, "PK\5\6", 4) && at + EOCD + le(p + 20, 2) == tail->len)
			return p;
	}
	return NULL;
}

static int read_eocd64(const char *locator, zipdir_read_fn *read, void *arg, uint64_t size,
    struct location *out, struct err *err)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(EOCD64);
	uint64_t at = le(locator + 8, 8);
	if (at > size || size - at < EOCD64)
		return err_set(err, ERR_FORMAT, "its zip64 end record lies outside of it");
	if (read(arg, at, EOCD64, &b, err) < 0)
		return -1;
	const char *p = b.data;
	if (memcmp(p, "PK\6\6", 4) || le(p + 16, 4) || le(p + 20, 4) ||
	    le(p + 24, 8) != le(p + 32, 8))
		return err_set(err, ERR_FORMAT, "its zip64 end record is broken");
	out->count = le(p + 32, 8);
	out->size = le(p + 40, 8);
	out->start = le(p + 48, 8);
	return 0;
}

static int locate(const struct buf *tail, zipdir_read_fn *read, void *arg, uint64_t size,
    struct location *out, struct err *err)
{
	const char *p = find_eocd(tail);
	if (!p)
		return err_set(err, ERR_FORMAT, "it is no zip file, or its end is missing");
	const char *locator = p - tail->data >= LOCATOR64 ? p - LOCATOR64 : NULL;
	if (locator && !memcmp(locator, "PK\6\7", 4)) {
		if (read_eocd64(locator, read, arg, size, out, err) < 0)
			return -1;
	} else {
		if (le(p + 4, 2) || le(p + 6, 2) || le(p + 8, 2) != le(p + 10, 2))
			return err_set(err, ERR_FORMAT, "it is one part of a split zip file");
		*out = (struct location){
		    .count = le(p + 10, 2), .size = le(p + 12, 4), .start = le(p + 16, 4)};
	}
	uint64_t end = size - tail->len + (uint64_t)(p - tail->data);
	if (out->size > ZIPDIR_MAX)
		return err_set(err, ERR_FORMAT, "its directory of %llu bytes is larger than %zu",
		    (unsigned long long)out->size, ZIPDIR_MAX);
	if (out->start > end || out->size > end - out->start)
		return err_set(err, ERR_FORMAT, "its directory lies outside of it");
	if (out->count > out->size / CENTRAL)
		return err_set(err, ERR_FORMAT, "its directory is shorter than its members");
	return 0;
}

/* Takes the sizes and the offset that do not fit 32 bits from the zip64 extra field. */
static int apply_zip64(const char *extra, size_t n, struct zip_member *m, struct err *err)
{
	uint64_t *const fields[] = {&m->size, &m->packed, &m->offset};
	while (n >= 4 && le(extra, 2) != EXTRA_ZIP64) {
		size_t skip = 4 + le(extra + 2, 2);
		if (skip > n)
			break;
		extra += skip;
		n -= skip;
	}
	bool found = n >= 4 && le(extra, 2) == EXTRA_ZIP64 && 4 + le(extra + 2, 2) <= n;
	size_t left = found ? le(extra + 2, 2) : 0;
	const char *p = extra + 4;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (*fields[i] != UINT32_MAX)
			continue;
		if (left < 8)
			return err_set(
			    err, ERR_FORMAT, "member '%s' lacks its zip64 sizes", m->name);
		*fields[i] = le(p, 8);
		p += 8;
		left -= 8;
	}
	return 0;
}

static bool is_safe(const char *name, size_t n)
{
	if (!n || strlen(name) != n)
		return false;
	if (name[n - 1] != '/')
		return path_is_safe_member(name);
	_free_ char *folder = xstrndup(name, n - 1);
	return path_is_safe_member(folder);
}

/* Parses the record at *at; moves *at behind it. */
static int parse_member(struct zipdir *d, size_t *at, struct zip_member *m, struct err *err)
{
	size_t left = d->raw.len - *at;
	const char *p = d->raw.data + *at;
	if (left < CENTRAL || memcmp(p, "PK\1\2", 4))
		return err_set(err, ERR_FORMAT, "its directory is broken at member %zu", d->n + 1);
	size_t name = le(p + 28, 2), extra = le(p + 30, 2), comment = le(p + 32, 2);
	uint32_t mode = le(p + 5, 1) == MADE_BY_UNIX ? (uint32_t)le(p + 40, 2) : 0;
	m->raw = *at;
	m->raw_len = CENTRAL + name + extra + comment;
	if (m->raw_len > left)
		return err_set(err, ERR_FORMAT, "its directory is cut off at member %zu", d->n + 1);
	m->name = arena_strndup(&d->arena, p + CENTRAL, name);
	if (!is_safe(m->name, name))
		return err_set(err, ERR_FORMAT,
		    "the name of member '%s' leaves its folder or is cut by a NUL byte; do not "
		    "trust "
		    "this file",
		    m->name);
	m->encrypted = le(p + 8, 2) & FLAG_ENCRYPTED;
	m->regular = !(mode & S_IFMT) || S_ISREG(mode);
	m->executable = mode & 0111;
	m->method = (unsigned)le(p + 10, 2);
	m->packed = le(p + 20, 4);
	m->size = le(p + 24, 4);
	m->offset = le(p + 42, 4);
	*at += m->raw_len;
	return apply_zip64(p + CENTRAL + name, extra, m, err);
}

static int by_offset(const void *a, const void *b)
{
	const struct zip_member *x = a, *y = b;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int check_places(struct zipdir *d, struct err *err)
{
	if (d->n)
		qsort(d->v, d->n, sizeof *d->v, by_offset);
	if (d->n && d->v[d->n - 1].offset > d->start)
		return err_set(err, ERR_FORMAT,
		    "member '%s' begins behind the start of the directory", d->v[d->n - 1].name);
	for (size_t i = 0; i < d->n; i++) {
		struct zip_member *m = &d->v[i];
		m->end = i + 1 < d->n ? d->v[i + 1].offset : d->start;
		if (m->end - m->offset < LOCAL || m->packed > m->end - m->offset - LOCAL)
			return err_set(err, ERR_FORMAT,
			    "member '%s' shares bytes with another or with the directory", m->name);
	}
	return 0;
}

int zipdir_read(struct zipdir *d, zipdir_read_fn *read, void *arg, uint64_t size, struct err *err)
{
	_cleanup_(buf_done) struct buf tail = BUF_INIT(TAIL);
	struct location at = {0};
	uint64_t n = size < TAIL ? size : TAIL;
	if (read(arg, size - n, n, &tail, err) < 0 || locate(&tail, read, arg, size, &at, err) < 0)
		return -1;
	d->start = at.start;
	uint64_t have = size - n; /* the tail begins here */
	uint64_t missing = at.start >= have ? 0 : have - at.start;
	if (missing > at.size)
		missing = at.size;
	if (missing && read(arg, at.start, missing, &d->raw, err) < 0)
		return -1;
	if (at.size > missing)
		buf_append(&d->raw, tail.data + (at.start + missing - have), at.size - missing);
	d->v = arena_alloc(&d->arena, (at.count + 1) * sizeof *d->v);
	for (size_t pos = 0; d->n < at.count; d->n++)
		if (parse_member(d, &pos, &d->v[d->n], err) < 0)
			return -1;
	return check_places(d, err);
}

void zipdir_write_wanted(const struct zipdir *d, struct buf *out)
{
	size_t begin = out->len, count = 0;
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].wanted) {
			buf_append(out, d->raw.data + d->v[i].raw, d->v[i].raw_len);
			count++;
		}
	uint64_t size = out->len - begin, start = d->start + begin;
	buf_append(out, "PK\6\6", 4); /* zip64 end record */
	put_le(out, EOCD64 - 12, 8);
	put_le(out, 45, 2); /* made by and needs version 4.5 */
	put_le(out, 45, 2);
	put_le(out, 0, 8); /* this disk, disk of the directory */
	put_le(out, count, 8);
	put_le(out, count, 8);
	put_le(out, size, 8);
	put_le(out, start, 8);
	buf_append(out, "PK\6\7", 4); /* its locator */
	put_le(out, 0, 4);
	put_le(out, start + size, 8);
	put_le(out, 1, 4);
	buf_append(out, "PK\5\6", 4); /* end record: see the other one */
	put_le(out, 0, 4);
	put_le(out, UINT32_MAX, 4);
	put_le(out, UINT32_MAX, 4);
	put_le(out, UINT32_MAX, 4);
	put_le(out, 0, 2);
}

void zipdir_done(struct zipdir *d)
{
	buf_done(&d->raw);
	arena_done(&d->arena);
	d->v = NULL;
	d->n = 0;
}
