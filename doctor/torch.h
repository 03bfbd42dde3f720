/* torch and its neighbours in a site-packages folder, read from their files alone. */
#pragma once
#include "../lib/base/compat.h"
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct probe;
struct strv;

struct torch {
	const char *version; /* "2.10.0+cu128", or NULL: there is none */
	const char *cuda;    /* "12.8"; NULL: built without, or not named */
	const char *rocm;    /* version of ROCm, or NULL */
	const char *dir;     /* SITE/torch; NULL: pip has it on record and its folder is missing */
	bool names_cuda;     /* version.py has a line for CUDA, whatever it says */
	bool two;	     /* pip has two versions on record */
	const char *broken;  /* what could not be read, or NULL */
	int cxx11_abi;	     /* 1, 0, or -1: its files do not say */
	const char *wants_triton, *triton; /* pinned by its metadata; installed */
};

/* One installed distribution, by the name of its dist-info folder (PEP 376, PEP 491). */
struct dist {
	const char *name; /* lower case, "-" and "." as "_" */
	const char *version;
	const char *site, *folder; /* "torch-2.10.0.dist-info" */
	bool whole;		   /* has a METADATA file that names it */
};
struct dists {
	struct dist *v;
	size_t n;
};

/* "Torch-2.10.0.dist-info"; false for any other name. */
bool dist_parse(struct arena *a, const char *folder, struct dist *out) _must_check_;
/* Those of interest to a doctor in the folders, in order. */
void dists_read(struct probe *p, const char *const *sites, size_t n, struct dists *out);
/* The first of this name, or NULL. */
const struct dist *dists_find(const struct dists *d, const char *name) _must_check_;

/* What torch/version.py assigns; text is cut up. */
void torch_parse_version(struct arena *a, char *text, struct torch *out);
/* The version after "==" that METADATA pins for triton, or NULL. */
const char *torch_parse_triton(struct arena *a, const char *metadata) _must_check_;
/* Fills out from the first of the folders that holds torch, as Python's import would. */
void torch_read(struct probe *p, const char *const *sites, size_t n, const struct dists *dists,
    struct torch *out);
