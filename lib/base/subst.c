#include "subst.h"

#include <string.h>

#include "buf.h"
#include "err.h"
#include "path.h"

static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

static const char *find(const struct subst *values, const char *name, size_t len)
{
	for (; values->name; values++)
		if (strlen(values->name) == len && !strncmp(values->name, name, len))
			return values->value;
	return NULL;
}

int subst_expand(const char *text, const char *source, const struct subst *values, struct buf *out,
    struct err *err)
{
	unsigned line = 1;
	for (const char *p = text; *p;) {
		size_t plain = strcspn(p, "@\n\r");
		buf_append(out, p, plain);
		p += plain;
		line += *p == '\n';
		if (*p == '\r')
			return err_set(err, ERR_FORMAT,
			    "%s:%u: found a carriage return, expected lines that end in a newline "
			    "alone",
			    source, line);
		size_t len = *p == '@' ? strspn(p + 1, name_chars) : 0;
		if (len && p[len + 1] == '@') {
			const char *value = find(values, p + 1, len);
			if (!value)
				return err_set(err, ERR_FORMAT, "%s:%u: unknown name '@%.*s@'",
				    source, line, (int)len, p + 1);
			buf_puts(out, value);
			p += len + 2;
		} else if (*p) {
			buf_putc(out, *p++);
		}
	}
	return buf_check(out, source, err);
}

int subst_expand_file(
    const char *path, const struct subst *values, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(PATH_READ_MAX);
	if (path_read(path, &text, err) < 0)
		return -1;
	if (!text.len || memchr(text.data, '\0', text.len))
		return err_set(err, ERR_FORMAT, "'%s' is empty or holds a NUL byte", path);
	return subst_expand(buf_str(&text), path, values, out, err);
}
