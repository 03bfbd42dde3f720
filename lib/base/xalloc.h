/* Allocation that cannot fail: out of memory prints one line and exits with 1. */
#pragma once
#include "compat.h"
#include <stdarg.h>
#include <stddef.h>

void *xmalloc(size_t size) _malloc_;
void *xcalloc(size_t n, size_t size) _malloc_;
/* Grows an array to n members of size bytes; the product is checked for overflow. */
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s) _malloc_;
char *xstrndup(const char *s, size_t n) _malloc_;
/* The formatted string, owned by the caller. */
char *xasprintf(const char *fmt, ...) _printf_(1, 2) _malloc_;
char *xvasprintf(const char *fmt, va_list ap) _printf_(1, 0) _malloc_;
