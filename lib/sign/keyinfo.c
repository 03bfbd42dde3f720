#include "keyinfo.h"

#include <ctype.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/clock.h"
#include "../base/err.h"
#include "keyring.h"

int keyinfo_normalise(const char *text, char fpr[41], struct err *err)
{
	const char *p = text;
	size_t n = 0;
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (; *p; p++) {
		if (*p == ' ')
			continue;
		if (n == 40 || !isxdigit((unsigned char)*p)) {
			n = 0;
			break;
		}
		fpr[n++] = (char)toupper((unsigned char)*p);
	}
	fpr[n] = '\0';
	if (n != 40)
		return err_set(err, ERR_USAGE,
		    "'%s' is not a full fingerprint (40 hexadecimal digits); gpg --list-keys "
		    "shows them",
		    text);
	return 0;
}

void keyinfo_date(time_t t, char out[KEYINFO_DATE_MAX])
{
	struct tm tm;
	if (!gmtime_r(&t, &tm) || !strftime(out, KEYINFO_DATE_MAX, "%Y-%m-%d", &tm))
		strcpy(out, "an unknown day");
}

gpgme_subkey_t keyinfo_subkey(gpgme_key_t key, const char *fpr)
{
	for (gpgme_subkey_t s = key->subkeys; s; s = s->next)
		if (s->fpr && !strcmp(s->fpr, fpr))
			return s;
	return NULL;
}

static bool is_usable(gpgme_subkey_t s)
{
	return s->can_sign && !s->revoked && !s->expired && !s->disabled && !s->invalid;
}

/* The newest usable signing subkey whose secret is at hand, else the newest usable one; but not
 * the one to skip. */
static gpgme_subkey_t newest(gpgme_key_t key, gpgme_subkey_t skip)
{
	gpgme_subkey_t best = NULL;
	for (gpgme_subkey_t s = key->subkeys->next; s; s = s->next) {
		if (s == skip || !is_usable(s) || (best && best->secret && !s->secret))
			continue;
		if (!best || s->secret > best->secret || s->timestamp >= best->timestamp)
			best = s;
	}
	return best;
}

/* Why this key or subkey cannot sign. */
static int refuse(gpgme_key_t key, gpgme_subkey_t s, struct err *err)
{
	const char *fpr = key->subkeys->fpr;
	const char *part = s == key->subkeys ? "" : "signing subkey of ";
	char day[KEYINFO_DATE_MAX];
	keyinfo_date(s->expires, day);
	if (s->revoked)
		return err_set(err, ERR_TRUST, "the %skey %s is revoked; make another", part, fpr);
	if (s->expired)
		return err_set(err, ERR_TRUST,
		    "the %skey %s expired on %s; lengthen it with gpg --quick-set-expire %s 3y%s",
		    part, fpr, day, fpr, *part ? " '*'" : "");
	if (s->timestamp > clock_now()) {
		char made[KEYINFO_DATE_MAX], now[KEYINFO_DATE_MAX];
		keyinfo_date(s->timestamp, made);
		keyinfo_date(clock_now(), now);
		return err_set(err, ERR_TRUST,
		    "the %skey %s was made on %s, and this machine's clock says %s: set the clock",
		    part, fpr, made, now);
	}
	return err_set(
	    err, ERR_TRUST, "the %skey %s is disabled, or gpg holds it for invalid", part, fpr);
}

/* The subkey that fails least obviously, for the message: any that could sign but for its state. */
static int refuse_all(gpgme_key_t key, struct err *err)
{
	for (gpgme_subkey_t s = key->subkeys; s; s = s->next)
		if (s->can_sign)
			return refuse(key, s, err);
	return err_set(err, ERR_TRUST,
	    "the key %s has no signing subkey and may not sign itself; add one with gpg "
	    "--quick-add-key %s ed25519 sign 3y",
	    key->subkeys->fpr, key->subkeys->fpr);
}

static void describe(
    gpgme_key_t key, gpgme_subkey_t s, bool exact, struct arena *a, struct key_info *out)
{
	gpgme_subkey_t primary = key->subkeys, origin = s;
	char *algo = gpgme_pubkey_algo_string(s);
	if (!exact && primary->can_sign && (primary->secret || !s->secret))
		origin = primary;
	strcpy(out->fpr, primary->fpr);
	strcpy(out->sign_fpr, s->fpr);
	strcpy(out->origin_fpr, origin->fpr);
	gpgme_subkey_t also = exact || s == primary ? NULL : newest(key, s);
	strcpy(out->also_fpr, also && also->secret ? also->fpr : "");
	out->uid = arena_strdup(a, key->uids && key->uids->uid ? key->uids->uid : "");
	out->algo = arena_strdup(a, algo ? algo : "unknown");
	gpgme_free(algo);
	out->created = s->timestamp;
	out->expires = primary->expires;
	if (s->expires && (!out->expires || s->expires < out->expires))
		out->expires = s->expires;
	out->secret = s->secret;
}

int keyinfo_fill(
    gpgme_key_t key, const char *wanted, struct arena *a, struct key_info *out, struct err *err)
{
	gpgme_subkey_t primary = key->subkeys;
	for (gpgme_subkey_t s = primary; s; s = s->next)
		if (!s->fpr || strlen(s->fpr) != 40)
			return err_set(err, ERR_TRUST,
			    "the key %s is not an OpenPGP key of version 4, which apt needs",
			    wanted);
	bool exact = strcmp(wanted, primary->fpr) != 0;
	gpgme_subkey_t s = exact ? keyinfo_subkey(key, wanted) : newest(key, NULL);
	describe(key, s ? s : primary, exact, a, out);
	if (key->revoked || key->expired || key->disabled || key->invalid)
		return refuse(key, primary, err);
	if (exact && s && !is_usable(s))
		return s->can_sign ? refuse(key, s, err)
				   : err_set(err, ERR_TRUST, "the key %s may not sign", wanted);
	if (!s && !is_usable(primary))
		return refuse_all(key, err);
	return 0;
}
