#include "json.h"

#include "buf.h"

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

static void line(struct json_writer *w)
{
	buf_putc(w->out, '\n');
	for (unsigned i = 0; i < w->depth; i++)
		buf_puts(w->out, "  ");
}

static void begin(struct json_writer *w, const char *name)
{
	if (w->follows)
		buf_putc(w->out, ',');
	if (w->depth)
		line(w);
	if (name) {
		json_string(w->out, name);
		buf_puts(w->out, ": ");
	}
	w->follows = true;
}

void json_open(struct json_writer *w, const char *name, char bracket)
{
	begin(w, name);
	buf_putc(w->out, bracket);
	w->depth++;
	w->follows = false;
}

void json_close(struct json_writer *w, char bracket)
{
	w->depth--;
	if (w->follows)
		line(w);
	buf_putc(w->out, bracket);
	if (!w->depth)
		buf_putc(w->out, '\n');
	w->follows = true;
}

void json_put(struct json_writer *w, const char *name, const char *value)
{
	begin(w, name);
	json_string(w->out, value);
}

void json_put_bool(struct json_writer *w, const char *name, bool value)
{
	begin(w, name);
	buf_puts(w->out, value ? "true" : "false");
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
