#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keyhome.h"

#define UID "debkit test <test@debkit.invalid>"

static void new_makes_a_primary_and_a_signing_subkey(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, UID);
	assert_string_equal(k.uid, UID);
	assert_string_equal(k.algo, "ed25519");
	assert_string_not_equal(k.fpr, k.sign_fpr);
	assert_string_equal(k.fpr, k.origin_fpr);
	assert_true(k.secret);
	assert_in_range(k.expires - k.created, 3 * 365 * 86400 - 60, 3 * 365 * 86400 + 60);
	/* gpg's own view: one of each, and no passphrase is needed. */
	keyhome_sh(h, "test $(gpg --with-colons --list-secret-keys | grep -c '^s[se][cb]:') = 2");
	keyhome_sh(h, "echo x >d; g --detach-sign d; gpg --verify d.sig d");
	assert_int_equal(keyring_check(k.fpr, &h->err), 0);
}

static void new_refuses_a_second_key_of_the_same_uid(void **state)
{
	struct keyhome *h = *state;
	struct key_info first = keyhome_new(h, UID), second;
	assert_int_equal(keyring_new(UID, "3y", &second, &h->arena, &h->err), -1);
	assert_int_equal(h->err.code, ERR_CONFLICT);
	assert_non_null(strstr(h->err.msg, first.fpr));
	(void)keyhome_new(h, "another <test@debkit.invalid>");
}

static void new_refuses_malformed_input_before_it_makes_anything(void **state)
{
	static const char *const uids[] = {"", "Name", "Name <mail>", "<a@b>", "A\nB <a@b.invalid>",
	    "Name <a@b.invalid> trailing"};
	static const char *const expiries[] = {"", "y", "-1y", "3x", "1y2m", "2001-01-01",
	    "2030-13-01", "99999999999999999999y", "101y"};
	struct keyhome *h = *state;
	struct key_info k;
	for (size_t i = 0; i < ARRAY_SIZE(uids); i++) {
		assert_int_equal(keyring_new(uids[i], "3y", &k, &h->arena, &h->err), -1);
		assert_int_equal(h->err.code, ERR_USAGE);
	}
	for (size_t i = 0; i < ARRAY_SIZE(expiries); i++) {
		assert_int_equal(keyring_new(UID, expiries[i], &k, &h->arena, &h->err), -1);
		assert_int_equal(h->err.code, ERR_USAGE);
	}
	keyhome_sh(h, "test -z \"$(gpg --list-keys)\"");
}

static void new_knows_a_key_without_expiry(void **state)
{
	struct keyhome *h = *state;
	struct key_info k;
	assert_int_equal(keyring_new(UID, "0", &k, &h->arena, &h->err), 0);
	assert_int_equal(k.expires, 0);
}

static void find_takes_fingerprints_as_people_write_them(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, UID), found;
	char spaced[64] = "0x", lower[41];
	for (size_t i = 0, n = 2; i < 40; i++) {
		if (i && i % 4 == 0)
			spaced[n++] = ' ';
		spaced[n++] = k.fpr[i];
		lower[i] = k.fpr[i] >= 'A' ? (char)(k.fpr[i] + 32) : k.fpr[i];
	}
	lower[40] = '\0';
	assert_int_equal(keyring_find(spaced, &found, &h->arena, &h->err), 0);
	assert_string_equal(found.fpr, k.fpr);
	assert_int_equal(keyring_find(lower, &found, &h->arena, &h->err), 0);
	assert_string_equal(found.sign_fpr, k.sign_fpr);
	assert_int_equal(keyring_find(k.sign_fpr, &found, &h->arena, &h->err), 0);
	assert_string_equal(found.fpr, k.fpr);
	assert_string_equal(found.sign_fpr, k.sign_fpr);
}

static void find_refuses_short_ids_and_unknown_keys(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, UID), found;
	static const char *const bad[] = {"", "test@debkit.invalid", "0123456789ABCDEF", "0x"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(keyring_find(bad[i], &found, &h->arena, &h->err), -1);
		assert_int_equal(h->err.code, ERR_USAGE);
	}
	assert_int_equal(keyring_find(k.fpr + 24, &found, &h->arena, &h->err), -1);
	assert_int_equal(h->err.code, ERR_USAGE);
	assert_int_equal(
	    keyring_find("0123456789012345678901234567890123456789", &found, &h->arena, &h->err),
	    -1);
	assert_int_equal(h->err.code, ERR_TRUST);
	assert_non_null(strstr(h->err.msg, h->dir));
}

