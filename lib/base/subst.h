/* Templates: @NAME@ is replaced by a value; a name that has none is an error. */
#pragma once
#include "compat.h"

struct buf;
struct err;

struct subst {
	const char *name, *value; /* a list ends with name NULL */
};

/* Appends text with its @NAME@s replaced; source is the template's name, for messages. Capital
 * letters, digits and '_' make a name; any other '@' stays. */
int subst_expand(const char *text, const char *source, const struct subst *values, struct buf *out,
    struct err *err) _must_check_;
/* As above for a whole file. */
int subst_expand_file(
    const char *path, const struct subst *values, struct buf *out, struct err *err) _must_check_;
