/*
 * The origin signature of a .deb, as debsig-verify(1) reads it: an ar member "_gpgorigin" after
 * data.tar with a binary detached signature over the bytes of debian-binary, control.tar.* and
 * data.tar.*, one after another.
 */
#pragma once
#include "../base/compat.h"
#include <stdbool.h>

struct buf;
struct deb_info;
struct err;
struct signer_ring;

/*
 * Writes out (may equal path; atomic) as path with the member; an older one is replaced. The
 * package is read wholly first: what deb_read refuses is not signed. fpr names the key as in
 * signer.h; for a primary key its key_info.origin_fpr signs. The signature's time is not part of
 * the bytes' reproducibility.
 */
int debsig_sign(const char *path, const char *out, const char *fpr, struct err *err) _must_check_;
/* Whether a package that was read with DEB_READ_SIGNED has the member, good or bad. */
bool debsig_is_signed(const struct deb_info *deb) _must_check_;
/* Checks the member against a public keyring file; fpr gets the primary key's fingerprint.
 * ERR_TRUST: absent, bad, by another key. The package is streamed, not held in memory. */
int debsig_verify(
    const char *path, const char *keyring_file, char fpr[41], struct err *err) _must_check_;
/* The same for a package that deb_read has read already, with DEB_READ_SIGNED. */
int debsig_verify_read(const struct deb_info *deb, const char *keyring_file, char fpr[41],
    struct err *err) _must_check_;
/* The same with a keyring that is open, for many packages; threads may share it. */
int debsig_check(const struct deb_info *deb, const struct signer_ring *ring, char fpr[41],
    struct err *err) _must_check_;
/* The policy file (XML) for /etc/debsig/policies/<key id>/debkit.pol; keyring is the file name
 * below /usr/share/debsig/keyrings/<key id>/. fpr is the key or subkey that signs: origin_fpr. */
int debsig_policy(
    const char *fpr, const char *keyring, struct buf *out, struct err *err) _must_check_;
/* The 16-digit key id that debsig-verify uses for the folders; of the key that signs. */
void debsig_key_id(const char *fpr, char id[17]);
