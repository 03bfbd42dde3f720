/*
 * Is every symbol that a shared object leaves undefined to be found where it will run? Looked up
 * in this order: the objects loaded with it, libcudart, torch's libraries, CPython, and for a
 * symbol with a version of glibc or GCC in what the newest suite defines. Weak symbols may stay
 * undefined.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../data/abi_data.h"
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct elf_info;
struct exports;

/* Where the object runs. A part that is NULL is not judged: its symbols count as outside. */
struct abi_world {
	const struct abi_data *data;
	const struct abi_python *python;
	const struct exports *torch, *cudart;
	const struct elf_info *const *beside; /* loaded with it: kernel library, binding */
	size_t n_beside;
};

struct abi_missing {
	const char *name;    /* mangled */
	const char *library; /* that would have to define it: "libc10.so", "CPython 3.11" ... */
};

struct abi_verdict {
	struct abi_missing *missing; /* sorted by name */
	size_t n_missing;
	size_t n_undefined;   /* symbols looked up: all but the weak ones */
	const char **outside; /* libraries that are not judged and may define the rest */
	size_t n_outside, n_unjudged;
};

/* Names and libraries of the verdict point into the arena, the ELF and the world. */
void abi_judge(
    struct arena *a, const struct elf_info *e, const struct abi_world *w, struct abi_verdict *out);
/* True if the mangled name speaks of torch's own namespaces. */
bool abi_is_torch_name(const char *name) _must_check_;
/* True for the SONAME of a library of torch that extensions link. */
bool abi_is_torch_library(const char *soname) _must_check_;
