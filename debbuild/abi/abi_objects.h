/*
 * The shared objects that `debkit abi` looks at: one file with the libraries that lie beside it, or
 * all of a .deb. What an object is loaded with is found by NEEDED names and SONAMEs.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/deb/elf.h"
#include <stddef.h>

struct arena;
struct err;

struct abi_object {
	const char *path;   /* as given, or the member of the .deb */
	const char *python; /* "3.11", by its name or by the table `bindings`; or NULL */
	char **claims;	    /* torch minors by the table, NULL-terminated; or NULL */
	const char *cudart; /* major version of the libcudart that it needs, "12"; or NULL */
	struct elf_info elf;
	const struct elf_info **beside; /* loaded with it */
	size_t n_beside;
};

struct abi_objects {
	struct abi_object *v; /* what is to be judged */
	size_t n;
	char *tmp; /* folder that a .deb was unpacked to, or NULL */
};

/* Fills out, whose strings live in the arena; ERR_FORMAT for what is neither. */
int abi_objects_load(
    struct arena *a, const char *path, struct abi_objects *out, struct err *err) _must_check_;
/* Removes the folder. */
void abi_objects_done(struct abi_objects *o);
