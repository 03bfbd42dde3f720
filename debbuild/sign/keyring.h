/*
 * OpenPGP keys in GNUPGHOME, through gpgme. Keys are named by full fingerprint (40 hex digits),
 * never by a default. Key handling is gpg's; debkit only asks and checks.
 */
#pragma once
#include "../base/compat.h"
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct arena;
struct buf;
struct err;

struct key_info {
	char fpr[41];	   /* primary key, upper case */
	char sign_fpr[41]; /* the subkey that would sign, or the primary itself */
	const char *uid;   /* first user id */
	const char *algo;  /* "ed25519", "rsa4096" of sign_fpr */
	time_t created;
	time_t expires; /* earliest of primary and signing subkey; 0: never */
	bool secret;	/* the secret signing key is at hand */
};

/* Makes an ed25519 primary (certify) with an ed25519 signing subkey, no passphrase asked by us.
 * expire is gpg's form ("3y", "0"). */
int keyring_new(const char *uid, const char *expire, struct key_info *out, struct arena *a,
    struct err *err) _must_check_;
/* Finds a key by fingerprint (spaces and case ignored); ERR_TRUST when missing or unusable. */
int keyring_find(
    const char *fpr, struct key_info *out, struct arena *a, struct err *err) _must_check_;
/* Fails with ERR_TRUST and the reason if apt 2.6 or apt 3 would refuse signatures of this key:
 * expired, revoked, no signing key, RSA under 2048 bits, DSA, SHA-1 self-signature. */
int keyring_check(const char *fpr, struct err *err) _must_check_;
/* The public key, binary (for Signed-By files) or armored. */
int keyring_export(const char *fpr, bool armor, struct buf *out, struct err *err) _must_check_;
