/* Writing JSON (RFC 8259): what plans and reports share. */
#pragma once
#include "compat.h"
#include <stdbool.h>

struct buf;

/* A string with its quotes. */
void json_string(struct buf *out, const char *s);
/* "name": "value", or null for NULL. */
void json_pair(struct buf *out, const char *name, const char *value);

/*
 * Whole documents, indented. In an array, and at the top, name is NULL.
 *
 *	struct json_writer w = {.out = &text};
 *	json_open(&w, NULL, '{');
 *	json_put(&w, "name", "debkit");
 *	json_close(&w, '}');
 */
struct json_writer {
	struct buf *out;
	unsigned depth;
	bool follows; /* something stands before in this object or array */
};
void json_open(struct json_writer *w, const char *name, char bracket);
void json_close(struct json_writer *w, char bracket);
void json_put(struct json_writer *w, const char *name, const char *value);
void json_put_bool(struct json_writer *w, const char *name, bool value);
