#include "html.h"

#include <string.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/digest.h"
#include "../../lib/deb/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

static void put_char(struct buf *out, char c)
{
	switch (c) {
	case '&':
		buf_puts(out, "&amp;");
		break;
	case '<':
		buf_puts(out, "&lt;");
		break;
	case '>':
		buf_puts(out, "&gt;");
		break;
	case '"':
		buf_puts(out, "&quot;");
		break;
	case '\'':
		buf_puts(out, "&#39;");
		break;
	default:
		if (((unsigned char)c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			buf_puts(out, REPLACEMENT);
		else
			buf_putc(out, c);
	}
}

void html_text_n(struct buf *out, const char *s, size_t n)
{
	while (n) {
		size_t good = utf8_check(s, n);
		for (size_t i = 0; i < good; i++)
			put_char(out, s[i]);
		s += good;
		n -= good;
		if (n) {
			buf_puts(out, REPLACEMENT);
			s++;
			n--;
		}
	}
}

void html_text(struct buf *out, const char *s)
{
	html_text_n(out, s, strlen(s));
}

void html_path(struct buf *out, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._-";
	for (; *path; path++) {
		if (strchr(plain, *path))
			buf_putc(out, *path);
		else
			buf_printf(out, "%%%02X", (unsigned char)*path);
	}
}

void html_size(struct buf *out, uint64_t bytes)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB"};
	size_t unit = 0;
	if (bytes < 1000) {
		buf_printf(out, "%u bytes", (unsigned)bytes);
		return;
	}
	double n = (double)bytes / 1000;
	for (; n >= 999.95 && unit + 1 < ARRAY_SIZE(units); unit++)
		n /= 1000;
	buf_printf(out, "%.1f %s", n, units[unit]);
}

void html_policy_hash(struct buf *out, const char *text, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	unsigned char sum[64 + 2] = {0};
	struct digest *d = digest_new(DIGEST_SHA256);
	digest_update(d, text, n);
	size_t len = digest_finish_raw(d, sum);
	sum[len] = sum[len + 1] = 0;
	buf_puts(out, "sha256-");
	for (size_t i = 0; i < len; i += 3) {
		unsigned bits =
		    (unsigned)sum[i] << 16 | (unsigned)sum[i + 1] << 8 | (unsigned)sum[i + 2];
		for (unsigned k = 0; k < 4; k++)
			buf_putc(out, i + k > len ? '=' : digits[bits >> (18 - 6 * k) & 63]);
	}
}
