/*
 * What lies beside a .deb, in a folder of built packages and in the pool: FILE.buildinfo,
 * FILE.spdx.json with FILE.spdx.json.asc, FILE.intoto.json. No index names them; they come with
 * their package and go with it.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>

struct err;
struct pkg;
struct strv;
struct txn;

/*
 * Stages the papers that lie beside the file a package comes from, for the pool. ERR_CONFLICT if
 * its .buildinfo is that of other bytes: then none of them can be believed.
 */
int papers_stage(struct txn *t, const struct pkg *p, struct err *err) _must_check_;
/* Appends the names that the papers of a .deb have, whether they exist or not. */
void papers_names(const char *deb, struct strv *out);
/* True if the name ends as one of the papers does. */
bool papers_is(const char *name) _must_check_;
