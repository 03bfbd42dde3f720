/*
 * The web pages of a repository: static files beside dists/ and pool/, made from what the suites
 * list. One change, with index.html last: a reader sees whole pages, and none that links to one
 * that is not there yet. The same repository gives the same bytes.
 *
 *	index.html                   lines to paste, chooser, matrix, newest packages, suites, keys
 *	packages.html, packages-2.html ...   every package
 *	packages/NAME/index.html, 2.html ... its versions
 *	withdrawn.html               what the file "withdrawn" tells
 *	feed.atom                    the newest packages
 */
#pragma once
#include "../index/repo.h"
#include <stddef.h>

struct arena;
struct buf;
struct catalog;
struct err;

/*
 * Appends HTML of the matrix and JSON for the chooser, or nothing. suite is the one that the lines
 * to paste name, or NULL. Called while the repository is locked.
 */
typedef int pages_matrix_fn(struct arena *a, const char *root, const struct catalog *c,
    const struct suite *suite, struct buf *html, struct buf *json, struct err *err);

struct pages_spec {
	struct repo_spec repo;
	const char *templates;	 /* the folder with site/ and suites */
	const char *title;	 /* of the front page; NULL: as it was, "": debkit's own */
	pages_matrix_fn *matrix; /* or NULL */
	bool follow; /* after a change: nothing is done where the pages are as the repository is */
};

struct pages_result {
	size_t written, same, removed; /* files */
	bool skipped;		       /* with follow: nothing had to be looked at */
};

/* Whether the root has a front page that debkit made. */
bool pages_are_there(const char *root) _must_check_;

/* ERR_CONFLICT if the root has an index.html that debkit did not make. */
int pages_write(
    const struct pages_spec *spec, struct pages_result *res, struct err *err) _must_check_;
