/*
 * A suite (dists/NAME): what its Release file says of it. The Release file on disk is the only
 * store of these settings: a publish without options keeps what the last one said.
 */
#pragma once
#include "../debbuild/base/compat.h"
#include "../debbuild/base/strv.h"
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct arena;
struct err;

struct suite {
	const char *name;	       /* dists/NAME and the Suite field */
	const char *codename;	       /* the name unless set */
	const char *origin, *label;    /* "debkit" unless set */
	const char *description;       /* or NULL */
	struct strv components, archs; /* sorted; archs without "all" */
	struct strv keys;	       /* primary fingerprints that sign; empty: unsigned */
	unsigned valid_days;	       /* Valid-Until is Date plus this; 0: no Valid-Until */
	time_t date;		       /* of the last Release; 0: never published */
};

/* A name of a suite or component: letters, digits, "+-._~", not first a dot or dash. */
int suite_check_name(const char *what, const char *name, struct err *err) _must_check_;
/*
 * Fills s with what dists/NAME/Release below root says, or with the defaults if there is none.
 * Strings live in the arena; suite_done frees the lists.
 */
int suite_load(struct arena *a, const char *root, const char *name, struct suite *s,
    struct err *err) _must_check_;
void suite_done(struct suite *s);
/* "dists/NAME/COMPONENT/binary-ARCH", relative to the root; lives in the arena. */
char *suite_index_dir(
    struct arena *a, const struct suite *s, const char *component, const char *arch) _must_check_;
