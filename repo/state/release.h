/* Release, Release.gpg and InRelease of a suite (repository format of apt), read and written. */
#pragma once
#include "../../lib/base/compat.h"
#include "state.h"
#include "sums.h"
#include <stddef.h>
#include <time.h>

struct arena;
struct buf;
struct err;
struct stanza;
struct suite;
struct txn;

/* A file that the Release names, by its path below dists/SUITE. */
struct release_file {
	const char *name;
	struct sums_hex sums;
};

struct release_list {
	struct release_file *v;
	size_t n, cap;
};

void release_list_add(struct release_list *l, const struct release_file *f);
/* The file of that name, or NULL. */
const struct release_file *release_list_find(
    const struct release_list *l, const char *name) _must_check_;
void release_list_done(struct release_list *l);

/*
 * Appends the Release text that clients see now: what InRelease signs, or Release where there is
 * no InRelease. path gets the file's name (in the arena). 1, 0 if the suite has neither, -1.
 */
int release_read(struct arena *a, const char *root, const char *suite, struct buf *out,
    const char **path, struct err *err) _must_check_;
/* Adds the files that a parsed Release lists; names live in the arena. */
int release_parse_files(struct arena *a, const struct stanza *s, const char *path,
    struct release_list *out, struct err *err) _must_check_;
/* Appends the Release text of a suite, dated s->date. */
void release_write(const struct suite *s, const struct release_list *files, struct buf *out);
/*
 * Stages Release and, if the suite has keys, Release.gpg and InRelease. last is the identity of
 * the file that clients saw before (or zero) and becomes that of the new one.
 */
int release_stage(struct arena *a, struct txn *t, const struct suite *s,
    const struct release_list *files, struct ident *last, struct err *err) _must_check_;
