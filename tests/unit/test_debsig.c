#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "../../lib/sign/debsig.h"
#include "keyhome.h"

/* A package made by dpkg-deb, "x.deb" in the home. */
static void make_deb(struct keyhome *h, const char *options)
{
	_free_ char *make = xasprintf(
	    "rm -rf t; mkdir -p t/DEBIAN t/usr/share/x; head -c 70001 /dev/zero >t/usr/share/x/f; "
	    "printf 'Package: xy\\nVersion: 1\\nArchitecture: all\\nMaintainer: A "
	    "<a@debkit.invalid>\\nDescription: test\\n' >t/DEBIAN/control; chmod -R go-w t; "
	    "dpkg-deb --root-owner-group %s -b t x.deb",
	    options);
	keyhome_sh(h, make);
}

static const char *deb_path(struct keyhome *h, const char *name)
{
	_free_ char *path = path_join(h->dir, name);
	return arena_strdup(&h->arena, path);
}

static void sign(struct keyhome *h, const char *from, const char *to, const char *fpr)
{
	if (debsig_sign(deb_path(h, from), deb_path(h, to), fpr, &h->err) < 0)
		fail_msg("%s", h->err.msg);
}

static const char *ring(struct keyhome *h, const char *fpr)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 16);
	assert_int_equal(keyring_export(fpr, false, &b, &h->err), 0);
	const char *path = deb_path(h, arena_printf(&h->arena, "%s.gpg", fpr));
	assert_int_equal(outfile_put(path, 0644, b.data, b.len, &h->err), 0);
	return path;
}

/* Lays out policy and keyring for the key that signs, and asks debsig-verify. */
static void ask_judge(struct keyhome *h, const char *signs, const char *keyring, int status)
{
	char id[17];
	_cleanup_(buf_done) struct buf policy = BUF_INIT(1 << 16);
	debsig_key_id(signs, id);
	assert_int_equal(debsig_policy(signs, "debkit.gpg", &policy, &h->err), 0);
	assert_int_equal(
	    outfile_put(keyhome_file(h, "pol"), 0644, policy.data, policy.len, &h->err), 0);
	_free_ char *judge = xasprintf("rm -rf p k; mkdir -p p/%s k/%s; cp pol p/%s/debkit.pol; cp "
				       "%s k/%s/debkit.gpg; debsig-verify --policies-dir $PWD/p "
				       "--keyrings-dir $PWD/k s.deb; test $? = %d",
	    id, id, id, keyring, id, status);
	keyhome_sh(h, judge);
}

static void debsig_verify_accepts_every_compression(void **state)
{
	static const char *const options[] = {
	    "-Zzstd", "-Zxz", "-Zgzip", "-Znone", "-Zxz --no-uniform-compression"};
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, "A <a@debkit.invalid>");
	const char *keys = ring(h, k.fpr);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		char fpr[41];
		make_deb(h, options[i]);
		sign(h, "x.deb", "s.deb", k.fpr);
		ask_judge(h, k.fpr, keys, 0);
		assert_int_equal(debsig_verify(deb_path(h, "s.deb"), keys, fpr, &h->err), 0);
		assert_string_equal(fpr, k.fpr);
		keyhome_sh(h,
		    "dpkg-deb -I s.deb && dpkg-deb -x s.deb out && ar t s.deb | tail -n 1 "
		    "| grep -x _gpgorigin");
	}
}

static void a_second_signature_replaces_the_first(void **state)
{
	struct keyhome *h = *state;
	struct key_info a = keyhome_new(h, "A <a@debkit.invalid>");
	struct key_info b = keyhome_new(h, "B <b@debkit.invalid>");
	const char *keys = ring(h, b.fpr);
	make_deb(h, "-Zxz");
	sign(h, "x.deb", "s.deb", a.fpr);
	ask_judge(h, b.fpr, keys, 11); /* no policy for this key */
	sign(h, "s.deb", "s.deb", b.fpr);
	ask_judge(h, b.fpr, keys, 0);
	keyhome_sh(h, "test $(ar t s.deb | wc -l) = 4; ! ls s.deb.* 2>/dev/null");
}

/* Without the primary's secret the subkey signs; that is what debsig_verify accepts too. */
static void a_subkey_may_sign(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, "A <a@debkit.invalid>");
	const char *keys = ring(h, k.fpr);
	char fpr[41];
	make_deb(h, "-Zxz");
	sign(h, "x.deb", "s.deb", k.sign_fpr);
	assert_int_equal(debsig_verify(deb_path(h, "s.deb"), keys, fpr, &h->err), 0);
	assert_string_equal(fpr, k.fpr);
	_free_ char *by = xasprintf("ar p s.deb _gpgorigin | gpg --list-packets | grep 'issuer fpr "
				    "v4 %s'",
	    k.sign_fpr);
	keyhome_sh(h, by);
}

