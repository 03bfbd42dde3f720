/* Which bindings the finished packages in a folder hold, by their own tables. */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>

struct arena;
struct err;
struct recipe;
struct strv;

struct built_binding {
	const char *file;   /* "torch2.10-cp311.so" */
	const char *python; /* "3.11" */
	const char *torch;  /* "2.10": the one that it was compiled for */
	char **proved;	    /* all on which it was proved, NULL-terminated */
};

/* A flavour package. */
struct built_package {
	const char *path, *cuda, *archs; /* archs: "9.0 9.0+PTX" */
	const char *version;
	struct built_binding *v;
	size_t n;
	/* Of a package of Triton kernels, which has no bindings; else NULL. NULL-terminated. */
	char **tritons, **pythons;
	const char *suite; /* for a reader: the suite that has it, if it is not the usual one */
};

struct built {
	struct built_package *v;
	size_t n;
};

/*
 * Reads the flavour packages of the recipe, in its present version, that lie in dir; none is no
 * error, nor that there is no dir. A package that cannot be read is ERR_FORMAT.
 */
int built_read(struct arena *a, const struct recipe *r, const char *dir, struct built *out,
    struct err *err) _must_check_;
/* The same of these files, of whatever version. */
int built_read_files(
    struct arena *a, const struct strv *paths, struct built *out, struct err *err) _must_check_;
