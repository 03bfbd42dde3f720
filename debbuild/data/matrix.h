/*
 * The data that says what may be built: templates/matrix (torch releases), templates/archs (GPU
 * archs) and templates/toolkits. All deb822; a wrong line is FILE:LINE with what was expected.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct err;
struct strv;

struct torch_release {
	const char *version;		  /* "2.10.0" */
	const char *minor;		  /* "2.10" */
	const char *cuda;		  /* "12.8" */
	const char *triton, *cxx, *index; /* index NULL: the machine's own */
	char **pythons;			  /* "3.11" ..., NULL-terminated */
	unsigned line;			  /* of its stanza */
};

/* Torches that exist for no build of a CUDA, and why; bounds are minors, NULL: none. */
struct torch_gap {
	const char *cuda, *torch_from, *torch_to, *reason;
};

struct gpu_arch {
	const char *cc;				/* "9.0" */
	const char *sm;				/* "90" */
	const char *name, *cuda_from, *cuda_to; /* cuda_to NULL: no end known */
	char **defaults;			/* CUDA versions whose packages carry it */
	char **runs_on;
	char **torches; /* CUDA versions whose torch is built for it */
};

struct arch_denial {
	const char *cc, *cuda_from, *cuda_to, *reason;
};

struct toolkit_part {
	const char *project, *version;
	char **members; /* kept, below nvidia/<component>/ */
};

struct toolkit_recipe {
	const char *cuda, *route; /* route: "nvcc", "nvrtc" or "clang" */
	const char *runtime_project, *runtime_version;
	struct toolkit_part *parts;
	size_t n_parts;
};

struct matrix {
	struct torch_release *torches;
	size_t n_torches;
	struct torch_gap *gaps;
	size_t n_gaps;
	struct gpu_arch *archs;
	size_t n_archs;
	struct arch_denial *denials;
	size_t n_denials;
	struct toolkit_recipe *toolkits;
	size_t n_toolkits;
};

int matrix_load(
    struct arena *a, const char *templates_dir, struct matrix *out, struct err *err) _must_check_;
/* "12.8" against "12.10": by number, as a version of two or three parts. */
int matrix_compare(const char *a, const char *b) _must_check_;
/* The release of that version or minor for the CUDA, or NULL. */
const struct torch_release *matrix_torch(
    const struct matrix *m, const char *torch, const char *cuda) _must_check_;
/* The gap that a torch minor falls into for the CUDA, or NULL. */
const struct torch_gap *matrix_gap(
    const struct matrix *m, const char *minor, const char *cuda) _must_check_;
const struct toolkit_recipe *matrix_toolkit(const struct matrix *m, const char *cuda) _must_check_;
/* The version of the part that has a member, such as "bin/ptxas"; NULL if none has. */
const char *toolkit_part_version(const struct toolkit_recipe *t, const char *member) _must_check_;
/* The arch for that CUDA, named "9.0" or "sm_90"; ERR_USAGE with the known ones, or with the reason
 * of a denial. */
int matrix_arch(const struct matrix *m, const char *word, const char *cuda,
    const struct gpu_arch **out, struct err *err) _must_check_;
/* Fails with ERR_USAGE naming the CUDAs known if cuda is not one of them. */
int matrix_check_cuda(const struct matrix *m, const char *cuda, struct err *err) _must_check_;
