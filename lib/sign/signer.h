/* Making and checking OpenPGP signatures, through gpgme. Data digests are SHA-512. */
#pragma once
#include "../base/compat.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

struct buf;
struct err;

enum signer_mode { SIGNER_DETACHED_BINARY, SIGNER_DETACHED_ARMOR, SIGNER_CLEAR };

/* What is signed, when it is too large for memory: read gives 0 at the end, -1 with errno set. */
struct signer_source {
	ssize_t (*read)(void *arg, void *p, size_t n);
	void *arg;
};

/*
 * Signs n bytes with the keys named by full fingerprint (n_keys at least 1; several give several
 * signatures in one block, which is how a key is rotated: clients that know either accept it).
 * The fingerprint of a primary key lets its newest signing subkey sign, and the one before while
 * its secret is at hand (rotate.h); that of a subkey, or any with "!" appended, lets exactly this
 * one sign. Appends the signature (clear: the whole signed text) to out. ERR_TRUST when a key is
 * missing, expired or cannot sign.
 */
int signer_sign(const void *p, size_t n, const char *const *fprs, size_t n_keys,
    enum signer_mode mode, struct buf *out, struct err *err) _must_check_;
int signer_sign_source(const struct signer_source *src, const char *const *fprs, size_t n_keys,
    enum signer_mode mode, struct buf *out, struct err *err) _must_check_;
/*
 * Checks a detached signature made by any key in keyring_file (a binary or armored public
 * keyring; never the user's own). Stores the fingerprint of the signing primary key. Of several
 * signatures one must be good and none bad; those by keys not in the file do not count.
 * ERR_TRUST: not signed by these, bad, expired or revoked key, SHA-1.
 */
int signer_verify(const void *p, size_t n, const void *sig, size_t sig_len,
    const char *keyring_file, char fpr[41], struct err *err) _must_check_;
/*
 * The same, by the one key whose primary key's fingerprint the caller knows: another's signature
 * is ERR_TRUST even if that key is in the file. sig NULL: p is a clear-signed text, such as an
 * InRelease, and out gets what was signed and nothing else; text around it, a second one or a
 * second signature block is ERR_TRUST. With sig, out may be NULL.
 * weak_binding accepts SHA-1 self-signatures, since nothing is believed because of them; a subkey
 * then may not sign.
 */
struct signer_pin {
	const char *keyring_file;
	const char *fpr; /* 40 hex digits */
	bool weak_binding;
};
int signer_verify_pinned(const void *p, size_t n, const void *sig, size_t sig_len,
    const struct signer_pin *pin, struct buf *out, struct err *err) _must_check_;

/* A keyring file opened once to check many signatures, by several threads at once if need be. */
struct signer_ring;
int signer_ring_open(
    const char *keyring_file, struct signer_ring **out, struct err *err) _must_check_;
void signer_ring_close(struct signer_ring **r); /* accepts NULL inside */
/* As signer_verify, of a source. */
int signer_ring_verify(const struct signer_ring *r, const struct signer_source *src,
    const void *sig, size_t sig_len, char fpr[41], struct err *err) _must_check_;
