/* What went into a package: the files of the lock that its plan names, and the programs. */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>

struct arena;
struct lock_entry;
struct plan;
struct plan_package;

enum material_role {
	MATERIAL_SOURCE,  /* the package holds or is made from its files */
	MATERIAL_HEADERS, /* headers that a binding is compiled with */
	MATERIAL_TOOLKIT, /* parts of CUDA that compile the device code */
	MATERIAL_RUNTIME, /* the CUDA runtime, linked with, and in a package of its own */
	MATERIAL_PROGRAM  /* Triton, and the modules that run with it, which compile kernels */
};

struct material {
	enum material_role role;
	const struct lock_entry *file;
	const char *version;
};

struct materials {
	struct material *v; /* each file once, in the order of the plan */
	size_t n;
};

void materials_find(
    struct arena *a, const struct plan *p, const struct plan_package *pkg, struct materials *out);
/* "source", "headers" ... */
const char *material_role_name(enum material_role role) _must_check_;
