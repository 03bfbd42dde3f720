#include "arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "xalloc.h"

#define ALIGN	   16
#define BLOCK_SIZE ((size_t)64 << 10)

struct arena_block {
	struct arena_block *next;
	size_t used, cap;
	char data[] __attribute__((aligned(ALIGN)));
};

/* A block of its own for a large piece goes behind the head, which keeps its free room. */
static struct arena_block *add_block(struct arena *a, size_t size)
{
	size_t cap = size > BLOCK_SIZE ? size : BLOCK_SIZE;
	struct arena_block *b = xmalloc(sizeof *b + cap);
	b->used = 0;
	b->cap = cap;
	if (a->head && size > BLOCK_SIZE) {
		b->next = a->head->next;
		a->head->next = b;
	} else {
		b->next = a->head;
		a->head = b;
	}
	return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
	if (size > SIZE_MAX / 2)
		xreallocarray(NULL, size, 2); /* dies as out of memory */
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	struct arena_block *b = a->head;
	if (!b || b->cap - b->used < size)
		b = add_block(a, size);
	void *p = b->data + b->used;
	b->used += size;
	return memset(p, 0, size);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);
	memcpy(p, s, n);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	_free_ char *s = xvasprintf(fmt, ap);
	va_end(ap);
	return arena_strdup(a, s);
}

void arena_done(struct arena *a)
{
	struct arena_block *b = a->head;
	while (b) {
		struct arena_block *next = b->next;
		free(b);
		b = next;
	}
	a->head = NULL;
}
