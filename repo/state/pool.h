/*
 * Packages and where they lie. A package enters only through pool_admit, which reads all of it.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/digest.h"
#include "state.h"
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct err;
struct signer_ring;

struct pkg {
	const char *component;
	const char *name, *version, *arch;
	const char *path; /* below the root: pool/COMPONENT/PREFIX/SOURCE/FILE */
	uint64_t size;	  /* bytes of the .deb */
	char sha256[SHA256_HEX];
	const char *text; /* its stanza of the index, ends with one newline */
	size_t text_len;
	const char *from;   /* file to copy into the pool, or NULL: it is there */
	bool staged;	    /* from is copied already, for the time of the commit */
	struct ident ident; /* of from, before it was read */
	int64_t deb;	    /* its row in the state, or 0 */
};

struct pkg_list {
	struct pkg *v;
	size_t n, cap;
};

struct admit_spec {
	const char *component;
	const struct signer_ring
	    *ring;	 /* has signed the .deb (origin signature); NULL: unchecked */
	bool all_hashes; /* MD5, SHA-1 and SHA-512 in the stanza too */
};

/*
 * Reads file wholly with deb_read and makes the package's stanza. All in the arena. Safe in
 * several threads with an arena for each. ERR_FORMAT, ERR_TRUST.
 */
int pool_admit(struct arena *a, const char *file, const struct admit_spec *spec, struct pkg *out,
    struct err *err) _must_check_;
/* "pool/main/libf/libfoo": the folder for a source package. */
char *pool_dir(struct arena *a, const char *component, const char *source) _must_check_;

/* Another place in the pool: path and the stanza's Filename. */
void pkg_set_path(struct arena *a, struct pkg *p, const char *path);
/* Whether a file of that size lies at path below the root. */
bool pool_has(const char *root, const char *path, uint64_t size) _must_check_;

void pkg_list_add(struct pkg_list *l, const struct pkg *p);
void pkg_list_done(struct pkg_list *l);
/* Sorts by name, then version, then architecture. */
void pkg_list_sort(struct pkg_list *l);
/* A copy with its strings in the arena. */
struct pkg pkg_copy(struct arena *a, const struct pkg *p);
