#include "tar_read.h"

#include <string.h>

#include "../base/err.h"
#include "../base/path.h"
#include "decode.h"

#define BLOCK	  512u
#define NAME_MAX_ ((size_t)64 << 10)

/* The header block, tar(5); the same for v7, ustar and GNU up to what is read here. */
struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8];
	char type, link[100], magic[8], uname[32], gname[32], devmajor[8], devminor[8];
	char prefix[155], unused[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a tar header is one block");

void tar_reader_init(struct tar_reader *t, struct decoder *in)
{
	*t =
	    (struct tar_reader){.in = in, .name = BUF_INIT(NAME_MAX_), .link = BUF_INIT(NAME_MAX_)};
}

void tar_reader_done(struct tar_reader *t)
{
	buf_done(&t->name);
	buf_done(&t->link);
}

/* Hands out at most max bytes; 0 bytes only at the end of the stream. */
static int take(struct tar_reader *t, uint64_t max, const void **p, size_t *n, struct err *err)
{
	if (!t->piece_len) {
		const void *piece = "";
		if (decoder_data(t->in, &piece, &t->piece_len, err) < 0)
			return -1;
		t->piece = piece;
	}
	*p = t->piece;
	*n = t->piece_len < max ? t->piece_len : (size_t)max;
	t->piece += *n;
	t->piece_len -= *n;
	return 0;
}

static int take_all(struct tar_reader *t, void *to, size_t n, struct err *err)
{
	for (size_t got = 0; got < n;) {
		const void *p;
		size_t piece;
		if (take(t, n - got, &p, &piece, err) < 0)
			return -1;
		if (!piece)
			return err_set(
			    err, ERR_FORMAT, "truncated: the archive ends without its end mark");
		memcpy((char *)to + got, p, piece);
		got += piece;
	}
	return 0;
}

/* Octal digits between spaces and NULs, or GNU's base 256; nothing negative or over 2^63. */
static int parse_number(const char *s, size_t width, uint64_t *out)
{
	uint64_t v = 0;
	size_t i = 0;
	if ((unsigned char)s[0] & 0x80) {
		if ((unsigned char)s[0] != 0x80)
			return -1;
		for (i = 1; i < width; i++) {
			if (v >> 55)
				return -1;
			v = v << 8 | (unsigned char)s[i];
		}
		*out = v;
		return 0;
	}
	while (i < width && s[i] == ' ')
		i++;
	if (i == width)
		return -1;
	for (; i < width && s[i] >= '0' && s[i] <= '7'; i++)
		v = v << 3 | (uint64_t)(s[i] - '0');
	for (; i < width; i++)
		if (s[i] != ' ' && s[i] != '\0')
			return -1;
	*out = v;
	return 0;
}

/* The sum of all bytes, with the checksum's own field taken as spaces. */
static bool checksum_fits(const struct header *h)
{
	uint64_t want;
	unsigned sum = (unsigned)sizeof h->checksum * ' ';
	for (size_t i = 0; i < BLOCK; i++)
		sum += ((const unsigned char *)h)[i];
	for (size_t i = 0; i < sizeof h->checksum; i++)
		sum -= (unsigned char)h->checksum[i];
	return parse_number(h->checksum, sizeof h->checksum, &want) == 0 && want == sum;
}

static bool all_zero(const char *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

static int finish(struct tar_reader *t, struct err *err)
{
	const void *p;
	size_t n;
	do {
		if (take(t, UINT64_MAX, &p, &n, err) < 0)
			return -1;
		if (!all_zero(p, n))
			return err_set(err, ERR_FORMAT, "data after the end mark of the archive");
	} while (n);
	return 0;
}

/* The contents of a GNU long name or link member. */
static int read_long(struct tar_reader *t, uint64_t size, struct buf *to, struct err *err)
{
	uint64_t room = (size + BLOCK - 1) / BLOCK * BLOCK;
	char *p = size <= NAME_MAX_ ? buf_reserve(to, (size_t)room) : NULL;
	if (!p)
		return err_set(err, ERR_FORMAT, "a member name of more than %zu bytes", NAME_MAX_);
	if (take_all(t, p, (size_t)room, err) < 0)
		return -1;
	to->len = strnlen(p, (size_t)size);
	p[to->len] = '\0';
	return 0;
}

static void header_name(const struct header *h, struct buf *name)
{
	if (!memcmp(h->magic, "ustar", 6) && h->prefix[0]) {
		buf_append(name, h->prefix, strnlen(h->prefix, sizeof h->prefix));
		buf_putc(name, '/');
	}
	buf_append(name, h->name, strnlen(h->name, sizeof h->name));
}

/* Strips what dpkg strips, and refuses what could leave the root. */
static int clean_name(struct buf *b, const char **out, struct err *err)
{
	while (b->len && b->data[b->len - 1] == '/')
		buf_truncate(b, b->len - 1);
	const char *s = buf_str(b);
	while (*s == '/' || (s[0] == '.' && s[1] == '/'))
		s += *s == '/' ? 1 : 2;
	if (s[0] == '.' && !s[1])
		s++;
	if (*s && !path_is_safe_member(s))
		return err_set(err, ERR_FORMAT, "unsafe member name '%s'", s);
	*out = s;
	return 0;
}

static int set_type(const struct header *h, bool slash, struct tar_entry *e, struct err *err)
{
	switch (h->type) {
	case '0':
	case '\0':
		e->type = slash ? 'd' : 'f'; /* v7 marks a folder by its name alone */
		return 0;
	case '1':
		e->type = 'h';
		return 0;
	case '2':
		e->type = 'l';
		return 0;
	case '5':
		e->type = 'd';
		return 0;
	case 'x':
	case 'g':
		return err_set(err, ERR_FORMAT,
		    "a pax header, which dpkg does not unpack: write GNU or ustar form");
	case '3':
	case '4':
	case '6':
		return err_set(err, ERR_FORMAT, "a device or pipe, which no package may hold");
	default:
		return err_set(err, ERR_FORMAT, "a member of unknown type 0x%02x",
		    (unsigned)(unsigned char)h->type);
	}
}

static int read_header(struct tar_reader *t, struct header *h, uint64_t *size, struct err *err)
{
	uint64_t ignored;
	if (take_all(t, h, sizeof *h, err) < 0)
		return -1;
	if (h->name[0] == '\0' && all_zero((const char *)h, sizeof *h))
		return 0;
	if (!checksum_fits(h))
		return err_set(err, ERR_FORMAT, "not a tar archive, or a damaged header");
	if (parse_number(h->size, sizeof h->size, size) < 0 || *size > (uint64_t)INT64_MAX ||
	    parse_number(h->uid, sizeof h->uid, &ignored) < 0 ||
	    parse_number(h->gid, sizeof h->gid, &ignored) < 0 ||
	    parse_number(h->mtime, sizeof h->mtime, &ignored) < 0)
		return err_set(err, ERR_FORMAT, "a bad number in the header of '%.100s'", h->name);
	return 1;
}

static int fill_entry(struct tar_reader *t, const struct header *h, uint64_t size,
    struct tar_entry *e, struct err *err)
{
	uint64_t mode;
	if (!t->name.len)
		header_name(h, &t->name);
	if (!t->link.len)
		buf_append(&t->link, h->link, strnlen(h->link, sizeof h->link));
	bool slash = t->name.len && t->name.data[t->name.len - 1] == '/';
	if (!t->name.len || parse_number(h->mode, sizeof h->mode, &mode) < 0)
		return err_set(err, ERR_FORMAT, "a member without a name or mode");
	if (set_type(h, slash, e, err) < 0 || clean_name(&t->name, &e->name, err) < 0)
		return -1;
	e->mode = (unsigned)(mode & 07777);
	e->size = size;
	e->link = NULL;
	if (e->type != 'd' && !*e->name)
		return err_set(err, ERR_FORMAT, "the root of the archive is no folder");
	if (e->type != 'f' && size)
		return err_set(err, ERR_FORMAT, "'%s' is no file but has contents", e->name);
	if (e->type == 'h' && clean_name(&t->link, &e->link, err) < 0)
		return -1;
	if (e->type == 'l')
		e->link = buf_str(&t->link);
	if (e->link && !*e->link)
		return err_set(err, ERR_FORMAT, "'%s' is a link to nothing", e->name);
	t->left = size;
	t->pad = (unsigned)(-size & (BLOCK - 1));
	return 1;
}

int tar_reader_next(struct tar_reader *t, struct tar_entry *e, struct err *err)
{
	const void *p;
	size_t n = 1;
	while (n)
		if (tar_reader_data(t, &p, &n, err) < 0)
			return -1;
	buf_truncate(&t->name, 0);
	buf_truncate(&t->link, 0);
	for (;;) {
		struct header h;
		uint64_t size;
		int r = read_header(t, &h, &size, err);
		if (r < 0)
			return -1;
		if (r == 0)
			return finish(t, err);
		if (h.type != 'L' && h.type != 'K')
			return fill_entry(t, &h, size, e, err);
		struct buf *to = h.type == 'L' ? &t->name : &t->link;
		buf_truncate(to, 0);
		if (read_long(t, size, to, err) < 0)
			return -1;
	}
}

int tar_reader_data(struct tar_reader *t, const void **p, size_t *n, struct err *err)
{
	*p = NULL;
	*n = 0;
	if (t->left) {
		if (take(t, t->left, p, n, err) < 0)
			return -1;
		if (!*n)
			return err_set(err, ERR_FORMAT, "truncated in the middle of a file");
		t->left -= *n;
		return 0;
	}
	char pad[BLOCK];
	size_t len = t->pad;
	t->pad = 0;
	return len ? take_all(t, pad, len, err) : 0;
}
