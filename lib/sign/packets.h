/*
 * Which digests bind the parts of an OpenPGP public key, and how long it lasts. gpgme does not tell
 * the former, gpg's own listings leave out the back signature of a subkey, and a machine may have
 * no gpg, so the packets are read here (RFC 9580, sections 4.2 and 5.2; version 4 keys). Signatures
 * are not verified: sign/ takes the bytes from gpg, which drops bad self-signatures at import, and
 * for a diagnosis what a key says of itself is enough.
 */
#pragma once
#include "../base/compat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;

enum packets_kind { PACKETS_PRIMARY, PACKETS_SUBKEY, PACKETS_USER };

/* Numbers of hash algorithms, RFC 9580 section 9.5; 0: none, or the user id is revoked. */
struct packets_part {
	enum packets_kind kind;
	char fpr[41];	      /* of a key, else "" */
	unsigned digest;      /* of the newest self-signature that binds it */
	unsigned back_digest; /* of a subkey's own signature inside that one */
	unsigned sig_version; /* of that self-signature: 3 or 4 */
	uint32_t created;     /* of that self-signature */
	uint32_t valid_s; /* seconds from made that it gives the primary or subkey; 0: for ever */
	uint32_t made;	  /* of a key: seconds since 1970 */
	unsigned algo, bits; /* of a key: RFC 9580 section 9.1; bits of RSA and DSA, else 0 */
	bool revoked;
};

struct packets {
	struct packets_part *v; /* the primary key first */
	size_t n;
	size_t len; /* bytes of the key: what follows is the next one */
};

/* Reads one binary key (the first, if more follow). ERR_FORMAT with the offset. */
int packets_read(
    struct arena *a, const void *p, size_t n, struct packets *out, struct err *err) _must_check_;
/* "SHA-1", "SHA-256", ... or "an unknown digest". */
const char *packets_digest_name(unsigned digest) _must_check_;
