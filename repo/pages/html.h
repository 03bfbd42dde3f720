/* Text for web pages and feeds: everything that comes out of a package goes through here. */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * Appends text that is safe between tags and in quoted attributes, of HTML and XML: the five
 * special characters become entities; what is no UTF-8, and control characters but newline and
 * tab, become U+FFFD.
 */
void html_text(struct buf *out, const char *s);
void html_text_n(struct buf *out, const char *s, size_t n);
/* A relative address of a file below the root: each byte that is not plain is percent-encoded. */
void html_path(struct buf *out, const char *path);
/* A size for people: "814 bytes", "1.4 MB" (powers of ten). */
void html_size(struct buf *out, uint64_t bytes);
/* "sha256-BASE64", as a Content-Security-Policy names an inline script or style sheet. */
void html_policy_hash(struct buf *out, const char *text, size_t n);
