#include <string.h>

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include "../base/xalloc.h"
#include "gpg.h"
#include "keyinfo.h"
#include "keyring.h"
#include "packets.h"

#define KEY_MAX	     ((size_t)16 << 20)
#define RSA_BITS_MIN 2048

/*
 * What gpgv of apt 2.6 and sqv of apt 3 both accept. apt 3 (/usr/share/apt/default-sequoia.config)
 * has refused DSA since 2024 and SHA-1 and SHA-224 since 2026; its brainpool curves end in 2028.
 */
static int check_algo(gpgme_subkey_t s, const char *what, struct err *err)
{
	static const char *const curves[] = {"ed25519", "nistp256", "nistp384", "nistp521",
	    "NIST P-256", "NIST P-384", "NIST P-521"};
	bool ok = false;
	switch (s->pubkey_algo) {
	case GPGME_PK_RSA:
	case GPGME_PK_RSA_S:
		if (s->length < RSA_BITS_MIN)
			return err_set(err, ERR_TRUST,
			    "the %s is RSA of %u bits, and apt 3 refuses less than %d", what,
			    s->length, RSA_BITS_MIN);
		return 0;
	case GPGME_PK_ECDSA:
	case GPGME_PK_EDDSA:
		for (size_t i = 0; s->curve && i < ARRAY_SIZE(curves); i++)
			ok = ok || !strcmp(s->curve, curves[i]);
		break;
	default:
		break;
	}
	if (ok)
		return 0;
	char *algo = gpgme_pubkey_algo_string(s);
	err_set(err, ERR_TRUST, "the %s is %s, which apt 3 refuses", what,
	    algo ? algo : "of an unknown kind");
	gpgme_free(algo);
	return -1;
}

/* SHA-2 of 256 bits or more: what both know and accept. */
static bool is_strong(unsigned digest)
{
	return digest >= 8 && digest <= 10;
}

static int check_subkey(const struct packets_part *part, struct err *err)
{
	if (part->sig_version == 4 && is_strong(part->digest) && is_strong(part->back_digest))
		return 0;
	if (part->sig_version != 4 || !part->back_digest)
		return err_set(err, ERR_TRUST,
		    "the signing subkey %s has no valid binding; make another with gpg "
		    "--quick-add-key",
		    part->fpr);
	bool back = is_strong(part->digest);
	return err_set(err, ERR_TRUST,
	    "the signing subkey %s is bound by a %s %s, which apt 3 refuses; make another with gpg "
	    "--quick-add-key",
	    part->fpr, packets_digest_name(back ? part->back_digest : part->digest),
	    back ? "back signature" : "self-signature");
}

/* One user id (or the key itself) bound well is enough for both. */
static int check_primary(const struct packets *k, struct err *err)
{
	unsigned weak = 0;
	for (size_t i = 0; i < k->n; i++) {
		if (k->v[i].kind == PACKETS_SUBKEY || !k->v[i].digest)
			continue;
		if (is_strong(k->v[i].digest) && k->v[i].sig_version == 4)
			return 0;
		weak = k->v[i].digest;
	}
	if (!weak)
		return err_set(err, ERR_TRUST, "it has no self-signature");
	return err_set(err, ERR_TRUST,
	    "its user id is bound by a %s self-signature, which apt 3 refuses; renew it with gpg "
	    "--cert-digest-algo SHA512 --quick-set-expire %s 3y",
	    packets_digest_name(weak), k->v[0].fpr);
}

static int check_bindings(
    gpgme_ctx_t ctx, const struct key_info *info, struct arena *a, struct err *err)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(KEY_MAX);
	struct packets k;
	if (gpg_export(ctx, info->fpr, false, &b, err) < 0 ||
	    packets_read(a, b.data, b.len, &k, err) < 0 || check_primary(&k, err) < 0)
		return -1;
	for (size_t i = 0; i < k.n; i++)
		if (k.v[i].kind == PACKETS_SUBKEY && !strcmp(k.v[i].fpr, info->sign_fpr))
			return check_subkey(&k.v[i], err);
	return 0;
}

static int check_key(gpgme_ctx_t ctx, gpgme_key_t key, const char *wanted, struct arena *a,
    struct key_info *info, struct err *err)
{
	if (keyinfo_fill(key, wanted, a, info, err) < 0)
		return -1;
	gpgme_subkey_t s = keyinfo_subkey(key, info->sign_fpr);
	if (check_algo(key->subkeys, "primary key", err) < 0 ||
	    check_algo(s, "signing key", err) < 0 || check_bindings(ctx, info, a, err) < 0)
		return err_wrap(err, "key %s", info->fpr);
	return 0;
}

int keyring_check(const char *text, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(gpg_close) gpgme_ctx_t ctx = NULL;
	_cleanup_(gpg_key_free) gpgme_key_t key = NULL;
	struct key_info info;
	char fpr[41];
	if (keyinfo_normalise(text, fpr, err) < 0 || gpg_open(NULL, &ctx, err) < 0)
		return -1;
	gpgme_set_keylist_mode(ctx, GPGME_KEYLIST_MODE_LOCAL | GPGME_KEYLIST_MODE_WITH_SECRET);
	if (gpg_get_key(ctx, fpr, &key, err) < 0)
		return err_hint(err, " in '%s'", gpg_home_name());
	return check_key(ctx, key, fpr, &a, &info, err);
}

struct keys {
	gpgme_key_t *v;
	size_t n;
};

static void keys_done(struct keys *k)
{
	for (size_t i = 0; i < k->n; i++)
		gpgme_key_unref(k->v[i]);
	free(k->v);
}

static int list_all(gpgme_ctx_t ctx, struct keys *out, struct err *err)
{
	gpgme_key_t key;
	gpgme_error_t e = gpgme_op_keylist_start(ctx, NULL, 0);
	while (!e && !(e = gpgme_op_keylist_next(ctx, &key))) {
		out->v = xreallocarray(out->v, out->n + 1, sizeof *out->v);
		out->v[out->n++] = key;
	}
	gpgme_op_keylist_end(ctx);
	return gpgme_err_code(e) == GPG_ERR_EOF ? 0 : gpg_fail(err, e, "cannot list keys");
}

int keyring_check_file(
    const char *path, struct arena *a, struct key_verdict **out, size_t *n, struct err *err)
{
	_cleanup_(gpg_temp_done) struct gpg_temp t = GPG_TEMP_INIT;
	_cleanup_(keys_done) struct keys keys = {NULL, 0};
	if (gpg_temp_open(&t, path, true, err) < 0 || list_all(t.ctx, &keys, err) < 0)
		return -1;
	struct key_verdict *v = arena_alloc(a, keys.n * sizeof *v);
	for (size_t i = 0; i < keys.n; i++) {
		struct err why = {0};
		const char *fpr = keys.v[i]->fpr;
		if (check_key(t.ctx, keys.v[i], fpr, a, &v[i].key, &why) == 0)
			continue;
		if (why.code != ERR_TRUST && why.code != ERR_FORMAT)
			return err_set(err, why.code, "%s", why.msg);
		v[i].reason = arena_strdup(a, why.msg);
	}
	*out = v;
	*n = keys.n;
	return 0;
}
