#include "finding.h"

#include <stdarg.h>
#include <string.h>

#include "../lib/base/arena.h"
#include "../lib/base/xalloc.h"

static const char *keep(struct findings *f, char *text)
{
	const char *kept = arena_strdup(f->a, text);
	free(text);
	return kept;
}

struct finding *finding_add(struct findings *f, enum finding_grade grade, const char *id,
    const char *looked, const char *fmt, ...)
{
	if (f->n == f->cap) {
		struct finding *old = f->v;
		f->cap = f->cap ? 2 * f->cap : 32;
		f->v = arena_alloc(f->a, f->cap * sizeof *f->v);
		if (f->n)
			memcpy(f->v, old, f->n * sizeof *f->v);
	}
	va_list ap;
	va_start(ap, fmt);
	char *text = xvasprintf(fmt, ap);
	va_end(ap);
	struct finding *x = &f->v[f->n++];
	*x = (struct finding){.grade = grade,
	    .subject = arena_strndup(f->a, id, strcspn(id, ".")),
	    .id = id,
	    .env = f->env,
	    .looked = arena_strdup(f->a, looked),
	    .found = keep(f, text)};
	return x;
}

void finding_type(struct findings *f, enum finding_where where, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *line = keep(f, xvasprintf(fmt, ap));
	va_end(ap);
	struct finding *last = &f->v[f->n - 1];
	for (size_t i = 0; i + 1 < f->n; i++)
		if (f->v[i].type && f->v[i].grade >= last->grade && !strcmp(f->v[i].type, line))
			return;
	last->type = line;
	last->where = where;
}

/* Insertion sort: stable, and there are few. */
void findings_sort(struct findings *f)
{
	for (size_t i = 1; i < f->n; i++) {
		struct finding x = f->v[i];
		size_t k = i;
		for (; k && f->v[k - 1].grade < x.grade; k--)
			f->v[k] = f->v[k - 1];
		f->v[k] = x;
	}
}

size_t findings_count(const struct findings *f, enum finding_grade grade)
{
	size_t n = 0;
	for (size_t i = 0; i < f->n; i++)
		n += f->v[i].grade == grade;
	return n;
}

const char *finding_grade_name(enum finding_grade grade)
{
	static const char *const names[] = {
	    [FINDING_GOOD] = "good", [FINDING_WARNING] = "warning", [FINDING_BAD] = "bad"};
	return names[grade];
}
