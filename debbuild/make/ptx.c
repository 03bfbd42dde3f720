#include "ptx.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/xalloc.h"

/* A word of the text: not NUL-terminated. */
struct word {
	const char *s;
	size_t n;
};

/* A variable of the module: its name, and its lines. */
struct variable {
	struct word name;
	size_t from, to; /* bytes of the text */
	bool dropped;
	unsigned uses; /* of the name in what is kept, its own declaration counted */
};

struct module {
	const char *text;
	size_t len;
	struct variable *v; /* in the order of the text */
	size_t n, room;
	struct variable **sorted; /* by name */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static struct word next_word(const char **p, const char *end)
{
	while (*p < end && !is_word(**p))
		++*p;
	struct word w = {*p, 0};
	while (*p < end && is_word(**p))
		++*p;
	w.n = (size_t)(*p - w.s);
	return w;
}

static bool word_is(struct word w, const char *text)
{
	return w.n == strlen(text) && !memcmp(w.s, text, w.n);
}

static int compare_words(struct word a, struct word b)
{
	int c = memcmp(a.s, b.s, a.n < b.n ? a.n : b.n);
	return c ? c : a.n < b.n ? -1 : a.n > b.n;
}

/*
 * The name in "[.weak|.visible] .global|.const .align N .TYPE NAME[...]": the first word after the
 * type. False if the text from s on is no such declaration; .extern ones are the linker's business.
 */
static bool declared_name(const char *s, const char *end, struct word *name)
{
	const char *p = s;
	if (s == end || *s != '.')
		return false;
	struct word w = next_word(&p, end);
	if (word_is(w, "weak") || word_is(w, "visible"))
		w = next_word(&p, end);
	if (!word_is(w, "global") && !word_is(w, "const"))
		return false;
	w = next_word(&p, end);
	if (!word_is(w, "align"))
		return false;
	next_word(&p, end); /* the alignment */
	while (p < end && isblank((unsigned char)*p))
		p++;
	if (p == end || *p != '.')
		return false;
	next_word(&p, end); /* the type */
	*name = next_word(&p, end);
	return name->n > 0;
}

static void add_variable(struct module *m, struct word name, size_t from, size_t to)
{
	if (m->n == m->room) {
		m->room = m->room ? 2 * m->room : 256;
		m->v = xreallocarray(m->v, m->room, sizeof *m->v);
	}
	m->v[m->n++] = (struct variable){.name = name, .from = from, .to = to};
}

/* The end of a declaration: past the newline after the first ';', if that ends its line. */
static const char *statement_end(const char *p, const char *end)
{
	const char *semicolon = memchr(p, ';', (size_t)(end - p));
	return semicolon && semicolon + 1 < end && semicolon[1] == '\n' ? semicolon + 2 : NULL;
}

static void find_variables(struct module *m)
{
	const char *end = m->text + m->len;
	unsigned depth = 0; /* of braces: inside there are functions */
	for (const char *line = m->text; line < end;) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *next = newline ? newline + 1 : end;
		struct word name;
		const char *to = depth == 0 && declared_name(line, next, &name)
				     ? statement_end(line, end)
				     : NULL;
		if (to) {
			add_variable(m, name, (size_t)(line - m->text), (size_t)(to - m->text));
			line = to;
			continue;
		}
		for (; line < next; line++)
			depth += *line == '{' ? 1 : *line == '}' && depth ? -1u : 0;
	}
}

static int by_name(const void *a, const void *b)
{
	const struct variable *const *x = a, *const *y = b;
	return compare_words((*x)->name, (*y)->name);
}

static struct variable *find(const struct module *m, struct word w)
{
	size_t low = 0, high = m->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = compare_words(m->sorted[middle]->name, w);
		if (!c)
			return m->sorted[middle];
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static void count_uses(const struct module *m, size_t from, size_t to, int step)
{
	const char *p = m->text + from, *end = m->text + to;
	while (p < end) {
		struct word w = next_word(&p, end);
		struct variable *v = w.n ? find(m, w) : NULL;
		if (v)
			v->uses += (unsigned)step;
	}
}

/* Whether something was dropped, whose own words then count no more. */
static bool drop(const struct module *m)
{
	bool some = false;
	for (size_t i = 0; i < m->n; i++) {
		struct variable *v = &m->v[i];
		if (v->dropped || find(m, v->name) != v || v->uses != 1)
			continue;
		v->dropped = some = true;
		count_uses(m, v->from, v->to, -1);
	}
	return some;
}

void ptx_drop_unused(const char *text, size_t len, struct buf *out)
{
	struct module m = {.text = text, .len = len};
	find_variables(&m);
	m.sorted = xcalloc(m.n + 1, sizeof(struct variable *));
	for (size_t i = 0; i < m.n; i++)
		m.sorted[i] = &m.v[i];
	qsort(m.sorted, m.n, sizeof(struct variable *), by_name);
	count_uses(&m, 0, len, 1);
	while (drop(&m))
		;
	size_t from = 0;
	for (size_t i = 0; i < m.n; i++) {
		if (!m.v[i].dropped)
			continue;
		buf_append(out, text + from, m.v[i].from - from);
		from = m.v[i].to;
	}
	buf_append(out, text + from, len - from);
	free(m.sorted);
	free(m.v);
}
