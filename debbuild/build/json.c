#include "json.h"

#include "../base/buf.h"

void json_string(struct buf *out, const char *s)
{
	buf_putc(out, '"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c < ' ')
			buf_printf(out, "\\u%04x", c);
		else
			buf_putc(out, *s);
	}
	buf_putc(out, '"');
}
