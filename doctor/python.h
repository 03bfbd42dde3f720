/*
 * Python environments on disk, read from their files alone: no interpreter is run, so that an
 * environment inside another root, or one whose interpreter is gone, can be looked at too.
 */
#pragma once
#include "../lib/base/compat.h"
#include <stddef.h>

struct arena;
struct err;

/* What names debkit's packages to a Python: a line in a .pth file of its site-packages. */
#define PYTHON_IMPORT_ROOT "/usr/lib/debkit/python"
#define PYTHON_PTH	   "debkit.pth"

enum python_kind {
	PYTHON_VENV,  /* pyvenv.cfg (PEP 405): venv, virtualenv, uv */
	PYTHON_CONDA, /* conda-meta */
	PYTHON_PREFIX /* bin/python3 and its library side by side */
};

/* One CPython in the environment; an upgrade in place can leave more than one. */
struct python_site {
	const char *version; /* "3.11", "3.13t" */
	const char *path;    /* DIR/lib/python3.11/site-packages */
};

struct python_env {
	const char *dir;
	enum python_kind kind;
	struct python_site *sites; /* at least one, in the order of their numbers */
	size_t n_sites;
};

/* Looks at the folder; ERR_USAGE with what was looked for if it is no such environment, ERR_FORMAT
 * if it is one without a site-packages folder. */
int python_find(
    struct arena *a, const char *dir, struct python_env *out, struct err *err) _must_check_;
/* The .pth file of a site, in the arena. */
const char *python_pth(struct arena *a, const struct python_site *site);
