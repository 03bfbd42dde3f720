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

/* Parses a binary package's relation field; ERR_FORMAT names the piece that is wrong. */
int relation_parse(
    struct arena *a, const char *text, struct relation_list *out, struct err *err) _must_check_;
