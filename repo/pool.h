/*
 * Packages and where they lie. A package enters only through pool_admit, which reads all of it.
 */
#pragma once
#include "../debbuild/base/compat.h"
#include "../debbuild/base/digest.h"
#include <stdint.h>

struct arena;
struct err;
struct stanza;

struct pkg {
	const char *name, *version, *arch;
	const char *path; /* below the root: pool/COMPONENT/PREFIX/SOURCE/FILE */
	uint64_t size;	  /* bytes of the .deb */
	char sha256[SHA256_HEX];
	const char *text; /* its stanza of the index, ends with one newline */
	const char *from; /* file to copy into the pool, or NULL: it is there */
};

struct pkg_list {
	struct pkg *v;
	size_t n, cap;
};

/*
 * Reads file wholly with deb_read and makes the package's stanza. keyring: a public keyring that
 * must have signed the .deb (debsig-verify's origin signature), or NULL to leave signatures
 * unchecked. All in the arena. ERR_FORMAT, ERR_TRUST.
 */
int pool_admit(struct arena *a, const char *file, const char *component, const char *keyring,
    struct pkg *out, struct err *err) _must_check_;
/* The package that a stanza of an existing index describes. */
int pool_from_stanza(struct arena *a, const struct stanza *s, const char *source, struct pkg *out,
    struct err *err) _must_check_;
/* "pool/main/libf/libfoo": the folder for a source package. */
char *pool_dir(struct arena *a, const char *component, const char *source) _must_check_;

void pkg_list_add(struct pkg_list *l, const struct pkg *p);
void pkg_list_done(struct pkg_list *l);
/* By name, then version, then architecture. */
int pkg_compare(const struct pkg *a, const struct pkg *b) _must_check_;
