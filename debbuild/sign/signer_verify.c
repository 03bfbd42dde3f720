#include <string.h>

#include "../base/buf.h"
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

static int no_signature(struct err *err)
{
	return err_set(err, ERR_TRUST, "it holds no OpenPGP signature");
}

static bool is_no_signature(gpgme_error_t e)
{
	return gpgme_err_code(e) == GPG_ERR_NO_DATA || gpgme_err_code(e) == GPG_ERR_BAD_DATA;
}

/* signer gets the fingerprint of the key that made it, fpr that of its primary key. */
static int judge(
    gpgme_ctx_t ctx, const char *keyring_file, char signer[41], char fpr[41], struct err *err)
{
	_cleanup_(gpg_key_free) gpgme_key_t key = NULL;
	gpgme_signature_t best = NULL;
	gpgme_verify_result_t r = gpgme_op_verify_result(ctx);
	for (gpgme_signature_t s = r ? r->signatures : NULL; s; s = s->next)
		if (!best || weight(s) > weight(best))
			best = s;
	if (!best)
		return no_signature(err);
	const char *why = fault(best), *by = best->fpr ? best->fpr : "unknown";
	if (why)
		return err_set(err, ERR_TRUST, "%s (key %s, keyring '%s')", why, by, keyring_file);
	if (gpg_get_key(ctx, by, &key, err) < 0)
		return -1;
	if (keyinfo_normalise(by, signer, err) < 0)
		return -1;
	return keyinfo_normalise(key->subkeys->fpr, fpr, err);
}

static int verify(gpgme_data_t data, const void *sig, size_t sig_len, const char *keyring_file,
    char fpr[41], struct err *err)
{
	_cleanup_(gpg_temp_done) struct gpg_temp t = GPG_TEMP_INIT;
	_cleanup_(gpg_data_free) gpgme_data_t signature = NULL;
	char signer[41];
	if (!sig_len)
		return err_set(err, ERR_TRUST, "the signature is empty");
	if (gpg_temp_open(&t, keyring_file, false, err) < 0)
		return -1;
	gpgme_error_t e = gpgme_data_new_from_mem(&signature, sig, sig_len, 0);
	if (!e)
		e = gpgme_op_verify(t.ctx, signature, data, NULL);
	if (is_no_signature(e))
		return no_signature(err);
	if (e)
		return gpg_fail(err, e, "cannot check a signature");
	return judge(t.ctx, keyring_file, signer, fpr, err);
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

/* One signed text and nothing around it: what gpg shows of several is not always the signed one. */
static int check_clear(const char *p, size_t n, struct err *err)
{
	static const char begin[] = "-----BEGIN PGP SIGNED MESSAGE-----\n";
	static const char block[] = "\n-----BEGIN PGP SIGNATURE-----\n";
	static const char end[] = "\n-----END PGP SIGNATURE-----\n";
	static const char any[] = "\n-----BEGIN";
	const char *sig = memmem(p, n, block, strlen(block));
	if (n < strlen(begin) || memcmp(p, begin, strlen(begin)) != 0 || !sig)
		return err_set(err, ERR_TRUST, "it is no clear-signed text");
	const char *rest = sig + strlen(block) - 1;
	const char *last = memmem(rest, n - (size_t)(rest - p), end, strlen(end));
	const char *first = memmem(p, n, any, strlen(any));
	if (!last || last + strlen(end) != p + n || first != sig ||
	    memmem(rest, n - (size_t)(rest - p), any, strlen(any)))
		return err_set(err, ERR_TRUST, "it is more than one signed text");
	return 0;
}

static int run_verify(
    gpgme_ctx_t ctx, gpgme_data_t sig, gpgme_data_t text, gpgme_data_t plain, struct err *err)
{
	gpgme_error_t e = gpgme_op_verify(ctx, sig, text, plain);
	if (is_no_signature(e))
		return no_signature(err);
	return e ? gpg_fail(err, e, "cannot check a signature") : 0;
}

static int check_pin(gpgme_ctx_t ctx, const struct signer_pin *pin, struct err *err)
{
	char signer[41], primary[41], want[41];
	if (keyinfo_normalise(pin->fpr, want, err) < 0 ||
	    judge(ctx, pin->keyring_file, signer, primary, err) < 0)
		return -1;
	if (strcmp(primary, want) != 0)
		return err_set(
		    err, ERR_TRUST, "it is signed by the key %s, not by %s", primary, want);
	if (pin->weak_binding && strcmp(signer, want) != 0)
		return err_set(err, ERR_TRUST,
		    "it is signed by the subkey %s, and only the primary key %s is known", signer,
		    want);
	return 0;
}

int signer_verify_pinned(const void *p, size_t n, const void *sig, size_t sig_len,
    const struct signer_pin *pin, struct buf *out, struct err *err)
{
	_cleanup_(gpg_temp_done) struct gpg_temp t = GPG_TEMP_INIT;
	_cleanup_(gpg_data_free) gpgme_data_t data = NULL, signature = NULL, plain = NULL;
	if (!sig && check_clear(p, n, err) < 0)
		return -1;
	if (gpg_temp_open(&t, pin->keyring_file, pin->weak_binding, err) < 0 ||
	    gpg_memory_data(p, n, &data, err) < 0 || gpg_memory_data(NULL, 0, &plain, err) < 0 ||
	    (sig && gpg_memory_data(sig, sig_len, &signature, err) < 0))
		return -1;
	if (run_verify(t.ctx, sig ? signature : data, sig ? data : NULL, sig ? NULL : plain, err) <
		0 ||
	    check_pin(t.ctx, pin, err) < 0)
		return -1;
	if (!out)
		return 0;
	if (!sig)
		return gpg_data_read(plain, out, err);
	buf_append(out, p, n);
	return buf_check(out, "the signed text", err);
}
