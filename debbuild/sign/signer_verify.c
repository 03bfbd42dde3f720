#include <string.h>

#include "../base/err.h"
#include "gpg.h"
#include "keyinfo.h"
#include "signer.h"

/* What is wrong with one signature, or NULL. */
static const char *fault(gpgme_signature_t s)
{
	switch (gpgme_err_code(s->status)) {
	case GPG_ERR_NO_ERROR:
		break;
	case GPG_ERR_BAD_SIGNATURE:
		return "the signature is bad: what it covers was changed after signing";
	case GPG_ERR_NO_PUBKEY:
		return "signed by another key";
	case GPG_ERR_KEY_EXPIRED:
		return "the key that signed it has expired";
	case GPG_ERR_SIG_EXPIRED:
		return "the signature has expired";
	case GPG_ERR_CERT_REVOKED:
		return "the key that signed it is revoked";
	case GPG_ERR_DIGEST_ALGO:
		return "the signature uses a weak digest";
	default:
		return gpgme_strerror(s->status);
	}
	switch (s->hash_algo) {
	case GPGME_MD_SHA256:
	case GPGME_MD_SHA384:
	case GPGME_MD_SHA512:
		return NULL;
	default:
		return "the signature uses a weak digest";
	}
}

/* The one to talk about: a bad one first, then a good one, then one by a known key. */
static int weight(gpgme_signature_t s)
{
	switch (gpgme_err_code(s->status)) {
	case GPG_ERR_BAD_SIGNATURE:
		return 3;
	case GPG_ERR_NO_ERROR:
		return 2;
	case GPG_ERR_NO_PUBKEY:
		return 0;
	default:
		return 1;
	}
}

static int judge(gpgme_ctx_t ctx, const char *keyring_file, char fpr[41], struct err *err)
{
	_cleanup_(gpg_key_free) gpgme_key_t key = NULL;
	gpgme_signature_t best = NULL;
	gpgme_verify_result_t r = gpgme_op_verify_result(ctx);
	for (gpgme_signature_t s = r ? r->signatures : NULL; s; s = s->next)
		if (!best || weight(s) > weight(best))
			best = s;
	if (!best)
		return err_set(err, ERR_TRUST, "it holds no OpenPGP signature");
	const char *why = fault(best), *by = best->fpr ? best->fpr : "unknown";
	if (why)
		return err_set(err, ERR_TRUST, "%s (key %s, keyring '%s')", why, by, keyring_file);
	if (gpg_get_key(ctx, by, &key, err) < 0)
		return -1;
	return keyinfo_normalise(key->subkeys->fpr, fpr, err);
}

static int verify(gpgme_data_t data, const void *sig, size_t sig_len, const char *keyring_file,
    char fpr[41], struct err *err)
{
	_cleanup_(gpg_temp_done) struct gpg_temp t = GPG_TEMP_INIT;
	_cleanup_(gpg_data_free) gpgme_data_t signature = NULL;
	if (!sig_len)
		return err_set(err, ERR_TRUST, "the signature is empty");
	if (gpg_temp_open(&t, keyring_file, false, err) < 0)
		return -1;
	gpgme_error_t e = gpgme_data_new_from_mem(&signature, sig, sig_len, 0);
	if (!e)
		e = gpgme_op_verify(t.ctx, signature, data, NULL);
	if (gpgme_err_code(e) == GPG_ERR_NO_DATA || gpgme_err_code(e) == GPG_ERR_BAD_DATA)
		return err_set(err, ERR_TRUST, "it holds no OpenPGP signature");
	if (e)
		return gpg_fail(err, e, "cannot check a signature");
	return judge(t.ctx, keyring_file, fpr, err);
}

int signer_verify_source(const struct signer_source *src, const void *sig, size_t sig_len,
    const char *keyring_file, char fpr[41], struct err *err)
{
	_cleanup_(gpg_data_free) gpgme_data_t data = NULL;
	if (gpg_source_data(src, &data, err) < 0)
		return -1;
	return verify(data, sig, sig_len, keyring_file, fpr, err);
}

int signer_verify(const void *p, size_t n, const void *sig, size_t sig_len,
    const char *keyring_file, char fpr[41], struct err *err)
{
	_cleanup_(gpg_data_free) gpgme_data_t data = NULL;
	if (gpg_memory_data(p, n, &data, err) < 0)
		return -1;
	return verify(data, sig, sig_len, keyring_file, fpr, err);
}
