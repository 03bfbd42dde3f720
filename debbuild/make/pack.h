/*
 * Packages from staged trees: control from the recipe's template with what the binaries say of
 * themselves, the .deb, its signature, and a check of the finished file.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/digest.h"
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct err;
struct plan_package;
struct stage_context;

/* A finished package on disk. */
struct pack_result {
	const char *package, *path;
	char key[SHA256_HEX];	 /* of all that went in */
	char sha256[SHA256_HEX]; /* of the .deb */
	uint64_t size;
	bool unchanged; /* it stood there already, made from the same inputs */
};

/*
 * Makes OUT/NAME_VERSION_ARCH.deb, or finds that the one there was made from the same inputs.
 * Nothing half-written is ever under that name.
 */
int pack_package(struct arena *a, const struct stage_context *c, const struct plan_package *pkg,
    const char *out, struct pack_result *res, struct err *err) _must_check_;
/* Fails if something lies under the package's name that must not be replaced, such as a folder. */
int pack_check_target(
    const struct plan_package *pkg, const char *out, struct err *err) _must_check_;
/* True, with res filled, if OUT holds the package made from the same inputs; reads no .deb. */
bool pack_is_current(struct arena *a, const struct stage_context *c, const struct plan_package *pkg,
    const char *out, struct pack_result *res);
