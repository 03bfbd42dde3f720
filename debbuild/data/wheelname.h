/* File names of wheels: NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl (PEP 427). */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>

struct arena;

struct wheel_name {
	const char *version;	  /* "2.11.0+cu128" */
	unsigned build;		  /* number of the build tag; 0: none */
	char **pythons, **abis, **platforms; /* the parts of the tags, NULL-terminated */
};

/* False if it is no name of a wheel. */
bool wheel_name_parse(struct arena *a, const char *file, struct wheel_name *out) _must_check_;
/* "3.11" to "cp311": the ABI tag of a CPython; a free-threaded one would be cp313t. */
const char *wheel_abi(struct arena *a, const char *python);
enum wheel_fit {
	WHEEL_FIT_NONE,
	WHEEL_FIT_STABLE, /* by the stable ABI (abi3) of this CPython or of an older one */
	WHEEL_FIT_EXACT
};
/* abi is that of a CPython 3 ("cp311"); NULL: any will do. */
enum wheel_fit wheel_name_fit(const struct wheel_name *n, const char *abi) _must_check_;
/* True for the platforms of glibc on x86_64. */
bool wheel_name_is_manylinux(const struct wheel_name *n) _must_check_;
/* True for NAME-VERSION-py3-none-any.whl and its like: for every machine and Python. */
bool wheel_name_is_pure(const struct wheel_name *n) _must_check_;
