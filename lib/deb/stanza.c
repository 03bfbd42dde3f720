#include "stanza.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include "../base/path.h"
#include "../base/xalloc.h"
#include "utf8.h"

#define FILE_MAX   ((size_t)512 << 20)
#define FIELDS_MAX 512 /* of one stanza: keeps the search for duplicates short */

/*
 * The text is copied once and cut up in place: names and values point into the copy. Fields and
 * stanzas grow in scratch arrays and move to the arena when their number is known.
 */
struct parser {
	struct arena *arena;
	const char *source;
	unsigned flags;
	struct err *err;
	char *value_end; /* where the last field's value ends in the copy */
	unsigned line;
	struct stanza cur;
	struct stanza_list list;
};

static void parser_done(struct parser *ps)
{
	free(ps->cur.fields);
	free(ps->list.v);
}

static int fail(const struct parser *ps, const char *fmt, ...) _printf_(2, 3);
static int fail(const struct parser *ps, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	_free_ char *what = xvasprintf(fmt, ap);
	va_end(ap);
	return err_set(ps->err, ERR_FORMAT, "%s:%u: %s", ps->source, ps->line, what);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool all_blank(const char *s, const char *end)
{
	while (s < end && is_blank(*s))
		s++;
	return s == end;
}

/*
 * Control characters are refused because their readers differ: dpkg ends a line at 0x1a, apt
 * looks past a carriage return, both take form feeds for white space.
 */
static int check_char(struct parser *ps, unsigned char c)
{
	if (c == '\0')
		return fail(ps, "found a NUL byte, expected text");
	if (c == '\r')
		return fail(
		    ps, "found a carriage return, expected lines that end in a newline alone");
	return fail(ps, "found control character 0x%02x, expected text", c);
}

/* Sees to it that lines can be cut up without another look at single bytes. */
static int check_text(struct parser *ps, const char *text, size_t len)
{
	size_t bad = utf8_check(text, len);
	unsigned line = 1;
	for (size_t i = 0; i < bad; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c == '\n') {
			line++;
		} else if ((c < ' ' && c != '\t') || c == 0x7f) {
			ps->line = line;
			return check_char(ps, c);
		}
	}
	ps->line = line;
	if (bad < len)
		return fail(ps, "found byte 0x%02x that is not UTF-8, expected UTF-8 text",
		    (unsigned char)text[bad]);
	if (len && text[len - 1] != '\n')
		return fail(
		    ps, "found the end of the text within a line, expected a final newline");
	ps->line = 0;
	return 0;
}

static void end_value(struct parser *ps)
{
	if (!ps->cur.n)
		return;
	const char *start = ps->cur.fields[ps->cur.n - 1].value;
	while (ps->value_end > start && is_blank(ps->value_end[-1]))
		ps->value_end--;
	*ps->value_end = '\0';
}

static void end_stanza(struct parser *ps)
{
	struct stanza *cur = &ps->cur;
	struct stanza_list *l = &ps->list;
	if (!cur->n)
		return;
	end_value(ps);
	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 16;
		l->v = xreallocarray(l->v, l->cap, sizeof *l->v);
	}
	struct field *fields = arena_alloc(ps->arena, cur->n * sizeof *fields);
	memcpy(fields, cur->fields, cur->n * sizeof *fields);
	l->v[l->n++] =
	    (struct stanza){.fields = fields, .n = cur->n, .cap = cur->n, .line = cur->line};
	cur->n = 0;
}

static int check_name(struct parser *ps, const char *name, const char *end)
{
	if (name == end)
		return fail(ps, "found a colon without a field name, expected 'Name: value'");
	if (*name == '-' || *name == '#')
		return fail(
		    ps, "found a line that begins with '%c', expected 'Name: value'", *name);
	for (const char *s = name; s < end; s++) {
		if (*s > ' ' && *s < 0x7f)
			continue;
		return fail(ps, "found field name '%.*s', expected printable ASCII without spaces",
		    (int)(end - name > 80 ? 80 : end - name), name);
	}
	return 0;
}

static int add_field(struct parser *ps, const char *name, char *value)
{
	struct stanza *cur = &ps->cur;
	const struct field *old = stanza_find(cur, name);
	if (old)
		return fail(ps,
		    "found field '%.80s' again, expected it once (it stands on line %u)", name,
		    old->line);
	if (cur->n == FIELDS_MAX)
		return fail(
		    ps, "found more than %d fields, expected an empty line before", FIELDS_MAX);
	if (ps->flags & STANZA_ONE && ps->list.n)
		return fail(ps, "found a second stanza, expected one");
	if (cur->n == cur->cap) {
		cur->cap = cur->cap ? cur->cap * 2 : 32;
		cur->fields = xreallocarray(cur->fields, cur->cap, sizeof *cur->fields);
	}
	if (!cur->n)
		cur->line = ps->line;
	cur->fields[cur->n++] = (struct field){.name = name, .value = value, .line = ps->line};
	return 0;
}

static int parse_field(struct parser *ps, char *s, char *end)
{
	end_value(ps);
	char *colon = memchr(s, ':', (size_t)(end - s));
	if (!colon && *s != '-' && *s != '#')
		return fail(ps, "found '%.*s' without a colon, expected 'Name: value'",
		    (int)(end - s > 80 ? 80 : end - s), s);
	if (check_name(ps, s, colon ? colon : end) < 0)
		return -1;
	*colon = '\0';
	char *value = colon + 1;
	while (value < end && is_blank(*value))
		value++;
	ps->value_end = end;
	return add_field(ps, s, value);
}

