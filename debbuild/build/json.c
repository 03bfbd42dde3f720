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

void json_pair(struct buf *out, const char *name, const char *value)
{
	json_string(out, name);
	buf_puts(out, ": ");
	if (value)
		json_string(out, value);
	else
		buf_puts(out, "null");
}
