#include "base64.h"

#include "buf.h"

void base64_encode(const void *p, size_t n, struct buf *out)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *in = p;
	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		unsigned group = (unsigned)in[i] << 16;
		group |= left > 1 ? (unsigned)in[i + 1] << 8 : 0;
		group |= left > 2 ? in[i + 2] : 0;
		buf_putc(out, digits[group >> 18]);
		buf_putc(out, digits[group >> 12 & 63]);
		buf_putc(out, left > 1 ? digits[group >> 6 & 63] : '=');
		buf_putc(out, left > 2 ? digits[group & 63] : '=');
	}
}
