/* Attributes and small macros that every file may use. */
#pragma once
#include <stdlib.h>
#include <unistd.h>

#define _printf_(f, a) __attribute__((format(printf, f, a)))
#define _must_check_   __attribute__((warn_unused_result))
#define _noreturn_     __attribute__((noreturn))
#define _malloc_       __attribute__((malloc, returns_nonnull))
#define _cleanup_(fn)  __attribute__((cleanup(fn)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static inline void free_ptr(void *p)
{
	free(*(void **)p);
}

static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Locals that free themselves: _free_ char *name = ...; _close_ int fd = -1; */
#define _free_	_cleanup_(free_ptr)
#define _close_ _cleanup_(close_fd)

/* Hands a pointer or a descriptor on, so that the cleanup of its old owner does nothing. */
#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) *take_p_ = &(p);                                                     \
		__typeof__(p) take_v_ = *take_p_;                                                  \
		*take_p_ = NULL;                                                                   \
		take_v_;                                                                           \
	})

static inline int take_fd(int *fd)
{
	int v = *fd;
	*fd = -1;
	return v;
}
