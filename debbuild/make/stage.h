/*
 * The tree of each package: DIR becomes data.tar. All files come from the sources, the steps'
 * outputs and the templates; nothing is compiled here.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>
#include <time.h>

struct abi_proof;
struct arena;
struct buf;
struct err;
struct plan;
struct plan_package;
struct strv;

/* Where things lie, and what the packages say. */
struct stage_context {
	const struct plan *plan;
	const char *templates, *cache, *work;
	const char *sign_key;		/* fingerprint, or NULL */
	const struct strv *keys;	/* of the keyring package: sign_key and those to come */
	bool no_sign;			/* the key is named, but signs nothing */
	const char *repo_url;		/* for the .sources file, or NULL: none is shipped */
	time_t date;			/* SOURCE_DATE_EPOCH */
	const struct abi_proof *proofs; /* of each binding of the plan; NULL until proved */
	const char *proof_id;		/* hash of all that the proofs are made against */
};

/* Fills dir (made new) with the package's files. */
int stage_package(const struct stage_context *c, const struct plan_package *pkg, const char *dir,
    struct err *err) _must_check_;
/*
 * Expands templates/TEMPLATE/NAME for the package. Templates may name PACKAGE VERSION
 * UPSTREAM_VERSION DATE ARCH MULTIARCH FLAVOUR CUDA CUDA_DASHED CUDA_MAJOR RUNTIME_VERSION,
 * and SHLIBS_DEPENDS, which is depends.
 */
int stage_expand(const struct stage_context *c, const struct plan_package *pkg, const char *depends,
    const char *name, struct buf *out, struct err *err) _must_check_;
/* True if the package's template folder has that file. */
bool stage_has_template(
    const struct stage_context *c, const struct plan_package *pkg, const char *name) _must_check_;
/* The folder below usr/lib/MULTIARCH that holds a flavour's binaries; lives in the arena. */
const char *stage_flavour_dir(struct arena *a, const struct plan *p);
/* The folder there that holds a flavour's stores of Triton kernels, triton-V; in the arena. */
const char *stage_kernels_dir(struct arena *a, const struct plan *p);