static void the_newest_usable_subkey_signs(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, UID), rotated;
	_free_ char *add =
	    xasprintf("g --faked-system-time 20380101T000000! --quick-add-key %s "
		      "ed25519 sign 0; echo faked-system-time 20380102T000000 >gpg.conf",
		k.fpr);
	/* Later than now and within no key's lifetime: the primary must outlive it. */
	_free_ char *live = xasprintf("g --quick-set-expire %s 0", k.fpr);
	keyhome_sh(h, live);
	keyhome_sh(h, add);
	assert_int_equal(keyring_find(k.fpr, &rotated, &h->arena, &h->err), 0);
	assert_string_not_equal(rotated.sign_fpr, k.sign_fpr);
	assert_string_equal(rotated.fpr, k.fpr);
	assert_int_equal(rotated.expires, 0);
	assert_int_equal(keyring_find(k.sign_fpr, &rotated, &h->arena, &h->err), -1);
	assert_non_null(strstr(h->err.msg, "expired"));
}

static void without_the_primary_secret_the_subkey_signs_packages(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, UID), left;
	_free_ char *cut = xasprintf("g --export-secret-subkeys %s >sub && g --yes "
				     "--delete-secret-keys %s && g --import sub",
	    k.fpr, k.fpr);
	keyhome_sh(h, cut);
	assert_int_equal(keyring_find(k.fpr, &left, &h->arena, &h->err), 0);
	assert_true(left.secret);
	assert_string_equal(left.sign_fpr, k.sign_fpr);
	assert_string_equal(left.origin_fpr, k.sign_fpr);
}

static void export_gives_what_gpgv_reads(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, UID);
	_cleanup_(buf_done) struct buf binary = BUF_INIT(1 << 16), armored = BUF_INIT(1 << 16);
	assert_int_equal(keyring_export(k.fpr, false, &binary, &h->err), 0);
	assert_int_equal(keyring_export(k.fpr, true, &armored, &h->err), 0);
	assert_non_null(strstr(armored.data, "BEGIN PGP PUBLIC KEY BLOCK"));
	const char *file = keyhome_file(h, "k.gpg");
	assert_int_equal(outfile_put(file, 0644, binary.data, binary.len, &h->err), 0);
	keyhome_sh(h, "echo x >d; g -b d; gpgv --keyring ./k.gpg d.sig d");
	assert_int_equal(
	    keyring_export("0123456789012345678901234567890123456789", false, &binary, &h->err),
	    -1);
	assert_int_equal(h->err.code, ERR_TRUST);
}

/* Commands that make one key, and what keyring_check must say of it (NULL: nothing). */
static const struct {
	const char *make, *reason;
} kinds[] = {
    {"g --quick-gen-key 'A <a@debkit.invalid>' rsa3072 cert,sign 1y", NULL},
    {"g --quick-gen-key 'A <a@debkit.invalid>' rsa2048 sign 1y", NULL},
    {"g --quick-gen-key 'A <a@debkit.invalid>' nistp256 sign 1y", NULL},
    {"g --quick-gen-key 'A <a@debkit.invalid>' rsa1024 sign 1y", "RSA of 1024 bits"},
    {"g --quick-gen-key 'A <a@debkit.invalid>' rsa1024 cert 1y; g --quick-add-key $(f) ed25519 "
     "sign 1y",
	"primary key is RSA of 1024 bits"},
    {"g --quick-gen-key 'A <a@debkit.invalid>' ed25519 cert 1y; g --quick-add-key $(f) rsa1024 "
     "sign 1y",
	"signing key is RSA of 1024 bits"},
    {"g --quick-gen-key 'A <a@debkit.invalid>' dsa2048 sign 1y", "dsa2048"},
    {"g --quick-gen-key 'A <a@debkit.invalid>' secp256k1 sign 1y", "secp256k1"},
    {"g --quick-gen-key 'A <a@debkit.invalid>' brainpoolP256r1 sign 1y", "brainpool"},
    {"g --quick-gen-key 'A <a@debkit.invalid>' ed25519 cert 1y", "no signing subkey"},
    {"g --cert-digest-algo SHA1 --quick-gen-key 'A <a@debkit.invalid>' ed25519 sign 1y",
	"SHA-1 self-signature"},
    {"g --cert-digest-algo SHA1 --quick-gen-key 'A <a@debkit.invalid>' ed25519 sign 1y; g "
     "--quick-add-uid $(f) 'B <b@debkit.invalid>'",
	NULL},
    {"g --cert-digest-algo SHA1 --quick-gen-key 'A <a@debkit.invalid>' ed25519 sign 1y; g "
     "--quick-add-uid $(f) 'B <b@debkit.invalid>'; g --quick-revoke-uid $(f) 'B "
     "<b@debkit.invalid>'",
	"SHA-1 self-signature"},
    {"g --quick-gen-key 'A <a@debkit.invalid>' ed25519 cert 1y; g --cert-digest-algo SHA1 "
     "--allow-weak-key-signatures --quick-add-key $(f) ed25519 sign 1y",
	"SHA-1 self-signature"},
    {"g --quick-gen-key 'A <a@debkit.invalid>' ed25519 cert 1y; g --cert-digest-algo SHA1 "
     "--allow-weak-key-signatures --quick-add-key $(f) ed25519 sign 1y; g --faked-system-time "
     "$(date -d '1 day' -u +%Y%m%dT%H%M%S) --cert-digest-algo SHA256 --quick-set-expire $(f) 1y "
     "'*'; echo faked-system-time $(date -d '2 days' -u +%Y%m%dT%H%M%S) >gpg.conf",
	"SHA-1 back signature"},
    {"g --faked-system-time 20200101T000000 --quick-gen-key 'A <a@debkit.invalid>' ed25519 sign 1y",
	"expired on 2020-12-31"},
    {"g --quick-gen-key 'A <a@debkit.invalid>' ed25519 cert 3y; g --quick-add-key $(f) ed25519 "
     "sign 1d; echo faked-system-time $(date -d '2 days' -u +%Y%m%dT%H%M%S) >gpg.conf",
	"signing subkey of key"},
    {"g --quick-gen-key 'A <a@debkit.invalid>' ed25519 sign 1y; sed s/^:// "
     "openpgp-revocs.d/$(f).rev | g --import",
	"revoked"},
};

