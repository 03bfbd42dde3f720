/*
 * What a doctor says: one finding for each thing that was looked at, with the exact line to type
 * where something is to be done. Findings are kept worst first; among equals the order in which
 * they were added stays, which is the order in which their lines are to be typed.
 */
#pragma once
#include "../lib/base/compat.h"
#include <stddef.h>

struct arena;

enum finding_grade { FINDING_GOOD, FINDING_WARNING, FINDING_BAD };
/* Where the line is to be typed: here, or on the machine that runs this container. */
enum finding_where { FINDING_HERE, FINDING_HOST };

struct finding {
	enum finding_grade grade;
	const char *subject; /* "driver", "torch", "apt": a word for a column */
	const char *id;	     /* "driver.version": never changes its meaning; for programs */
	const char *env;     /* the Python environment it is about, or NULL */
	const char *looked;  /* what was looked at */
	const char *found;   /* what was found, and what follows from it */
	const char *type;    /* a line for a shell, or NULL */
	enum finding_where where;
};

struct findings {
	struct arena *a;
	struct finding *v;
	size_t n, cap;
	const char *env; /* for the findings that are added next */
};

/* Each text is copied. The pointer is good until the next is added. */
struct finding *finding_add(struct findings *f, enum finding_grade grade, const char *id,
    const char *looked, const char *fmt, ...) _printf_(5, 6);
/* The line to type for the finding added last; where it is the line of an earlier one of the same
 * grade or worse, it stands there alone. */
void finding_type(struct findings *f, enum finding_where where, const char *fmt, ...)
    _printf_(3, 4);
void findings_sort(struct findings *f);
size_t findings_count(const struct findings *f, enum finding_grade grade) _must_check_;
const char *finding_grade_name(enum finding_grade grade) _must_check_;
