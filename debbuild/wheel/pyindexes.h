/* One connection for each package index, opened when it is first asked for. */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>

struct err;
struct index;

#define INDEXES_MAX 8

struct indexes {
	struct {
		char *url; /* NULL: the machine's own */
		struct index *x;
	} v[INDEXES_MAX];
	size_t n;
};

/* The connection to url, or to the machine's own index for NULL; owned by the set. */
int indexes_get(
    struct indexes *s, const char *url, struct index **out, struct err *err) _must_check_;
void indexes_done(struct indexes *s);
