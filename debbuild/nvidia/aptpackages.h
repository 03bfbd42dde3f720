/*
 * The packages of an apt repository, from the text of its Packages file (deb822(5),
 * apt-ftparchive(1)).
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/digest.h"
#include <stddef.h>
#include <stdint.h>

struct arena;

struct apt_package {
	const char *name, *version, *arch;
	const char *file;	 /* relative to the repository's address; safe to join */
	const char *depends;	 /* Pre-Depends and Depends, "" if it needs nothing */
	char sha256[SHA256_HEX]; /* of the .deb */
	uint64_t size;		 /* of the .deb, bytes */
	uint64_t installed;	 /* Installed-Size, bytes; 0 if not told */
	const char *fault;	 /* why its stanza cannot be used, or NULL */
};

struct apt_packages {
	struct apt_package *v; /* in file order */
	size_t n;
};

/*
 * Everything for this architecture or for all; text ends with a NUL at len. A stanza that is wrong
 * spoils no other one, as NVIDIA's indexes have had such: it is kept with its fault if it has a
 * name, else left out.
 */
void aptpackages_parse(
    struct arena *a, const char *text, size_t len, const char *arch, struct apt_packages *out);
