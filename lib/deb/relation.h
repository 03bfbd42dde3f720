/* Relation fields (Depends and its kin), with the grammar that dpkg and apt both accept. */
#pragma once
#include "../base/compat.h"
#include <stddef.h>

struct arena;
struct err;

struct relation {
	const char *package;
	const char *arch_qualifier; /* "any", "native", an architecture, or NULL */
	const char *op;		    /* "<<" "<=" "=" ">=" ">>", or NULL */
	const char *version;	    /* with op, or NULL */
	unsigned group;		    /* alternatives share a group; groups count from 0 */
};

struct relation_list {
	struct relation *v;
	size_t n;
};

/* The fields of a binary package that hold relations, NULL-terminated. */
extern const char *const relation_fields[];

/*
 * Parses a binary package's relation field; ERR_FORMAT names the piece that is wrong. An empty
 * text is an empty list. The obsolete operators "<" and ">", and a version without an operator,
 * are refused although dpkg only warns of them.
 */
int relation_parse(
    struct arena *a, const char *text, struct relation_list *out, struct err *err) _must_check_;
/*
 * What depends on the field: no alternatives outside Depends, Pre-Depends, Recommends, Suggests
 * and Enhances; in Provides no operator but "=". ERR_FORMAT.
 */
int relation_check(const char *field, const struct relation_list *l, struct err *err) _must_check_;
