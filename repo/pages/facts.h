/*
 * What a .deb holds that no index tells: who signed it, and its changelog. Each file is read
 * once; what was seen is kept in .debkit/facts by the file's SHA-256, and may be removed at any
 * time.
 */
#pragma once
#include "../../lib/base/compat.h"

struct catalog;
struct err;
struct repo;

/*
 * Fills in signer, signed_why and changelog of each .deb. keyring is the file of keys that count;
 * NULL: no signature does. A .deb that cannot be read says so in signed_why: what a page shows is
 * no reason to show none.
 */
int facts_fill(
    struct catalog *c, const struct repo *r, const char *keyring, struct err *err) _must_check_;