static void check_tells_what_apt_would_refuse(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		void *one = NULL;
		assert_int_equal(keyhome_setup(&one), 0);
		struct keyhome *h = one;
		_free_ char *make = xasprintf("f() { gpg --with-colons --list-keys | awk -F: "
					      "'/^fpr/ {print $10; exit}'; }; set -e; %s",
		    kinds[i].make);
		keyhome_sh(h, make);
		int rc = keyring_check(keyhome_fpr(h), &h->err);
		if (!kinds[i].reason && rc < 0)
			fail_msg("'%s': %s", kinds[i].make, h->err.msg);
		if (kinds[i].reason && (rc == 0 || !strstr(h->err.msg, kinds[i].reason)))
			fail_msg(
			    "'%s': '%s', wanted '%s'", kinds[i].make, h->err.msg, kinds[i].reason);
		assert_int_equal(h->err.code, rc ? ERR_TRUST : ERR_NONE);
		assert_int_equal(keyhome_teardown(&one), 0);
	}
}

static void check_file_judges_every_key(void **state)
{
	struct keyhome *h = *state;
	struct key_info good = keyhome_new(h, UID);
	keyhome_sh(h, "g --cert-digest-algo SHA1 --quick-gen-key 'A <a@debkit.invalid>' ed25519 "
		      "sign 1y; gpg --export >ring.gpg; gpg --armor --export >ring.asc; : >empty");
	static const char *const files[] = {"ring.gpg", "ring.asc"};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct key_verdict *v;
		size_t n;
		assert_int_equal(
		    keyring_check_file(keyhome_file(h, files[i]), &h->arena, &v, &n, &h->err), 0);
		assert_int_equal(n, 2);
		assert_string_equal(v[0].key.fpr, good.fpr);
		assert_null(v[0].reason);
		assert_non_null(strstr(v[1].reason, "SHA-1"));
	}
	struct key_verdict *v;
	size_t n;
	assert_int_equal(
	    keyring_check_file(keyhome_file(h, "empty"), &h->arena, &v, &n, &h->err), -1);
	assert_int_equal(h->err.code, ERR_FORMAT);
	assert_int_equal(
	    keyring_check_file(keyhome_file(h, "fpr"), &h->arena, &v, &n, &h->err), -1);
	assert_int_equal(
	    keyring_check_file(keyhome_file(h, "none"), &h->arena, &v, &n, &h->err), -1);
	assert_int_equal(h->err.code, ERR_SYSTEM);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, keyhome_setup, keyhome_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(new_makes_a_primary_and_a_signing_subkey),
	    TEST(new_refuses_a_second_key_of_the_same_uid),
	    TEST(new_refuses_malformed_input_before_it_makes_anything),
	    TEST(new_knows_a_key_without_expiry),
	    TEST(find_takes_fingerprints_as_people_write_them),
	    TEST(find_refuses_short_ids_and_unknown_keys),
	    TEST(the_newest_usable_subkey_signs),
	    TEST(without_the_primary_secret_the_subkey_signs_packages),
	    TEST(export_gives_what_gpgv_reads),
	    cmocka_unit_test(check_tells_what_apt_would_refuse),
	    TEST(check_file_judges_every_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
