/*
 * The manifest of a store of Triton kernels, usr/lib/TRIPLET/debkit/NAME/cuXYZ/triton-V/manifest:
 * one deb822 stanza that says what the store beside it holds.
 *
 *	Triton: 3.6.0
 *	Python: 3.10 3.11
 *	Archs: 8.0 9.0
 *	Profiles: qwen3-next qwen3.5-9b
 *
 * and, if there is a field Files, a line "SHA256 NAME" for each other file of the store. Other
 * fields are the store's own, and so is what its files hold; sm_90.pack has the kernels of
 * arch 9.0, sm_90.cp311.keys their keys for Python 3.11.
 */
#pragma once
#include "../base/compat.h"
#include "../base/strv.h"
#include <stdbool.h>
#include <stddef.h>

struct err;

/* What all manifests of a package say, each word once after manifest_sort. */
struct manifest_claims {
	struct strv tritons, pythons, archs, profiles;
	struct strv said, found;  /* "Triton 3.6.0: arch 9.0", by manifests and by names of files */
	struct strv listed, held; /* "Triton 3.6.0: SHA256 NAME", by manifests and by the files */
};

/* True for the name of a manifest in a package. */
bool manifest_is(const char *path) _must_check_;
/* Adds what the manifest of that name says. ERR_FORMAT if a field is missing, or if it names
 * another Triton than its folder. */
int manifest_add(struct manifest_claims *m, const char *path, const char *text, size_t len,
    struct err *err) _must_check_;
/* True for a file of a store other than its manifest. */
bool manifest_covers(const char *path) _must_check_;
/* Such a file and its SHA-256. */
void manifest_note_file(struct manifest_claims *m, const char *path, const char *sha256);
/* ERR_TRUST if a manifest names an arch or a Python that its store has no file for, or the other
 * way round, or lists a file that has another hash. */
int manifest_check(const struct manifest_claims *m, struct err *err) _must_check_;
/* Each word once: versions by number, profiles by bytes. */
void manifest_sort(struct manifest_claims *m);
void manifest_done(struct manifest_claims *m);
