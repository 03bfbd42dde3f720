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
	char also_fpr[41]; /* while subkeys change: the next newest usable one, which signs too; ""
			    */
	/* What signs a .deb: the primary if it was named, may sign and its secret is at hand, else
	 * sign_fpr. Before version 0.30 debsig-verify knows primary keys only. */
	char origin_fpr[41];
	const char *uid;  /* first user id */
	const char *algo; /* "ed25519", "rsa4096" of sign_fpr */
	time_t created;
	time_t expires; /* earliest of primary and signing subkey; 0: never */
	bool secret;	/* the secret key of sign_fpr is at hand */
};

/* Makes an ed25519 primary (certify, sign) with an ed25519 signing subkey, without a passphrase.
 * expire is gpg's form ("3y", "18m", "90d", "2030-01-31", "0"). GNUPGHOME is made if absent.
 * ERR_CONFLICT if a key of the same uid exists, ERR_USAGE for a malformed uid or expire. */
int keyring_new(const char *uid, const char *expire, struct key_info *out, struct arena *a,
    struct err *err) _must_check_;
/* Finds a key by the fingerprint of its primary key, or of the very subkey that shall sign
 * (spaces, case and 0x ignored). ERR_USAGE if it is no full fingerprint; ERR_TRUST when missing,
 * expired, revoked or without a signing key. */
int keyring_find(
    const char *fpr, struct key_info *out, struct arena *a, struct err *err) _must_check_;
/* Fails with ERR_TRUST and the reason if apt 2.6 or apt 3 would refuse signatures of this key:
 * expired, revoked, no signing key, RSA under 2048 bits, DSA, a curve that apt 3 does not know,
 * SHA-1 self-signature, or a subkey's SHA-1 signature over its primary. */
int keyring_check(const char *fpr, struct err *err) _must_check_;

/* One key of a keyring file; reason is NULL if it passes the checks above. */
struct key_verdict {
	struct key_info key;
	const char *reason;
};
/* The verdict on every key of a public keyring file, binary or armored, in file order.
 * ERR_FORMAT if it holds none. */
int keyring_check_file(const char *path, struct arena *a, struct key_verdict **out, size_t *n,
    struct err *err) _must_check_;
/* The public key, binary (for Signed-By files) or armored. */
int keyring_export(const char *fpr, bool armor, struct buf *out, struct err *err) _must_check_;
