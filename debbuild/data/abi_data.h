/*
 * The data that ABI is judged by: templates/suites (how far the C and C++ libraries of each suite
 * go) and templates/cpython (what each CPython exports). Both deb822; a wrong line is FILE:LINE
 * with what was expected.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct elf_info;
struct err;

struct abi_suite {
	const char *name, *codename;		    /* "Ubuntu 24.04", "noble" */
	const char *python;			    /* "3.12" */
	const char *glibc, *glibcxx, *cxxabi, *gcc; /* highest versions defined: "2.39" ... */
	char **also;				    /* versions without a number */
};

struct abi_python {
	const char *version; /* "3.11" */
	const char **names;  /* sorted by bytes */
	size_t n;
};

struct abi_data {
	struct abi_suite *suites;
	size_t n_suites;
	struct abi_python *pythons;
	size_t n_pythons;
};

int abi_data_load(
    struct arena *a, const char *templates_dir, struct abi_data *out, struct err *err) _must_check_;
/* That Python, or NULL. */
const struct abi_python *abi_data_python(
    const struct abi_data *d, const char *version) _must_check_;
bool abi_python_has(const struct abi_python *p, const char *name) _must_check_;

/* True for "GLIBC_2.34", "GLIBCXX_3.4.29", "CXXABI_1.3", "GCC_3.0" and the like. */
bool abi_is_system_version(const char *version) _must_check_;
/* True if the suite's libraries define that version. */
bool abi_suite_has(const struct abi_suite *s, const char *version) _must_check_;
/*
 * The suites whose C and C++ libraries meet every version that the file needs of them, into
 * fits (room for n_suites); returns their number.
 */
size_t abi_suites(
    const struct abi_data *d, const struct elf_info *e, const struct abi_suite **fits);
