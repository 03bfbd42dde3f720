/* Warnings about keys that end: of those that a repository publishes. */
#pragma once
#include "../../lib/base/compat.h"

struct err;
struct strv;

/*
 * Appends a sentence for each key of the published keyring that ends within ROTATE_WARN_DAYS, or
 * has ended; none for a repository without keys. gpg is asked once for each state of the keyring:
 * its answer is kept in .debkit/.
 */
int expiry_warnings(const char *root, struct strv *out, struct err *err) _must_check_;