/* Moves the line up behind the value, so that its leading blank is gone. */
static int parse_continuation(struct parser *ps, const char *s, const char *end)
{
	if (all_blank(s, end))
		return fail(ps, "found a line of white space, expected ' .' or, between stanzas, "
				"an empty line");
	if (!ps->cur.n)
		return fail(ps, "found a continuation line with nothing to continue, "
				"expected 'Name: value'");
	size_t len = (size_t)(end - (s + 1));
	*ps->value_end++ = '\n';
	memmove(ps->value_end, s + 1, len);
	ps->value_end += len;
	return 0;
}

static int parse_line(struct parser *ps, char *s, char *end)
{
	if (s == end) {
		end_stanza(ps);
		return 0;
	}
	if (*s == '#' && ps->flags & STANZA_COMMENTS)
		return 0;
	if (is_blank(*s))
		return parse_continuation(ps, s, end);
	return parse_field(ps, s, end);
}

static int finish(struct parser *ps, struct stanza_list *out)
{
	if (ps->cur.n && ps->value_end == ps->cur.fields[ps->cur.n - 1].value)
		return fail(ps, "found the end of the text, expected a value (dpkg refuses a last "
				"field without one)");
	end_stanza(ps);
	size_t n = ps->list.n;
	if (ps->flags & STANZA_ONE && !n) {
		ps->line = 1;
		return fail(ps, "found no field, expected one stanza");
	}
	struct stanza *v = arena_alloc(ps->arena, n * sizeof *v);
	if (n)
		memcpy(v, ps->list.v, n * sizeof *v);
	*out = (struct stanza_list){.v = v, .n = n, .cap = n};
	return 0;
}

int stanza_parse(struct arena *a, const char *text, size_t len, const char *source, unsigned flags,
    struct stanza_list *out, struct err *err)
{
	_cleanup_(parser_done) struct parser ps = {
	    .arena = a, .source = source, .flags = flags, .err = err};
	if (check_text(&ps, text, len) < 0)
		return -1;
	char *p = arena_strndup(a, text, len), *end = p + len;
	while (p < end) {
		char *eol = memchr(p, '\n', (size_t)(end - p));
		ps.line++;
		if (parse_line(&ps, p, eol) < 0)
			return -1;
		p = eol + 1;
	}
	return finish(&ps, out);
}

int stanza_parse_file(
    struct arena *a, const char *path, unsigned flags, struct stanza_list *out, struct err *err)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(FILE_MAX);
	if (path_read(path, &b, err) < 0)
		return -1;
	return stanza_parse(a, buf_str(&b), b.len, path, flags, out, err);
}

const struct field *stanza_find(const struct stanza *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcasecmp(s->fields[i].name, name))
			return &s->fields[i];
	return NULL;
}

const char *stanza_get(const struct stanza *s, const char *name)
{
	const struct field *f = stanza_find(s, name);
	return f ? f->value : NULL;
}

void stanza_set(struct arena *a, struct stanza *s, const char *name, const char *value)
{
	struct field *f = (struct field *)stanza_find(s, name);
	if (!f) {
		if (s->n >= s->cap) {
			s->cap = s->cap ? s->cap * 2 : 16;
			struct field *fields = arena_alloc(a, s->cap * sizeof *fields);
			if (s->n)
				memcpy(fields, s->fields, s->n * sizeof *fields);
			s->fields = fields;
		}
		f = &s->fields[s->n++];
		f->line = 0;
	}
	f->name = arena_strdup(a, name);
	f->value = arena_strdup(a, value);
}

void stanza_unset(struct stanza *s, const char *name)
{
	const struct field *f = stanza_find(s, name);
	if (!f)
		return;
	size_t i = (size_t)(f - s->fields);
	memmove(&s->fields[i], &s->fields[i + 1], (s->n - i - 1) * sizeof *s->fields);
	s->n--;
}

static bool is_allowed(const char *name, const char *const *allowed)
{
	for (; *allowed; allowed++)
		if (!strcasecmp(name, *allowed))
			return true;
	return false;
}

int stanza_check_fields(
    const struct stanza *s, const char *const *allowed, const char *source, struct err *err)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct field *f = &s->fields[i];
		if (is_allowed(f->name, allowed))
			continue;
		err_set(err, ERR_FORMAT, "%s:%u: found unknown field '%.80s', expected", source,
		    f->line, f->name);
		for (size_t k = 0; allowed[k]; k++)
			err_hint(err, "%s %s", k ? "," : "", allowed[k]);
		return -1;
	}
	return 0;
}

static void write_line(struct buf *out, const char *s, size_t len, bool first)
{
	if (len || !first)
		buf_putc(out, ' ');
	if (!first && all_blank(s, s + len))
		buf_putc(out, '.');
	else
		buf_append(out, s, len);
	buf_putc(out, '\n');
}

static void write_field(const struct field *f, struct buf *out)
{
	size_t len = strlen(f->value);
	while (len && f->value[len - 1] == '\n')
		len--;
	buf_puts(out, f->name);
	buf_putc(out, ':');
	const char *s = f->value, *end = s + len;
	for (bool first = true;; first = false) {
		const char *eol = memchr(s, '\n', (size_t)(end - s));
		if (!eol)
			eol = end;
		write_line(out, s, (size_t)(eol - s), first);
		if (eol == end)
			return;
		s = eol + 1;
	}
}

void stanza_write(const struct stanza *s, struct buf *out)
{
	for (size_t i = 0; i < s->n; i++)
		write_field(&s->fields[i], out);
}
