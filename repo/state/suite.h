/*
 * A suite (dists/NAME): what its Release says of it. The Release on disk is the only store of
 * these settings: a command without options keeps what the last one said.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/strv.h"
#include "release.h"
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct arena;
struct err;

#define SUITE_SNAPSHOT_FIELD  "X-Debkit-Snapshot-Of"
#define SUITE_WITHDRAWN_FIELD "X-Debkit-Withdrawn" /* see withdraw.h */

struct suite {
	const char *name;	       /* dists/NAME and the Suite field */
	const char *codename;	       /* the name unless set */
	const char *origin, *label;    /* "debkit" unless set */
	const char *description;       /* or NULL */
	const char *snapshots;	       /* where apt finds snapshots of it, or NULL */
	const char *snapshot_of;       /* a snapshot never changes; else NULL */
	const char *withdrawn;	       /* lines of the field, or NULL */
	struct strv components, archs; /* sorted; archs without "all" */
	struct strv keys;	       /* primary fingerprints that sign; empty: unsigned */
	bool compat;		       /* all digests, and .xz */
	bool no_gz;		       /* .zst alone: apt takes a .gz that is listed first */
	unsigned valid_days;	       /* Valid-Until is Date plus this; 0: no Valid-Until */
	time_t date;		       /* of the last Release; 0: never published */
	struct release_list files;     /* that the last Release names */
	bool half_signed; /* keys are named, but the last publish did not come to InRelease */
};

/* A name of a suite or component: letters, digits, "+-._~", not first a dot or dash. */
int suite_check_name(const char *what, const char *name, struct err *err) _must_check_;
/*
 * Fills s with what the Release of dists/NAME below root says, or with the defaults if there is
 * none. Strings live in the arena; suite_done frees the lists.
 */
int suite_load(struct arena *a, const char *root, const char *name, struct suite *s,
    struct err *err) _must_check_;
/* The defaults of a new suite. */
void suite_init(struct suite *s, const char *name);
/* Takes over what the text of a Release says; path names it, in errors and as InRelease or not. */
int suite_parse(struct arena *a, const char *text, size_t len, const char *path, struct suite *s,
    struct err *err) _must_check_;
void suite_done(struct suite *s);