static void verify_refuses(
    struct keyhome *h, const char *keys, enum err_code code, const char *reason)
{
	char fpr[41];
	err_clear(&h->err);
	int rc = debsig_verify(deb_path(h, "s.deb"), keys, fpr, &h->err);
	if (rc == 0 || h->err.code != code || !strstr(h->err.msg, reason) ||
	    !strstr(h->err.msg, "s.deb"))
		fail_msg("%d '%s', wanted '%s'", h->err.code, h->err.msg, reason);
}

static void verify_refuses_what_was_changed_after_signing(void **state)
{
	static const struct {
		const char *change, *reason;
		enum err_code code;
	} cases[] = {
	    {"cp x.deb s.deb", "not signed", ERR_TRUST},
	    {"(cd o && ar x ../y.deb data.tar.xz && ar rcS ../s.deb debian-binary control.tar.xz "
	     "data.tar.xz _gpgorigin)",
		"changed after signing", ERR_TRUST},
	    {"(cd o && ar x ../y.deb control.tar.xz && ar rcS ../s.deb debian-binary "
	     "control.tar.xz "
	     "data.tar.xz _gpgorigin)",
		"changed after signing", ERR_TRUST},
	    {"(cd o && echo x >_gpgorigin && ar rcS ../s.deb debian-binary control.tar.xz "
	     "data.tar.xz _gpgorigin)",
		"no OpenPGP signature", ERR_TRUST},
	    {"(cd o && : >_gpgorigin && ar rcS ../s.deb debian-binary control.tar.xz data.tar.xz "
	     "_gpgorigin)",
		"signature is empty", ERR_TRUST},
	    {"head -c 400 good.deb >s.deb", "truncated", ERR_FORMAT},
	};
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, "A <a@debkit.invalid>");
	const char *keys = ring(h, k.fpr);
	make_deb(h, "-Zxz");
	keyhome_sh(h, "echo changed >>t/usr/share/x/f; sed -i s/test/changed/ t/DEBIAN/control; "
		      "dpkg-deb --root-owner-group -Zxz -b t y.deb");
	sign(h, "x.deb", "good.deb", k.fpr);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_free_ char *change = xasprintf("rm -rf o s.deb; mkdir o; (cd o && ar x "
						"../good.deb); %s",
		    cases[i].change);
		keyhome_sh(h, change);
		verify_refuses(h, keys, cases[i].code, cases[i].reason);
	}
	struct key_info other = keyhome_new(h, "B <b@debkit.invalid>");
	keyhome_sh(h, "cp good.deb s.deb");
	verify_refuses(h, ring(h, other.fpr), ERR_TRUST, "another key");
}

static void sign_leaves_no_trace_when_it_fails(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, "A <a@debkit.invalid>");
	keyhome_sh(h, "echo no package >x.deb");
	assert_int_equal(
	    debsig_sign(deb_path(h, "x.deb"), deb_path(h, "s.deb"), k.fpr, &h->err), -1);
	assert_int_equal(h->err.code, ERR_FORMAT);
	make_deb(h, "-Zxz");
	assert_int_equal(debsig_sign(deb_path(h, "x.deb"), deb_path(h, "s.deb"),
			     "0123456789012345678901234567890123456789", &h->err),
	    -1);
	assert_int_equal(h->err.code, ERR_TRUST);
	assert_int_equal(
	    debsig_sign(deb_path(h, "none.deb"), deb_path(h, "s.deb"), k.fpr, &h->err), -1);
	assert_int_equal(h->err.code, ERR_SYSTEM);
	assert_int_equal(
	    debsig_sign(deb_path(h, "x.deb"), deb_path(h, "none/s.deb"), k.fpr, &h->err), -1);
	keyhome_sh(h, "! ls s.deb* 2>/dev/null");
}

static void policy_refuses_names_that_are_no_file(void **state)
{
	static const char *const bad[] = {"", "../x.gpg", "a/b", ".gpg", "a\"b", "a b"};
	struct err err = {0};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 16);
		assert_int_equal(
		    debsig_policy("0123456789012345678901234567890123456789", bad[i], &b, &err),
		    -1);
		assert_int_equal(err.code, ERR_USAGE);
	}
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 16);
	assert_int_equal(debsig_policy("0123456789ABCDEF", "debkit.gpg", &b, &err), -1);
	char id[17];
	debsig_key_id("0123456789012345678901234567890123ABCDEF", id);
	assert_string_equal(id, "4567890123ABCDEF");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, keyhome_setup, keyhome_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(debsig_verify_accepts_every_compression),
	    TEST(a_second_signature_replaces_the_first),
	    TEST(a_subkey_may_sign),
	    TEST(verify_refuses_what_was_changed_after_signing),
	    TEST(sign_leaves_no_trace_when_it_fails),
	    cmocka_unit_test(policy_refuses_names_that_are_no_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
