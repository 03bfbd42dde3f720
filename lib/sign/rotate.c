#include "rotate.h"

#include <stdlib.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include "../base/path.h"
#include "../base/proc.h"
#include "../base/strv.h"
#include "../base/xalloc.h"
#include "gpg.h"
#include "keyinfo.h"
#include "keyring.h"

#define DAY	 86400
#define SAID_MAX ((size_t)1 << 20)

static int get_key(
    const char *text, char fpr[41], gpgme_ctx_t *ctx, gpgme_key_t *key, struct err *err)
{
	if (keyinfo_normalise(text, fpr, err) < 0 || gpg_open(NULL, ctx, err) < 0)
		return -1;
	gpgme_set_keylist_mode(*ctx, GPGME_KEYLIST_MODE_LOCAL | GPGME_KEYLIST_MODE_WITH_SECRET);
	if (gpg_get_key(*ctx, fpr, key, err) < 0)
		return err_hint(err, " in '%s'", gpg_home_name());
	if (!strcmp((*key)->subkeys->fpr, fpr))
		return 0;
	return err_set(
	    err, ERR_USAGE, "%s is a subkey: name the primary key, %s", fpr, (*key)->subkeys->fpr);
}

int rotate_add_subkey(
    const char *text, const char *expire, struct key_info *out, struct arena *a, struct err *err)
{
	_cleanup_(gpg_close) gpgme_ctx_t ctx = NULL;
	_cleanup_(gpg_key_free) gpgme_key_t key = NULL;
	unsigned long seconds;
	char fpr[41];
	if (keyinfo_parse_expire(expire, &seconds, err) < 0 ||
	    get_key(text, fpr, &ctx, &key, err) < 0)
		return -1;
	if (!key->subkeys->secret)
		return err_set(err, ERR_TRUST,
		    "the secret primary key %s is not in '%s': only it can make a subkey", fpr,
		    gpg_home_name());
	unsigned flags = GPGME_CREATE_NOPASSWD | GPGME_CREATE_SIGN;
	gpgme_error_t e = gpgme_op_createsubkey(
	    ctx, key, "ed25519", 0, seconds, flags | (seconds ? 0 : GPGME_CREATE_NOEXPIRE));
	if (e)
		return gpg_fail(err, e, "gpg could not make a subkey of %s", fpr);
	return keyring_find(fpr, out, a, err);
}

/* gpgme deletes whole keys alone. */
static int delete_secret(const char *fpr, struct err *err)
{
	_free_ char *name = xasprintf("%s!", fpr);
	_cleanup_(buf_done) struct buf said = BUF_INIT(SAID_MAX);
	char *argv[] = {"gpg", "--batch", "--no-tty", "--yes", "--delete-secret-keys", name, NULL};
	return proc_check(&(struct proc_spec){.argv = argv, .out = &said, .errout = &said}, err);
}

int rotate_retire(const char *text, struct strv *retired, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(gpg_close) gpgme_ctx_t ctx = NULL;
	_cleanup_(gpg_key_free) gpgme_key_t key = NULL;
	struct key_info info;
	char fpr[41];
	if (get_key(text, fpr, &ctx, &key, err) < 0 || keyring_find(fpr, &info, &a, err) < 0)
		return -1;
	if (!info.secret)
		return err_set(err, ERR_TRUST,
		    "the secret part of the newest subkey, %s, is not in '%s': nothing could sign "
		    "then",
		    info.sign_fpr, gpg_home_name());
	for (gpgme_subkey_t s = key->subkeys->next; s; s = s->next) {
		if (!s->can_sign || !s->secret || !strcmp(s->fpr, info.sign_fpr))
			continue;
		if (delete_secret(s->fpr, err) < 0)
			return err_wrap(err, "cannot retire %s", s->fpr);
		strv_add(retired, s->fpr);
	}
	return 0;
}

int rotate_warnings(
    const char *keyring_file, time_t now, unsigned days, struct strv *out, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct key_verdict *v;
	size_t n;
	if (keyring_check_file(keyring_file, &a, &v, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct key_info *k = &v[i].key;
		char day[KEYINFO_DATE_MAX];
		long left = (long)((k->expires - now) / DAY);
		if (!k->expires || k->expires - now > (time_t)days * DAY)
			continue;
		keyinfo_date(k->expires, day);
		if (k->expires <= now)
			strv_addf(out, "the key %s ended on %s", k->fpr, day);
		else
			strv_addf(out, "the key %s ends on %s, in %ld day%s", k->fpr, day, left,
			    left == 1 ? "" : "s");
	}
	return 0;
}

char *rotate_revocation(const char *fpr)
{
	const char *set = getenv("GNUPGHOME"), *user = getenv("HOME");
	_free_ char *home = set && *set ? xstrdup(set) : xasprintf("%s/.gnupg", user ? user : "");
	char *path = xasprintf("%s/openpgp-revocs.d/%s.rev", home, fpr);
	if (path_exists(path))
		return path;
	free(path);
	return NULL;
}
