#include "strv.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

void strv_take(struct strv *s, char *str)
{
	/* Room for the new string and the NULL; grown at powers of two. */
	if (!(s->n & (s->n + 1)))
		s->v = xreallocarray(s->v, 2 * (s->n + 1), sizeof *s->v);
	s->v[s->n++] = str;
	s->v[s->n] = NULL;
}

void strv_add(struct strv *s, const char *str)
{
	strv_take(s, xstrdup(str));
}

void strv_addf(struct strv *s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	strv_take(s, xvasprintf(fmt, ap));
	va_end(ap);
}

void strv_add_all(struct strv *s, const struct strv *more)
{
	for (size_t i = 0; i < more->n; i++)
		strv_add(s, more->v[i]);
}

bool strv_has(const struct strv *s, const char *str)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->v[i], str))
			return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strv_sort(struct strv *s)
{
	if (s->n)
		qsort(s->v, s->n, sizeof *s->v, compare);
}

void strv_uniq(struct strv *s)
{
	strv_sort(s);
	size_t kept = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (kept && !strcmp(s->v[kept - 1], s->v[i]))
			free(s->v[i]);
		else
			s->v[kept++] = s->v[i];
	}
	/* Put strings back one by one so that the growth rule of strv_take stays true. */
	struct strv out = STRV_INIT;
	for (size_t i = 0; i < kept; i++)
		strv_take(&out, s->v[i]);
	free(s->v);
	*s = out;
}

void strv_split(struct strv *s, const char *text, const char *seps)
{
	while (*text) {
		size_t n = strcspn(text, seps);
		if (n)
			strv_take(s, xstrndup(text, n));
		text += n;
		text += strspn(text, seps);
	}
}

char *strv_join(const struct strv *s, const char *sep)
{
	size_t len = 1, sep_len = strlen(sep);
	for (size_t i = 0; i < s->n; i++)
		len += strlen(s->v[i]) + sep_len;
	char *out = xmalloc(len), *p = out;
	*p = '\0';
	for (size_t i = 0; i < s->n; i++) {
		if (i)
			p = stpcpy(p, sep);
		p = stpcpy(p, s->v[i]);
	}
	return out;
}

void strv_done(struct strv *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	s->v = NULL;
	s->n = 0;
}

bool str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);
	return n >= m && !strcmp(s + n - m, suffix);
}

bool str_eq(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

char *str_trim(char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	size_t n = strlen(s);
	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = '\0';
	return s;
}

int str_parse_u64(const char *s, unsigned long long max, unsigned long long *out)
{
	unsigned long long v = 0;
	if (!*s)
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		unsigned digit = (unsigned)(*s - '0');
		if (digit > max || v > (max - digit) / 10)
			return -1;
		v = v * 10 + digit;
	}
	*out = v;
	return 0;
}
