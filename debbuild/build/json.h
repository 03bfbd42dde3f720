/* Writing JSON (RFC 8259): what plans and reports share. */
#pragma once
#include "../base/compat.h"

struct buf;

/* A string with its quotes. */
void json_string(struct buf *out, const char *s);
/* "name": "value", or null for NULL. */
void json_pair(struct buf *out, const char *name, const char *value);
