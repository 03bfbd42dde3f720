#include "wheel_record.h"

#include <stdio.h>
#include <string.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"

#define FIELDS 3

static int base64url_digit(char c)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const char *p = c ? strchr(digits, c) : NULL;
	return p ? (int)(p - digits) : -1;
}

/* 43 digits without padding are 32 bytes and two bits that must be 0. */
static int take_sha256(const char *s, char hex[SHA256_HEX])
{
	unsigned bits = 0, held = 0;
	size_t n = strcspn(s, "=");
	if (n != 43 || strlen(s) > 44)
		return -1;
	for (size_t i = 0; i < n; i++) {
		int digit = base64url_digit(s[i]);
		if (digit < 0)
			return -1;
		bits = bits << 6 | (unsigned)digit;
		held += 6;
		for (; held >= 8; held -= 8, hex += 2)
			snprintf(hex, 3, "%02x", bits >> (held - 8) & 0xff);
		bits &= (1u << held) - 1;
	}
	return bits ? -1 : 0;
}

/* One field of a CSV line at *p; *p then stands on the comma or the end. NULL if it is broken. */
static const char *take_field(struct arena *a, const char **p, const char *end)
{
	const char *s = *p;
	if (s == end || *s != '"') {
		while (*p < end && **p != ',')
			(*p)++;
		return arena_strndup(a, s, (size_t)(*p - s));
	}
	char *out = arena_alloc(a, (size_t)(end - s) + 1), *to = out;
	for (s++; s < end; s++) {
		if (*s != '"') {
			*to++ = *s;
			continue;
		}
		if (s + 1 < end && s[1] == '"') {
			*to++ = *s++;
			continue;
		}
		*p = s + 1;
		return *p == end || **p == ',' ? out : NULL;
	}
	return NULL;
}

static int parse_line(
    struct wheel_record *r, const char *p, const char *end, size_t line, struct err *err)
{
	static const char key[] = "sha256=";
	struct wheel_entry *e = &r->v[r->n];
	const char *field[FIELDS];
	unsigned long long size = 0;
	for (size_t i = 0; i < FIELDS; i++) {
		field[i] = take_field(&r->arena, &p, end);
		if (!field[i] || (i + 1 < FIELDS ? p == end || *p != ',' : p != end))
			return err_set(
			    err, ERR_FORMAT, "RECORD line %zu is not 'path,hash,size'", line);
		p++;
	}
	if (*field[1] &&
	    (!str_starts(field[1], key) || take_sha256(field[1] + strlen(key), e->sha256) < 0))
		return err_set(err, ERR_FORMAT, "RECORD line %zu: '%s' is no sha256 in base64url",
		    line, field[1]);
	if (*field[2] && str_parse_u64(field[2], INT64_MAX, &size) < 0)
		return err_set(err, ERR_FORMAT, "RECORD line %zu: '%s' is no size", line, field[2]);
	e->path = field[0];
	e->size = size;
	r->n++;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct wheel_entry *x = a, *y = b;
	return strcmp(x->path, y->path);
}

static size_t count_lines(const char *p, size_t len)
{
	size_t n = 1;
	for (; len--; p++)
		n += *p == '\n';
	return n;
}

int wheel_record_parse(struct wheel_record *r, const char *text, size_t len, struct err *err)
{
	const char *end = text + len;
	size_t line = 0;
	r->v = arena_alloc(&r->arena, (count_lines(text, len) + 1) * sizeof *r->v);
	for (const char *p = text; p < end; p++) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		if (!stop)
			stop = end;
		const char *last = stop > p && stop[-1] == '\r' ? stop - 1 : stop;
		line++;
		if (last > p && memchr(p, '\0', (size_t)(last - p)))
			return err_set(err, ERR_FORMAT, "RECORD line %zu holds a NUL byte", line);
		if (last > p && parse_line(r, p, last, line, err) < 0)
			return -1;
		p = stop;
	}
	if (r->n)
		qsort(r->v, r->n, sizeof *r->v, by_path);
	for (size_t i = 1; i < r->n; i++)
		if (!strcmp(r->v[i - 1].path, r->v[i].path))
			return err_set(err, ERR_FORMAT, "RECORD names '%s' twice", r->v[i].path);
	return 0;
}

const struct wheel_entry *wheel_record_find(const struct wheel_record *r, const char *path)
{
	struct wheel_entry key = {.path = path};
	return r->n ? bsearch(&key, r->v, r->n, sizeof *r->v, by_path) : NULL;
}

void wheel_record_done(struct wheel_record *r)
{
	arena_done(&r->arena);
	r->v = NULL;
	r->n = 0;
}
