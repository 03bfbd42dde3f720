/* Private to bundle.c: which packages of a suite a machine needs. */
#pragma once
#include "bundle.h"
#include "../../lib/deb/stanza.h"

struct strv;

/* A package as the suite lists it. */
struct bundle_pkg {
	struct stanza s;
	const char *component;
	bool chosen, asked; /* in the bundle; named by the install script */
};

struct bundle_list {
	struct bundle_pkg *v;
	size_t n;
};

/*
 * Marks what the machine needs: the newest version of each package whose Debkit fields fit it, and
 * of what these depend on as far as the suite has it. glibc: of the system, "2.39". recipes: only
 * theirs, each of which must have one; empty: of all, and left gets a sentence for each that has
 * none. ERR_USAGE.
 */
int bundle_choose(struct arena *a, const struct bundle_want *w, const char *glibc,
    const struct strv *recipes, struct bundle_list *list, struct strv *left,
    struct err *err) _must_check_;
