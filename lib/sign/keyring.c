#include "keyring.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/clock.h"
#include "../base/err.h"
#include "../base/path.h"
#include "../base/strv.h"
#include "../base/xalloc.h"
#include "gpg.h"
#include "keyinfo.h"

#define UID_BYTES 200
/* gpg needs a folder for its agent's socket, whose name may have 107 bytes in all. */
#define HOME_BYTES 80

static int check_uid(const char *uid, struct err *err)
{
	const char *mail = strrchr(uid, '<');
	bool ok = mail && mail > uid && strchr(mail, '@') && str_ends(uid, ">") &&
		  strlen(uid) <= UID_BYTES;
	for (const char *p = uid; *p; p++)
		ok = ok && !iscntrl((unsigned char)*p);
	if (!ok)
		return err_set(err, ERR_USAGE,
		    "'%s' is no user id; it has the form \"Name <mail@host>\", at most %d bytes",
		    uid, UID_BYTES);
	return 0;
}

static int make_home(struct err *err)
{
	const char *home = getenv("GNUPGHOME");
	if (!home || !*home || path_is_dir(home))
		return 0;
	if (path_mkdirs_for(home, err) < 0)
		return -1;
	if (mkdir(home, 0700) < 0)
		return err_sys(err, "cannot create the key folder '%s' (GNUPGHOME)", home);
	return 0;
}

static int check_new(gpgme_ctx_t ctx, const char *uid, struct err *err)
{
	_cleanup_(gpg_key_free) gpgme_key_t key = NULL;
	_free_ char *pattern = xasprintf("=%s", uid);
	gpgme_error_t e = gpgme_op_keylist_start(ctx, pattern, 0);
	if (!e)
		e = gpgme_op_keylist_next(ctx, &key);
	gpgme_op_keylist_end(ctx);
	if (!e)
		return err_set(err, ERR_CONFLICT,
		    "a key of '%s' exists in '%s': %s; use that one, or give another user id", uid,
		    gpg_home_name(), key->fpr);
	if (gpgme_err_code(e) != GPG_ERR_EOF)
		return gpg_fail(err, e, "cannot list the keys in '%s'", gpg_home_name());
	return 0;
}

static int fail_new(gpgme_error_t e, struct err *err)
{
	gpg_fail(err, e, "gpg could not make a key in '%s'", gpg_home_name());
	if (strlen(gpg_home_name()) > HOME_BYTES)
		err_hint(err, " (the name is too long for gpg-agent's socket; set GNUPGHOME to a "
			      "shorter one)");
	return -1;
}

int keyring_new(
    const char *uid, const char *expire, struct key_info *out, struct arena *a, struct err *err)
{
	_cleanup_(gpg_close) gpgme_ctx_t ctx = NULL;
	_cleanup_(gpg_key_free) gpgme_key_t key = NULL;
	unsigned long seconds = 0;
	if (check_uid(uid, err) < 0 || keyinfo_parse_expire(expire, &seconds, err) < 0)
		return -1;
	if (make_home(err) < 0 || gpg_open(NULL, &ctx, err) < 0 || check_new(ctx, uid, err) < 0)
		return -1;
	unsigned flags = GPGME_CREATE_NOPASSWD | (seconds ? 0 : GPGME_CREATE_NOEXPIRE);
	gpgme_error_t e = gpgme_op_createkey(
	    ctx, uid, "ed25519", 0, seconds, NULL, flags | GPGME_CREATE_CERT | GPGME_CREATE_SIGN);
	if (e)
		return fail_new(e, err);
	gpgme_genkey_result_t made = gpgme_op_genkey_result(ctx);
	_free_ char *fpr = xstrdup(made->fpr);
	if (gpg_get_key(ctx, fpr, &key, err) < 0)
		return -1;
	e = gpgme_op_createsubkey(ctx, key, "ed25519", 0, seconds, flags | GPGME_CREATE_SIGN);
	if (e) {
		fail_new(e, err);
		return err_hint(err, " (the primary key %s was made and has no subkey)", fpr);
	}
	return keyring_find(fpr, out, a, err);
}

int keyring_find(const char *text, struct key_info *out, struct arena *a, struct err *err)
{
	_cleanup_(gpg_close) gpgme_ctx_t ctx = NULL;
	_cleanup_(gpg_key_free) gpgme_key_t key = NULL;
	char fpr[41];
	if (keyinfo_normalise(text, fpr, err) < 0 || gpg_open(NULL, &ctx, err) < 0)
		return -1;
	gpgme_set_keylist_mode(ctx, GPGME_KEYLIST_MODE_LOCAL | GPGME_KEYLIST_MODE_WITH_SECRET);
	if (gpg_get_key(ctx, fpr, &key, err) < 0)
		return err_hint(err,
		    " in '%s'; make one with debkit keys new, or set GNUPGHOME to where it is",
		    gpg_home_name());
	return keyinfo_fill(key, fpr, a, out, err);
}

int keyring_export(const char *text, bool armor, struct buf *out, struct err *err)
{
	_cleanup_(gpg_close) gpgme_ctx_t ctx = NULL;
	char fpr[41];
	if (keyinfo_normalise(text, fpr, err) < 0 || gpg_open(NULL, &ctx, err) < 0)
		return -1;
	if (gpg_export(ctx, fpr, armor, out, err) < 0)
		return err_hint(err, " in '%s'", gpg_home_name());
	return 0;
}
