#include <string.h>

#include "../base/buf.h"
#include "../base/err.h"
#include "../base/xalloc.h"
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

struct signer_ring {
	struct gpg_temp temp;
	char *file;
	struct ring_key {
		char fpr[41], primary[41];
	} * keys; /* primary keys and subkeys */
	size_t n;
};

static void add_key(struct signer_ring *r, gpgme_key_t key)
{
	for (gpgme_subkey_t s = key->subkeys; s; s = s->next) {
		r->keys = xreallocarray(r->keys, r->n + 1, sizeof *r->keys);
		struct ring_key *k = &r->keys[r->n];
		if (keyinfo_normalise(s->fpr, k->fpr, NULL) == 0 &&
		    keyinfo_normalise(key->subkeys->fpr, k->primary, NULL) == 0)
			r->n++;
	}
}

static int list_keys(struct signer_ring *r, struct err *err)
{
	gpgme_error_t e = gpgme_op_keylist_start(r->temp.ctx, NULL, 0);
	while (!e) {
		_cleanup_(gpg_key_free) gpgme_key_t key = NULL;
		e = gpgme_op_keylist_next(r->temp.ctx, &key);
		if (!e)
			add_key(r, key);
	}
	return gpgme_err_code(e) == GPG_ERR_EOF ? 0 : gpg_fail(err, e, "cannot list '%s'", r->file);
}

static int open_ring(
    const char *keyring_file, bool weak_ok, struct signer_ring **out, struct err *err)
{
	_cleanup_(signer_ring_close) struct signer_ring *r = xcalloc(1, sizeof *r);
	r->file = xstrdup(keyring_file);
	if (gpg_temp_open(&r->temp, keyring_file, weak_ok, err) < 0 || list_keys(r, err) < 0)
		return -1;
	*out = take_ptr(r);
	return 0;
}

int signer_ring_open(const char *keyring_file, struct signer_ring **out, struct err *err)
{
	return open_ring(keyring_file, false, out, err);
}

void signer_ring_close(struct signer_ring **r)
{
	if (!*r)
		return;
	gpg_temp_done(&(*r)->temp);
	free((*r)->file);
	free((*r)->keys);
	free(*r);
	*r = NULL;
}

/* signer gets the fingerprint of the key that made it, fpr that of its primary key. */
static int judge(
    const struct signer_ring *r, gpgme_ctx_t ctx, char signer[41], char fpr[41], struct err *err)
{
	gpgme_signature_t best = NULL;
	gpgme_verify_result_t result = gpgme_op_verify_result(ctx);
	for (gpgme_signature_t s = result ? result->signatures : NULL; s; s = s->next)
		if (!best || weight(s) > weight(best))
			best = s;
	if (!best)
		return no_signature(err);
	const char *why = fault(best), *by = best->fpr ? best->fpr : "unknown";
	if (why)
		return err_set(err, ERR_TRUST, "%s (key %s, keyring '%s')", why, by, r->file);
	if (keyinfo_normalise(by, signer, err) < 0)
		return -1;
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->keys[i].fpr, signer)) {
			memcpy(fpr, r->keys[i].primary, sizeof r->keys[i].primary);
			return 0;
		}
	return err_set(err, ERR_TRUST, "no key %s in '%s'", signer, r->file);
}

static int run_verify(
    gpgme_ctx_t ctx, gpgme_data_t sig, gpgme_data_t text, gpgme_data_t plain, struct err *err)
{
	gpgme_error_t e = gpgme_op_verify(ctx, sig, text, plain);
	if (is_no_signature(e))
		return no_signature(err);
	return e ? gpg_fail(err, e, "cannot check a signature") : 0;
}

static int verify(const struct signer_ring *r, gpgme_data_t data, const void *sig, size_t sig_len,
    char fpr[41], struct err *err)
{
	_cleanup_(gpg_close) gpgme_ctx_t ctx = NULL; /* one belongs to one thread */
	_cleanup_(gpg_data_free) gpgme_data_t signature = NULL;
	char signer[41];
	if (!sig_len)
		return err_set(err, ERR_TRUST, "the signature is empty");
	if (gpg_open(r->temp.home, &ctx, err) < 0 ||
	    gpg_memory_data(sig, sig_len, &signature, err) < 0 ||
	    run_verify(ctx, signature, data, NULL, err) < 0)
		return -1;
	return judge(r, ctx, signer, fpr, err);
}

int signer_ring_verify(const struct signer_ring *r, const struct signer_source *src,
    const void *sig, size_t sig_len, char fpr[41], struct err *err)
{
	_cleanup_(gpg_data_free) gpgme_data_t data = NULL;
	if (gpg_source_data(src, &data, err) < 0)
		return -1;
	return verify(r, data, sig, sig_len, fpr, err);
}

int signer_verify(const void *p, size_t n, const void *sig, size_t sig_len,
    const char *keyring_file, char fpr[41], struct err *err)
{
	_cleanup_(signer_ring_close) struct signer_ring *r = NULL;
	_cleanup_(gpg_data_free) gpgme_data_t data = NULL;
	if (signer_ring_open(keyring_file, &r, err) < 0 || gpg_memory_data(p, n, &data, err) < 0)
		return -1;
	return verify(r, data, sig, sig_len, fpr, err);
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

static int check_pin(const struct signer_ring *r, const struct signer_pin *pin, struct err *err)
{
	char signer[41], primary[41], want[41];
	if (keyinfo_normalise(pin->fpr, want, err) < 0 ||
	    judge(r, r->temp.ctx, signer, primary, err) < 0)
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
	_cleanup_(signer_ring_close) struct signer_ring *r = NULL;
	_cleanup_(gpg_data_free) gpgme_data_t data = NULL, signature = NULL, plain = NULL;
	if (!sig && check_clear(p, n, err) < 0)
		return -1;
	if (open_ring(pin->keyring_file, pin->weak_binding, &r, err) < 0 ||
	    gpg_memory_data(p, n, &data, err) < 0 || gpg_memory_data(NULL, 0, &plain, err) < 0 ||
	    (sig && gpg_memory_data(sig, sig_len, &signature, err) < 0))
		return -1;
	if (run_verify(r->temp.ctx, sig ? signature : data, sig ? data : NULL, sig ? NULL : plain,
		err) < 0 ||
	    check_pin(r, pin, err) < 0)
		return -1;
	if (!out)
		return 0;
	if (!sig)
		return gpg_data_read(plain, out, err);
	buf_append(out, p, n);
	return buf_check(out, "the signed text", err);
}
