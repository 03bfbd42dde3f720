/* What a repository holds, by package: what the web pages are made from. */
#pragma once
#include "../state/pool.h"
#include "../index/repo.h"

struct arena;
struct err;

/* One .deb that a suite lists. */
struct catalog_deb {
	struct pkg pkg;
	struct strv suites;	/* that list it, by name */
	int64_t time;		/* seconds since 1970 of its file; 0 if it is not there */
	const char *signer;	/* fingerprint of the key whose origin signature is good, or "" */
	const char *signed_why; /* why signer is "" */
	const char *changelog;	/* its beginning, or "" */
};

struct catalog {
	struct arena *arena;
	struct suite *suites; /* by name: those that change, then snapshots */
	size_t n_suites, n_live;
	struct catalog_deb *v; /* by name, then version, the newest first, then architecture */
	size_t n, cap;
};

/* Reads every suite of an open repository; all of it lives in the arena. */
int catalog_read(struct catalog *c, struct repo *r, struct arena *a, struct err *err) _must_check_;
void catalog_done(struct catalog *c);
/* The number of .debs from i on that have the same name. */
size_t catalog_run(const struct catalog *c, size_t i) _must_check_;
/* A field of its stanza: NULL if there is none, or its first line. */
const char *catalog_field(struct arena *a, const struct catalog_deb *d, const char *field);
