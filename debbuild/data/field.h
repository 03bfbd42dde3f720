/*
 * Fields of the stanzas below templates/. A wrong one is ERR_FORMAT "SOURCE:LINE: what was found,
 * what was expected", with the line of the field, or of the stanza that lacks it.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>

struct arena;
struct err;
struct stanza;
struct stanza_list;

/* Where a stanza comes from, and where an error goes. */
struct field_source {
	const char *path;
	struct err *err;
};

/* "SOURCE:LINE: NAME text"; returns -1. */
int field_fail(const struct field_source *f, const struct stanza *s, const char *name,
    const char *fmt, ...) _printf_(4, 5);
/* The value of a field that must be there and not be empty, or NULL. */
const char *field_need(
    const struct field_source *f, const struct stanza *s, const char *name) _must_check_;
/* As field_need for a version of that many numbers: 2 as in "12.8", 3 as in "2.10.0". */
const char *field_version(const struct field_source *f, const struct stanza *s, const char *name,
    unsigned numbers) _must_check_;
/* The words of a field (none if it is absent), each a version of two numbers, none twice; NULL. */
char **field_versions(struct arena *a, const struct field_source *f, const struct stanza *s,
    const char *name) _must_check_;
/* Fails at the first line if the file has no stanza; expected says what one begins with. */
int field_check_some(const struct field_source *f, const struct stanza_list *list,
    const char *expected) _must_check_;
