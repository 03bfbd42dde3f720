/*
 * deb822(5) stanzas: control files, Packages, Release, recipes, the torch matrix, the lock.
 *
 * Parsing keeps order and the line of each field, refuses what dpkg or apt would refuse
 * (duplicate field, no colon, bad field name, NUL, text that is no UTF-8, a continuation with
 * nothing to continue), and never keeps pointers into the input.
 */
#pragma once
#include "../base/compat.h"
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;
struct err;

struct field {
	const char *name;  /* as written; compared without case */
	const char *value; /* see stanza_parse for the form of several lines */
	unsigned line;	   /* of the field's name in the input, from 1; 0 if not parsed */
};

struct stanza {
	struct field *fields;
	size_t n, cap;
	unsigned line; /* of its first field */
};

struct stanza_list {
	struct stanza *v;
	size_t n, cap;
};

#define STANZA_COMMENTS (1u << 0) /* lines that begin with '#' are skipped (deb822 config) */
#define STANZA_ONE	(1u << 1) /* exactly one stanza (a control file) */

/*
 * Parses len bytes at text into stanzas that live in the arena. source names the input in
 * errors: "SOURCE:LINE: what was found, what was expected" (ERR_FORMAT). A value of several
 * lines keeps its newlines; of each continuation line the one leading space or tab is dropped,
 * and a line of " ." stays ".": stanza_write makes the same bytes again.
 */
int stanza_parse(struct arena *a, const char *text, size_t len, const char *source, unsigned flags,
    struct stanza_list *out, struct err *err) _must_check_;
/* As above from a file. */
int stanza_parse_file(struct arena *a, const char *path, unsigned flags, struct stanza_list *out,
    struct err *err) _must_check_;

/* The field's value, or NULL. Names are compared without case. */
const char *stanza_get(const struct stanza *s, const char *name) _must_check_;
const struct field *stanza_find(const struct stanza *s, const char *name) _must_check_;
/* Sets or replaces; name and value are copied into the arena. */
void stanza_set(struct arena *a, struct stanza *s, const char *name, const char *value);
/* Removes the field if it is there. */
void stanza_unset(struct stanza *s, const char *name);
/* Fails with SOURCE:LINE at the first field that is not in allowed (NULL-terminated). */
int stanza_check_fields(const struct stanza *s, const char *const *allowed, const char *source,
    struct err *err) _must_check_;
/* "Name: value\n", continuation lines with a leading space. Ends without an empty line. */
void stanza_write(const struct stanza *s, struct buf *out);
