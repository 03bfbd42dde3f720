/*
 * The HTML form of a project's page: PEP 503, with PEP 592's data-yanked and PEP 658's
 * data-dist-info-metadata. Only anchors are looked at, as pip does.
 */
#include "pyindex.h"

#include <ctype.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "pyindex_int.h"

#define NAME_MAX_BYTES 4096
#define SPACE	       " \t\r\n\f"

struct anchor {
	const char *href; /* NULL: none */
	bool yanked, metadata;
};

/* UTF-8 of one code point; what is none is left out. */
static void put_code_point(struct buf *out, unsigned long c)
{
	if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return;
	if (c < 0x80) {
		buf_putc(out, (char)c);
		return;
	}
	int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
	buf_putc(out, (char)(lead[more] | (c >> (6 * more))));
	while (more--)
		buf_putc(out, (char)(0x80 | ((c >> (6 * more)) & 0x3f)));
}

/* The reference at p ("&amp;", "&#43;", "&#x2B;"): its length, or 0 if it is none. */
static size_t put_reference(struct buf *out, const char *p, size_t n)
{
	static const struct {
		const char *name;
		char c;
	} names[] = {
	    {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (n >= strlen(names[i].name) && str_starts(p, names[i].name)) {
			buf_putc(out, names[i].c);
			return strlen(names[i].name);
		}
	if (n < 4 || p[1] != '#')
		return 0;
	bool hex = p[2] == 'x' || p[2] == 'X';
	const char *digits = p + (hex ? 3 : 2);
	char *end;
	if (!isxdigit((unsigned char)*digits))
		return 0;
	unsigned long c = strtoul(digits, &end, hex ? 16 : 10);
	if (*end != ';' || (size_t)(end - p) >= n)
		return 0;
	put_code_point(out, c);
	return (size_t)(end - p) + 1;
}

/* Text with its character references resolved, in the arena. */
static char *decode(struct arena *a, const char *p, size_t n)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(n * 4 + 4);
	for (size_t i = 0; i < n;) {
		size_t used = p[i] == '&' ? put_reference(&out, p + i, n - i) : 0;
		if (!used)
			buf_putc(&out, p[i++]);
		i += used;
	}
	return arena_strdup(a, buf_str(&out));
}

static bool name_is(const char *p, size_t n, const char *name)
{
	return n == strlen(name) && !strncasecmp(p, name, n);
}

/* Reads the attributes at p up to the '>' of the tag; returns what follows, NULL if cut off. */
static const char *read_attributes(struct arena *a, const char *p, struct anchor *out)
{
	for (;;) {
		p += strspn(p, SPACE "/");
		if (!*p || *p == '>')
			return *p ? p + 1 : NULL;
		const char *name = p, *value = "";
		size_t n = strcspn(p, SPACE "=>/"), len = 0;
		if (!n) /* a stray '=' */
			n = 1;
		p += n;
		const char *after = p + strspn(p, SPACE);
		if (*after == '=') {
			p = after + 1 + strspn(after + 1, SPACE);
			char quote = *p == '"' || *p == '\'' ? *p : '\0';
			const char stop[] = {quote, '\0'};
			value = quote ? p + 1 : p;
			len = strcspn(value, quote ? stop : SPACE ">");
			if (quote && !value[len])
				return NULL;
			p = value + len + (quote ? 1 : 0);
		}
		if (name_is(name, n, "href"))
			out->href = decode(a, value, len);
		else if (name_is(name, n, "data-yanked"))
			out->yanked = true;
		else if (name_is(name, n, "data-dist-info-metadata") ||
			 name_is(name, n, "data-core-metadata"))
			out->metadata = !(len == 5 && !strncasecmp(value, "false", 5));
	}
}

static int take_anchor(struct arena *a, const struct anchor *from, const char *text, size_t len,
    struct index_file *to, struct err *err)
{
	static const char key[] = "#sha256=";
	const char *hash = strstr(from->href, key);
	if (hash && !index_take_sha256(hash + strlen(key), to->sha256))
		return err_set(
		    err, ERR_FORMAT, "'%s': its sha256 is not 64 hex digits", from->href);
	to->name = str_trim(decode(a, text, len));
	to->url = from->href;
	to->yanked = from->yanked;
	to->has_metadata = from->metadata;
	return 0;
}

/* The next "<a" that begins an anchor at or after p, past its name; NULL if there is none. */
static const char *next_anchor(const char *p)
{
	while ((p = strchr(p, '<'))) {
		if (str_starts(p, "<!--")) {
			p = strstr(p, "-->");
			if (!p)
				return NULL;
			continue;
		}
		if ((p[1] == 'a' || p[1] == 'A') && p[2] && strchr(SPACE, p[2]))
			return p + 2;
		p++;
	}
	return NULL;
}

int index_parse_html(struct arena *a, const char *text, size_t len, const char *page,
    struct index_files *out, struct err *err)
{
	size_t cap = 0;
	const char *p = text;
	if (strlen(text) != len)
		return err_set(err, ERR_FORMAT, "'%s' holds a NUL byte; it is no HTML", page);
	while ((p = next_anchor(p))) {
		struct anchor anchor = {NULL, false, false};
		p = read_attributes(a, p, &anchor);
		size_t n = p ? strcspn(p, "<") : 0;
		if (!p || !p[n])
			return err_set(err, ERR_FORMAT,
			    "'%s' ends inside a link; the index or something before it is broken",
			    page);
		if (anchor.href && n <= NAME_MAX_BYTES &&
		    take_anchor(a, &anchor, p, n, index_files_add(a, out, &cap), err) < 0)
			return err_wrap(err, "'%s'", page);
		p += n;
	}
	return 0;
}
