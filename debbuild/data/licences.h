/* SPDX licence expressions by name: templates/licences. */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>

struct arena;
struct err;

struct licence {
	const char *name; /* "torch"; one that ends with '-' is the beginning of names */
	const char *spdx; /* "BSD-3-Clause" */
};

struct licences {
	struct licence *v;
	size_t n;
};

/* Reads templates_dir/licences; a wrong line is FILE:LINE. */
int licences_load(
    struct arena *a, const char *templates_dir, struct licences *out, struct err *err) _must_check_;
/* The expression of the longest name that is name or begins it as a word; NULL if there is none. */
const char *licences_find(const struct licences *l, const char *name) _must_check_;
