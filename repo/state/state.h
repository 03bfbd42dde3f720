/*
 * The repository's state, one SQLite file: what lies in the pool, what each suite lists, and
 * where the pieces of each index lie. It saves work and is never the truth: each row is used
 * only while the files on disk still are those that it speaks of, and all of it can be made again
 * from dists/ and pool/.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/digest.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct arena;
struct err;
struct pkg;
struct state;
struct strv;

/* By what a file is known again without reading it. */
struct ident {
	int64_t dev, ino, size, mtime; /* mtime in nanoseconds */
};
/* -1 if path is no regular file. */
int ident_get(const char *path, struct ident *out) _must_check_;
int ident_get_fd(int fd, struct ident *out) _must_check_;
/* The device is not compared: it changes with a reboot. */
bool ident_same(const struct ident *a, const struct ident *b) _must_check_;

/* Opens or makes the file. One that cannot be read, or of another version, is made afresh:
 * *fresh says so. */
int state_open(const char *path, struct state **out, bool *fresh, struct err *err) _must_check_;
/* Removes the file and those that SQLite keeps beside it. */
void state_forget(const char *path);
void state_close(struct state *s);
int state_begin(struct state *s, struct err *err) _must_check_;
int state_commit(struct state *s, struct err *err) _must_check_;
void state_rollback(struct state *s);

/* Packages in the pool. */
struct deb_row {
	int64_t id;
	const char *name, *version, *arch, *path;
	uint64_t size;
	char sha256[SHA256_HEX];
	int64_t unlisted; /* since when no suite lists it (seconds since 1970); 0: listed or new */
};
/* 1 if found (strings live in the arena), 0 if not, -1 on error. */
int state_find_deb(struct state *s, struct arena *a, const char *name, const char *version,
    const char *arch, struct deb_row *out, struct err *err) _must_check_;
/* Another version of the package whose file has the same path (they differ in the epoch). */
int state_find_twin(struct state *s, struct arena *a, const char *name, const char *path,
    struct deb_row *out, struct err *err) _must_check_;
int state_get_deb(struct state *s, struct arena *a, int64_t id, struct deb_row *out,
    struct err *err) _must_check_;
/* Adds or replaces the row of a name, version and architecture. */
int state_put_deb(struct state *s, const struct pkg *p, int64_t *id, struct err *err) _must_check_;
int state_drop_deb(struct state *s, int64_t id, struct err *err) _must_check_;
/* Sets since when a .deb is unlisted: now for those that no suite lists, 0 for the others. */
int state_mark_unlisted(struct state *s, int64_t deb, time_t now, struct err *err) _must_check_;
/* Calls fn with each package of the pool, and whether a suite lists it. */
typedef int deb_row_fn(void *arg, const struct deb_row *row, bool listed, struct err *err);
int state_each_deb(struct state *s, deb_row_fn *fn, void *arg, struct err *err) _must_check_;

/* Input files that were admitted: their identity and the package they are. 1, 0 or -1. */
int state_find_source(
    struct state *s, const struct ident *i, int64_t *deb, struct err *err) _must_check_;
int state_put_source(
    struct state *s, const struct ident *i, int64_t deb, struct err *err) _must_check_;

/* Suites, by the identity of the file that makes their Release known (InRelease, or Release). */
struct suite_row {
	int64_t id, generation;
	struct ident release;
};
int state_find_suite(
    struct state *s, const char *name, struct suite_row *out, struct err *err) _must_check_;
int state_put_suite(
    struct state *s, const char *name, struct suite_row *row, struct err *err) _must_check_;
/* Forgets a suite with its indexes and by-hash names. */
int state_drop_suite(struct state *s, const char *name, struct err *err) _must_check_;
int state_suites(struct state *s, struct strv *names, struct err *err) _must_check_;

/* by-hash names (relative to the root) that no current Release needs any more. */
int state_retire(struct state *s, int64_t suite, const char *path, int64_t generation, time_t now,
    struct err *err) _must_check_;
int state_unretire(struct state *s, int64_t suite, const char *path, struct err *err) _must_check_;
/* Appends, and forgets, those retired up to a generation and up to a time. */
int state_take_retired(struct state *s, int64_t suite, int64_t generation, time_t until,
    struct strv *paths, struct err *err) _must_check_;
/* Appends all that are retired. */
int state_retired(struct state *s, int64_t suite, struct strv *paths, struct err *err) _must_check_;
