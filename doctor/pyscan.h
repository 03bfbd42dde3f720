/* Every Python of a machine that a GPU program may run in, found and described from files. */
#pragma once
#include "../lib/base/compat.h"
#include "torch.h"
#include <stdbool.h>
#include <stddef.h>

struct err;
struct probe;

struct pyenv {
	const char *dir;	  /* "/opt/venv"; "/usr" of the system's Python */
	const char *kind;	  /* "system", "venv", "uv", "virtualenv", "conda", "prefix" */
	const char *version;	  /* "3.11", "3.13t"; NULL if nothing tells */
	const char *tag;	  /* "cp311", "cp313t" */
	const char *exe;	  /* DIR/bin/python; NULL if there is none */
	const char *home;	  /* folder of the interpreter that a venv was made from, or NULL */
	bool gone;		  /* exe leads nowhere */
	bool system_site;	  /* a venv that sees its base's packages too */
	const char *broken;	  /* why it is no whole environment, or NULL */
	const char *const *sites; /* folders on its path that hold packages, in order */
	size_t n_sites;
	const char *enabled_by; /* the .pth file that names the import root, or NULL */
	struct dists dists;
	struct torch torch;
};

struct pyenvs {
	struct pyenv *v;
	size_t n, cap;
};

/* Looks in the usual places: the system's, home, /opt and so on; uv, conda, pyenv, pipx. */
void pyscan_all(struct probe *p, struct pyenvs *out);
/* The environment in a folder; ERR_USAGE or ERR_FORMAT as python_find says. */
int pyscan_dir(struct probe *p, const char *dir, struct pyenvs *out, struct err *err) _must_check_;
/* The environment of an interpreter: a path, or a name in PATH. */
int pyscan_exe(struct probe *p, const char *exe, struct pyenvs *out, struct err *err) _must_check_;
/* True if one of the lines of a .pth file names the import root (site.py's rules). */
bool pyscan_pth_enables(const char *text) _must_check_;
