/* Private to sign/: from gpgme's view of a key to struct key_info. */
#pragma once
#include "../base/compat.h"
#include <gpgme.h>
#include <time.h>

struct arena;
struct err;
struct key_info;

/* Makes 40 upper-case digits of a fingerprint as people write it; ERR_USAGE if it is none. */
int keyinfo_normalise(const char *text, char fpr[41], struct err *err) _must_check_;
/*
 * Chooses what signs: the subkey wanted names, or, if it names the primary, the newest usable
 * signing subkey, else the primary. Fills out as far as it can even when it fails with ERR_TRUST
 * (expired, revoked, no signing key).
 */
int keyinfo_fill(gpgme_key_t key, const char *wanted, struct arena *a, struct key_info *out,
    struct err *err) _must_check_;
/* The key or subkey with this fingerprint, or NULL. */
gpgme_subkey_t keyinfo_subkey(gpgme_key_t key, const char *fpr) _must_check_;
/* "2029-11-29" (UTC). */
#define KEYINFO_DATE_MAX 24
void keyinfo_date(time_t t, char out[KEYINFO_DATE_MAX]);
/* Seconds from now for gpg's forms of an expiry ("3y", "90d", "2030-01-31"); 0: never. ERR_USAGE.
 */
int keyinfo_parse_expire(const char *expire, unsigned long *seconds, struct err *err) _must_check_;
