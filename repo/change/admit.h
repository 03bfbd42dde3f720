/* Admission: which of the files that a user names may be published, and what they are. */
#pragma once
#include "change.h"

struct strv;

struct admission_spec {
	const struct strv *files;
	const char *component;
	const char *keyring; /* file of the keys one of which must have signed; NULL: unchecked */
	bool paranoid;	     /* read files that were read before, too */
	bool dry;	     /* stage nothing */
	void (*refused)(
	    const char *file, const struct err *why); /* one call for each; may be NULL */
};

struct admission {
	struct pkg_list fresh; /* to be listed; p.from is NULL if the pool has the file */
	struct pkg_list lost;  /* listed already, but gone from the pool */
	size_t present;	       /* files that the suite lists already */
};

/*
 * Reads the files, in several threads, and compares them with the pool. Each new package gets
 * its row in the state. Strings live in the change's arena. If a file is refused, the callback
 * says why and the whole call fails. Without a change (NULL) the files are only read.
 */
int admit_files(struct change *c, const struct admission_spec *spec, struct admission *out,
    struct err *err) _must_check_;
/* Stages the copy of a package's file into the pool. ERR_CONFLICT if it changed since. */
int admit_stage(struct change *c, struct pkg *p, struct err *err) _must_check_;
void admission_done(struct admission *a);
