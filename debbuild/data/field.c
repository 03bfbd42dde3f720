#include "field.h"

#include <string.h>

#include "../../lib/base/err.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/stanza.h"
#include "recipe.h"

int field_fail(
    const struct field_source *f, const struct stanza *s, const char *name, const char *fmt, ...)
{
	const struct field *field = stanza_find(s, name);
	va_list ap;
	va_start(ap, fmt);
	_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	return err_set(
	    f->err, ERR_FORMAT, "%s:%u: %s %s", f->path, field ? field->line : s->line, name, text);
}

const char *field_need(const struct field_source *f, const struct stanza *s, const char *name)
{
	const char *v = stanza_get(s, name);
	if (v && *v)
		return v;
	field_fail(f, s, name, v ? "is empty, expected a value" : "is missing, expected it here");
	return NULL;
}

static bool is_version(const char *s, unsigned numbers)
{
	for (unsigned i = 0; i < numbers; i++) {
		size_t digits = strspn(s, "0123456789");
		if (!digits || digits > 9 || s[digits] != (i + 1 < numbers ? '.' : '\0'))
			return false;
		s += digits + 1;
	}
	return true;
}

const char *field_version(
    const struct field_source *f, const struct stanza *s, const char *name, unsigned numbers)
{
	const char *v = field_need(f, s, name);
	if (!v || is_version(v, numbers))
		return v;
	field_fail(f, s, name, "is '%s', expected a version such as %s", v,
	    numbers == 2 ? "12.8" : "2.10.0");
	return NULL;
}

char **field_versions(
    struct arena *a, const struct field_source *f, const struct stanza *s, const char *name)
{
	char **words = recipe_words(a, stanza_get(s, name));
	for (char **w = words; *w; w++) {
		if (!is_version(*w, 2)) {
			field_fail(f, s, name,
			    "has '%s', expected versions such as 12.8, with spaces between", *w);
			return NULL;
		}
		for (char **other = words; other < w; other++)
			if (!strcmp(*other, *w)) {
				field_fail(f, s, name, "has '%s' twice, expected it once", *w);
				return NULL;
			}
	}
	return words;
}

int field_check_some(
    const struct field_source *f, const struct stanza_list *list, const char *expected)
{
	if (list->n)
		return 0;
	return err_set(f->err, ERR_FORMAT, "%s:1: found no stanza, expected %s", f->path, expected);
}
