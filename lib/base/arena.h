/*
 * One owner for many small things with one lifetime: a command's recipe, plan and stanzas.
 *
 *	_cleanup_(arena_done) struct arena a = ARENA_INIT;
 *	char *s = arena_printf(&a, "%s-%s", name, version);
 */
#pragma once
#include "compat.h"
#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *head;
};
#define ARENA_INIT                                                                                 \
	{                                                                                          \
		NULL                                                                               \
	}

void *arena_alloc(struct arena *a, size_t size) _malloc_; /* zeroed, 16-byte aligned */
char *arena_strdup(struct arena *a, const char *s) _malloc_;
char *arena_strndup(struct arena *a, const char *s, size_t n) _malloc_;
char *arena_printf(struct arena *a, const char *fmt, ...) _printf_(2, 3) _malloc_;
/* Frees everything at once; the arena may be used again. */
void arena_done(struct arena *a);
