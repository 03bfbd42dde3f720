/*
 * Private to sign/: gpgme contexts, temporary homes for keys that are not the user's, and gpgme's
 * errors as ours.
 */
#pragma once
#include "../base/compat.h"
#include <gpgme.h>
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct signer_source;

/* An OpenPGP context for a key home; home NULL means GNUPGHOME (else gpg's own default). */
int gpg_open(const char *home, gpgme_ctx_t *ctx, struct err *err) _must_check_;
void gpg_close(gpgme_ctx_t *ctx);	/* accepts NULL inside */
void gpg_data_free(gpgme_data_t *data); /* accepts NULL inside */
void gpg_key_free(gpgme_key_t *key);	/* accepts NULL inside */

/* Where keys are looked for, for messages; points into gpgme or the environment. */
const char *gpg_home_name(void);
/* Sets "text: what gpgme says"; ERR_TRUST for errors about keys, else ERR_TOOL. Returns -1. */
int gpg_fail(struct err *err, gpgme_error_t e, const char *fmt, ...) _printf_(3, 4);

/*
 * A context in a new, empty home below TMPDIR that holds only the public keys of a file, binary
 * or armored. No agent is ever started in it. weak_ok keeps keys with SHA-1 self-signatures,
 * which are dropped otherwise. ERR_FORMAT if the file holds no usable public key.
 */
struct gpg_temp {
	char *home;
	gpgme_ctx_t ctx;
};
#define GPG_TEMP_INIT                                                                              \
	{                                                                                          \
		.home = NULL, .ctx = NULL                                                          \
	}
int gpg_temp_open(
    struct gpg_temp *t, const char *keyring_file, bool weak_ok, struct err *err) _must_check_;
void gpg_temp_done(struct gpg_temp *t);

/* The key that has this fingerprint, or whose subkey has it; ERR_TRUST if there is none. */
int gpg_get_key(gpgme_ctx_t ctx, const char *fpr, gpgme_key_t *key, struct err *err) _must_check_;
/* Appends the public key as gpg exports it, without signatures of other people. */
int gpg_export(
    gpgme_ctx_t ctx, const char *fpr, bool armor, struct buf *out, struct err *err) _must_check_;
/* Data objects over a callback and over memory; both must outlive the object. */
int gpg_source_data(
    const struct signer_source *src, gpgme_data_t *data, struct err *err) _must_check_;
int gpg_memory_data(const void *p, size_t n, gpgme_data_t *data, struct err *err) _must_check_;
/* Appends all that a data object holds. */
int gpg_data_read(gpgme_data_t data, struct buf *out, struct err *err) _must_check_;
