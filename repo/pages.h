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
#include "repo.h"
#include <stddef.h>

struct err;

struct pages_spec {
	struct repo_spec repo;
	const char *templates; /* the folder with site/ and suites */
	const char *title;     /* of the front page, or NULL */
	const char *matrix;    /* HTML of the matrix, or "" */
	const char *choice;    /* JSON for the chooser, or "" */
};

struct pages_result {
	size_t written, same, removed; /* files */
};

/* ERR_CONFLICT if the root has an index.html that debkit did not make. */
int pages_write(
    const struct pages_spec *spec, struct pages_result *res, struct err *err) _must_check_;
