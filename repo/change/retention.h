/*
 * What the operator promises to keep: the file "retention" in the repository's root, written by
 * hand and served, one deb822 stanza for each suite. A suite without a stanza may change, and its
 * snapshots stay for ever.
 *
 *	Suite: testing
 *	Keep-Snapshots-Days: 90		debkit gc removes older snapshots of it
 *
 *	Suite: cu128-lts
 *	Frozen: yes			packages may be withdrawn, none may come or be removed
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>

struct arena;
struct err;

#define RETENTION_FILE "retention"

struct retention {
	bool frozen;
	unsigned snapshot_days; /* 0: for ever */
};

/* The rule of a suite; the file is checked as a whole: ERR_USAGE with FILE:LINE. */
int retention_load(
    const char *root, const char *suite, struct retention *out, struct err *err) _must_check_;
/* ERR_CONFLICT if the suite is frozen. */
int retention_check(const char *root, const char *suite, struct err *err) _must_check_;
