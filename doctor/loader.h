/* Which file the dynamic loader would take for a library, by its own rules, ld.so(8). */
#pragma once
#include "../lib/base/compat.h"
#include <stddef.h>

struct arena;
struct err;
struct probe;

/* Libraries of this processor by name, as /etc/ld.so.cache has them. */
struct ldcache_entry {
	const char *soname, *path;
};
struct ldcache {
	struct ldcache_entry *v;
	size_t n;
};

/* Reads the format "glibc-ld.so.cache1.1", also where it follows an older one (elf/dl-cache.h in
 * glibc). ERR_FORMAT for anything else. */
int ldcache_parse(
    struct arena *a, const void *p, size_t n, struct ldcache *out, struct err *err) _must_check_;

enum loader_via { LOADER_ENV, LOADER_CACHE, LOADER_DEFAULT };
struct loader_hit {
	const char *path; /* a regular file, maybe through links */
	const char *real; /* where the links lead */
	enum loader_via via;
};
struct loader_hits {
	struct loader_hit *v;
	size_t n;
};
/* All files that the search would come across for a name without a slash, in its order, for an
 * object without a RUNPATH: the first one is loaded. */
void loader_search(struct probe *p, const char *soname, struct loader_hits *out);
/* "LD_LIBRARY_PATH", "ld.so.cache", "the default folders" */
const char *loader_via_name(enum loader_via via) _must_check_;
