/*
 * Withdrawn packages: no suite lists them any more, snapshots still do, and none may come back. The
 * file "withdrawn" in the repository's root says so to people and programs, one deb822 stanza for
 * each, oldest first, with a detached signature of the suites' keys in "withdrawn.asc":
 *
 *	Package: python3-causal-conv1d-cu128
 *	Version: 1.7.0-1
 *	Date: Mon, 30 Nov 2026 07:00:00 UTC
 *	Suites: stable testing		that listed it; absent if none did
 *	Reason: one line of text
 *
 * Each suite's Release says it as well, so that apt brings it to every machine, signed, and a
 *doctor reads it there: X-Debkit-Withdrawn, a line for each, "PACKAGE VERSION REASON".
 */
#pragma once
#include "../index/repo.h"

struct arena;
struct pkg_list;
struct stanza;
struct stanza_list;

#define WITHDRAWN_FILE	    "withdrawn"
#define WITHDRAWN_SIGNATURE "withdrawn.asc"

struct withdraw_spec {
	struct repo_spec repo;
	const char *package, *version, *reason;
	/* Called for each package that leaves a suite; may be NULL. */
	void (*report)(const char *suite, const char *name, const char *version, const char *arch);
};

struct withdraw_result {
	size_t packages; /* that left suites */
	bool known;	 /* it was withdrawn before */
};

/* ERR_USAGE if neither a suite nor the pool has it, or the reason is no line of text. */
int withdraw_run(
    const struct withdraw_spec *spec, struct withdraw_result *res, struct err *err) _must_check_;
/* The list; none if there is no such file. */
int withdraw_load(
    struct arena *a, const char *root, struct stanza_list *out, struct err *err) _must_check_;
/* The lines of a Release's field, in the arena; NULL if there is none. */
const char *withdraw_lines(struct arena *a, const struct stanza_list *list) _must_check_;
/* The stanza of that package, or NULL. */
const struct stanza *withdraw_find(
    const struct stanza_list *list, const char *package, const char *version) _must_check_;
/* ERR_CONFLICT with the reason if one of the packages was withdrawn. */
int withdraw_check(const char *root, const struct pkg_list *packages, struct err *err) _must_check_;
