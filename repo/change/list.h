/* Questions about a repository: what is listed, and what differs. */
#pragma once
#include "../index/repo.h"

struct list_spec {
	struct repo_spec repo;
	const char *suite;	     /* NULL: all */
	const char *component;	     /* NULL: all */
	const struct strv *packages; /* see select.h */
};

struct list_line {
	const char *suite, *component, *name, *version, *arch, *path;
	uint64_t size;
};
typedef void list_fn(void *arg, const struct list_line *line);
/* Calls fn for each package, by suite, name, component and architecture. */
int list_packages(
    const struct list_spec *spec, list_fn *fn, void *arg, struct err *err) _must_check_;
/* Calls fn with each suite as its Release describes it, and its number of packages. */
typedef void list_suite_fn(void *arg, const struct suite *s, size_t packages);
int list_suites(
    const struct repo_spec *repo, list_suite_fn *fn, void *arg, struct err *err) _must_check_;

/* A difference: '-' only in the first suite, '+' only in the second. */
typedef void list_diff_fn(void *arg, char sign, const struct list_line *line);
int list_diff(const struct repo_spec *repo, const char *first, const char *second, list_diff_fn *fn,
    void *arg, struct err *err) _must_check_;
