#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/err.h"
#include "../base/xalloc.h"
#include "ar.h"
#include "deb.h"

#define BLOCK ((size_t)256 << 10)

/* Reads on once the block is used up; no bytes at the end of the file. */
static int fill(struct ar_reader *r, struct err *err)
{
	if (r->used < r->have || r->total == r->size)
		return 0;
	ssize_t n;
	do
		n = read(r->fd, r->block, r->size - r->total < BLOCK ? r->size - r->total : BLOCK);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(err, "cannot read");
	r->have = (size_t)n;
	r->used = 0;
	r->total += (uint64_t)n;
	for (size_t i = 0; i < ARRAY_SIZE(r->hash); i++)
		if (r->hash[i])
			digest_update(r->hash[i], r->block, r->have);
	return 0;
}

/* Hands out at most max bytes; 0 bytes only at the end of the file. */
static int take(struct ar_reader *r, uint64_t max, const void **p, size_t *n, struct err *err)
{
	if (fill(r, err) < 0)
		return -1;
	size_t room = r->have - r->used;
	*p = r->block + r->used;
	*n = room < max ? room : (size_t)max;
	r->used += *n;
	r->at += *n;
	return 0;
}

/* Copies n bytes, fewer only at the end of the file; the number of them in *got. */
static int take_all(struct ar_reader *r, void *to, size_t n, size_t *got, struct err *err)
{
	*got = 0;
	while (*got < n) {
		const void *p;
		size_t piece;
		if (take(r, n - *got, &p, &piece, err) < 0)
			return -1;
		if (!piece)
			break;
		memcpy((char *)to + *got, p, piece);
		*got += piece;
	}
	return 0;
}

int ar_open(struct ar_reader *r, const char *path, size_t n_hash, struct err *err)
{
	r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	if (r->fd < 0 || fstat(r->fd, &st) < 0)
		return err_sys(err, "cannot read");
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_FORMAT, "not a regular file");
	r->size = (uint64_t)st.st_size;
	r->block = xmalloc(BLOCK);
	static const enum digest_alg algs[] = {DIGEST_SHA256, DIGEST_MD5, DIGEST_SHA1};
	for (size_t i = 0; i < n_hash; i++)
		r->hash[i] = digest_new(algs[i]);
	char magic[AR_MAGIC_LEN];
	size_t got;
	if (take_all(r, magic, sizeof magic, &got, err) < 0)
		return -1;
	if (got != sizeof magic || memcmp(magic, "!<arch>\n", sizeof magic) != 0)
		return err_set(err, ERR_FORMAT, "not a Debian package: no ar archive");
	return 0;
}

/* Digits, then only spaces; blank is 0. At most 12 digits: no overflow. */
static int parse_number(const char *s, size_t width, unsigned base, uint64_t *out)
{
	uint64_t v = 0;
	size_t i = 0;
	for (; i < width && s[i] >= '0' && s[i] < (char)('0' + base); i++)
		v = v * base + (uint64_t)(s[i] - '0');
	for (; i < width; i++)
		if (s[i] != ' ')
			return -1;
	*out = v;
	return 0;
}

/* Name 16, time 12, uid 6, gid 6, mode 8 (octal), size 10, "`\n". */
static int parse_header(const char *h, struct deb_member *m, struct err *err)
{
	size_t len = 16;
	while (len && h[len - 1] == ' ')
		len--;
	if (len && h[len - 1] == '/')
		len--; /* GNU form, which dpkg accepts */
	for (size_t i = 0; i < len; i++)
		if (h[i] <= ' ' || h[i] > '~')
			return err_set(err, ERR_FORMAT, "a member name with odd characters");
	memcpy(m->name, h, len);
	m->name[len] = '\0';
	uint64_t ignored;
	if (memcmp(h + 58, "`\n", 2) != 0 || parse_number(h + 16, 12, 10, &ignored) < 0 ||
	    parse_number(h + 28, 6, 10, &ignored) < 0 ||
	    parse_number(h + 34, 6, 10, &ignored) < 0 || parse_number(h + 40, 8, 8, &ignored) < 0)
		return err_set(err, ERR_FORMAT, "the header of member '%s' is damaged", m->name);
	if (h[48] == ' ' || parse_number(h + 48, 10, 10, &m->size) < 0)
		return err_set(
		    err, ERR_FORMAT, "the size of member '%s' is no decimal number", m->name);
	return 0;
}

int ar_next(struct ar_reader *r, struct deb_member *m, struct err *err)
{
	const void *p;
	size_t n = 1;
	while (n)
		if (ar_data(r, &p, &n, err) < 0)
			return -1;
	char header[AR_HEADER_LEN];
	size_t got = 1;
	if (r->pad && take_all(r, header, 1, &got, err) < 0)
		return -1;
	if (!got)
		return err_set(err, ERR_FORMAT, "truncated: the last member lacks its padding");
	r->pad = false;
	if (take_all(r, header, sizeof header, &got, err) < 0)
		return -1;
	if (!got)
		return 0;
	if (got != sizeof header)
		return err_set(err, ERR_FORMAT, "truncated, or bytes after the last member");
	if (parse_header(header, m, err) < 0)
		return -1;
	m->offset = r->at;
	r->left = m->size;
	r->pad = m->size & 1;
	return 1;
}

int ar_data(struct ar_reader *r, const void **p, size_t *n, struct err *err)
{
	*p = "";
	*n = 0;
	if (!r->left)
		return 0;
	if (take(r, r->left, p, n, err) < 0)
		return -1;
	if (!*n)
		return err_set(err, ERR_FORMAT, "truncated: %llu bytes of a member are missing",
		    (unsigned long long)r->left);
	r->left -= *n;
	return 0;
}

int ar_data_all(struct ar_reader *r, void *p, size_t n, struct err *err)
{
	size_t got;
	if (r->left != n)
		return err_set(err, ERR_FORMAT, "a member of %llu bytes where %zu are expected",
		    (unsigned long long)r->left, n);
	if (take_all(r, p, n, &got, err) < 0)
		return -1;
	if (got != n)
		return err_set(err, ERR_FORMAT, "truncated");
	r->left = 0;
	return 0;
}

void ar_close(struct ar_reader *r)
{
	close_fd(&r->fd);
	free(r->block);
	for (size_t i = 0; i < ARRAY_SIZE(r->hash); i++)
		digest_free(r->hash[i]);
	*r = (struct ar_reader)AR_READER_INIT;
}
