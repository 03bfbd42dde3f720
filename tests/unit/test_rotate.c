#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../lib/base/strv.h"
#include "../../lib/sign/rotate.h"
#include "../../lib/sign/signer.h"
#include "keyhome.h"

#define UID "debkit test <test@debkit.invalid>"
#define DAY 86400

/* Fingerprints of the subkeys whose signatures stand in what is signed for the key. */
static const char *signers(struct keyhome *h, const char *fpr)
{
	_cleanup_(buf_done) struct buf sig = BUF_INIT(1 << 16), out = BUF_INIT(1 << 16);
	if (signer_sign("x\n", 2, &fpr, 1, SIGNER_DETACHED_BINARY, &sig, &h->err) < 0)
		fail_msg("%s", h->err.msg);
	FILE *f = fopen(keyhome_file(h, "d.sig"), "we");
	assert_int_equal(fwrite(sig.data, 1, sig.len, f), sig.len);
	fclose(f);
	keyhome_sh(h, "printf 'x\\n' >d; gpg --status-fd 1 --verify d.sig d | awk '$2 == "
		      "\"VALIDSIG\" {print $3}' | sort | tr '\\n' ' ' >who");
	assert_int_equal(path_read(keyhome_file(h, "who"), &out, &h->err), 0);
	return arena_strdup(&h->arena, buf_str(&out));
}

static const char *both(struct keyhome *h, const char *a, const char *b)
{
	bool first = strcmp(a, b) < 0;
	return arena_printf(&h->arena, "%s %s ", first ? a : b, first ? b : a);
}

static void both_subkeys_sign_until_one_is_retired(void **state)
{
	struct keyhome *h = *state;
	_cleanup_(strv_done) struct strv retired = STRV_INIT;
	struct key_info k = keyhome_new(h, UID), now, last;
	/* gpg counts seconds: the next subkey must be younger. */
	keyhome_sh(h, "sleep 1.1");
	if (rotate_add_subkey(k.fpr, "1y", &now, &h->arena, &h->err) < 0)
		fail_msg("%s", h->err.msg);
	assert_string_equal(now.fpr, k.fpr);
	assert_string_not_equal(now.sign_fpr, k.sign_fpr);
	assert_string_equal(now.also_fpr, k.sign_fpr);
	assert_string_equal(signers(h, k.fpr), both(h, k.sign_fpr, now.sign_fpr));
	if (rotate_retire(k.fpr, &retired, &h->err) < 0)
		fail_msg("%s", h->err.msg);
	assert_int_equal(retired.n, 1);
	assert_string_equal(retired.v[0], k.sign_fpr);
	assert_int_equal(keyring_find(k.fpr, &last, &h->arena, &h->err), 0);
	assert_string_equal(last.also_fpr, "");
	/* The public part stays, so that older signatures can be checked. */
	keyhome_sh(h, arena_printf(&h->arena, "gpg --list-keys %s", k.sign_fpr));
	assert_int_equal(rotate_retire(k.fpr, &retired, &h->err), 0);
	assert_int_equal(retired.n, 1);
}

static void a_subkey_is_no_key_to_rotate(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, UID), out;
	assert_int_equal(rotate_add_subkey(k.sign_fpr, "1y", &out, &h->arena, &h->err), -1);
	assert_int_equal(h->err.code, ERR_USAGE);
	assert_non_null(strstr(h->err.msg, k.fpr));
}

static void the_end_of_a_key_is_told_sixty_days_ahead(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, UID);
	static const struct {
		int days; /* before the end */
		const char *text;
	} cases[] = {{61, NULL}, {60, ", in 60 days"}, {2, ", in 2 days"}, {1, ", in 1 day"},
	    {-1, " ended on "}};
	keyhome_sh(h, arena_printf(&h->arena, "gpg --export %s >ring.gpg", k.fpr));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(strv_done) struct strv lines = STRV_INIT;
		if (rotate_warnings(keyhome_file(h, "ring.gpg"), k.expires - cases[i].days * DAY,
			ROTATE_WARN_DAYS, &lines, &h->err) < 0)
			fail_msg("%s", h->err.msg);
		assert_int_equal(lines.n, cases[i].text != NULL);
		if (cases[i].text) {
			assert_non_null(strstr(lines.v[0], cases[i].text));
			assert_non_null(strstr(lines.v[0], k.fpr));
		}
	}
}

static void the_revocation_certificate_is_found(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, UID);
	_free_ char *path = rotate_revocation(k.fpr);
	assert_non_null(path);
	_free_ char *none = rotate_revocation("0000000000000000000000000000000000000000");
	assert_null(none);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, keyhome_setup, keyhome_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(both_subkeys_sign_until_one_is_retired),
	    TEST(a_subkey_is_no_key_to_rotate), TEST(the_end_of_a_key_is_told_sixty_days_ahead),
	    TEST(the_revocation_certificate_is_found)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
