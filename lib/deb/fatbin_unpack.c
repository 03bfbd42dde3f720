#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "../base/buf.h"
#include "../base/err.h"
#include "../base/xalloc.h"
#include "fatbin.h"

/* The largest cubin seen has 40 MB. */
#define IMAGE_MAX ((uint64_t)1 << 30)

static int damaged(const char *name, struct err *err)
{
	return err_set(err, ERR_FORMAT, "'%s': an entry of the CUDA fat binary is damaged", name);
}

/* An unpacking under way. */
struct unpacked {
	const unsigned char *p, *end;
	unsigned char *out;
	size_t n, size; /* bytes made, and how many they are to be */
};

/* A length of 15 goes on in bytes, up to one that is not 255. */
static bool lz4_length(struct unpacked *z, size_t *n)
{
	if (*n != 15)
		return true;
	while (z->p < z->end) {
		*n += *z->p;
		if (*z->p++ != 255)
			return true;
		if (*n > z->size)
			return false;
	}
	return false;
}

static bool lz4_literals(struct unpacked *z, size_t n)
{
	if (!lz4_length(z, &n) || n > (size_t)(z->end - z->p) || n > z->size - z->n)
		return false;
	memcpy(z->out + z->n, z->p, n);
	z->p += n;
	z->n += n;
	return true;
}

static bool lz4_match(struct unpacked *z, size_t n)
{
	if (z->end - z->p < 2)
		return false;
	size_t distance = z->p[0] | (size_t)z->p[1] << 8;
	z->p += 2;
	if (!lz4_length(z, &n) || !distance || distance > z->n || n > z->size - z->n ||
	    z->size - z->n - n < 4)
		return false;
	/* What is copied may overlap what is made. */
	for (n += 4; n; n--, z->n++)
		z->out[z->n] = z->out[z->n - distance];
	return true;
}

/* One block of LZ4: a token, literals, and a match unless the block ends. */
static bool lz4_unpack(struct unpacked *z)
{
	while (z->p < z->end) {
		unsigned token = *z->p++;
		if (!lz4_literals(z, token >> 4))
			return false;
		if (z->p == z->end)
			break;
		if (!lz4_match(z, token & 15))
			return false;
	}
	return z->n == z->size;
}

static bool zstd_read(struct archive *a, const void *packed, size_t n, struct unpacked *z)
{
	struct archive_entry *e;
	if (archive_read_append_filter(a, ARCHIVE_FILTER_ZSTD) != ARCHIVE_OK ||
	    archive_read_support_format_raw(a) != ARCHIVE_OK ||
	    archive_read_open_memory(a, packed, n) != ARCHIVE_OK ||
	    archive_read_next_header(a, &e) != ARCHIVE_OK)
		return false;
	while (z->n < z->size) {
		la_ssize_t r = archive_read_data(a, z->out + z->n, z->size - z->n);
		if (r <= 0)
			return false;
		z->n += (size_t)r;
	}
	char more;
	return archive_read_data(a, &more, 1) == 0;
}

static bool zstd_unpack(const void *packed, size_t n, struct unpacked *z)
{
	struct archive *a = archive_read_new();
	bool ok = a && zstd_read(a, packed, n, z);
	archive_read_free(a);
	return ok;
}

int fatbin_unpack(const struct fatbin_entry *e, const void *packed, const char *name,
    struct buf *out, struct err *err)
{
	if (e->compress == FATBIN_PLAIN) {
		buf_append(out, packed, e->size);
		return buf_check(out, name, err);
	}
	if (e->compress == FATBIN_OTHER)
		return err_set(err, ERR_FORMAT,
		    "'%s': the CUDA fat binary is packed in another way than LZ4 or zstd", name);
	if (e->packed > e->size || !e->plain_size || e->plain_size > IMAGE_MAX)
		return damaged(name, err);
	_free_ unsigned char *plain = xmalloc(e->plain_size);
	struct unpacked z = {.p = packed, .out = plain, .size = e->plain_size};
	z.end = z.p + e->packed;
	if (!(e->compress == FATBIN_LZ4 ? lz4_unpack(&z) : zstd_unpack(packed, e->packed, &z)))
		return damaged(name, err);
	buf_append(out, plain, z.size);
	return buf_check(out, name, err);
}
