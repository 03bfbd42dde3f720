/*
 * Keys that change while clients go on. A new signing subkey signs beside the one before it until
 * that one is retired: both signatures stand in a Release, and a client that knows either accepts
 * it. Warnings come long before a key ends.
 */
#pragma once
#include "../base/compat.h"
#include <time.h>

struct arena;
struct err;
struct key_info;
struct strv;

/* Days before the end of a key at which publish, refresh and doctor begin to warn. */
#define ROTATE_WARN_DAYS 60

/* Adds an ed25519 signing subkey that lives as long as expire says (keyring_new's forms). */
int rotate_add_subkey(const char *fpr, const char *expire, struct key_info *out, struct arena *a,
    struct err *err) _must_check_;
/*
 * Removes the secret part of every signing subkey but the newest, so that this one signs alone. The
 * public key keeps them, and what they signed stays good. Appends their fingerprints to retired.
 */
int rotate_retire(const char *fpr, struct strv *retired, struct err *err) _must_check_;
/*
 * Appends a sentence for each key of a public keyring file that ends within so many days of now,
 * or has ended: "the key FPR ends on 2029-11-29, in 42 days".
 */
int rotate_warnings(const char *keyring_file, time_t now, unsigned days, struct strv *out,
    struct err *err) _must_check_;
/* The revocation certificate that gpg made with the key, or NULL if it is not in its place. */
char *rotate_revocation(const char *fpr);
