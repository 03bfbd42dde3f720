/* What a repository's root holds for those who configure a client: the public keys and a
 * .sources file. */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>

struct arena;
struct err;
struct repo;
struct strv;
struct suite;
struct txn;

#define SITE_KEYRING "debkit-archive-keyring.gpg"
#define SITE_SOURCES "debkit.sources"

/*
 * Replaces the fingerprints in keys by those that the user named (any case, a subkey's too);
 * sets *changed if they differ. gpg is asked only about keys that were not there before.
 */
int site_set_keys(
    struct strv *keys, const struct strv *named, bool *changed, struct err *err) _must_check_;
/*
 * Sets *differ if the published keys are not as gpg has them now: a key that got a new subkey, or
 * lives longer, is another key to clients.
 */
int site_keys_differ(struct arena *a, const struct repo *r, const struct suite *s, bool *differ,
    struct err *err) _must_check_;
/*
 * The file with the suite's public keys, for the check of .debs: the published one, or a private
 * copy if the keys are not published yet. Lives in the arena; NULL on error.
 */
const char *site_keyring(struct arena *a, const struct repo *r, const struct suite *s,
    bool keys_changed, struct err *err) _must_check_;
/*
 * Stages the public keys (if they changed or are missing) and, with a url or where there is one
 * with keys that changed, a deb822 .sources file
 * (sources.list(5)) with the keys embedded, so that this one file configures a client. An unsigned
 * suite gets Trusted: yes. *staged is set if there was something to do.
 */
int site_stage(struct arena *a, struct txn *t, const struct repo *r, const struct suite *s,
    bool keys_changed, const char *url, bool *staged, struct err *err) _must_check_;
