#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../lib/sign/packets.h"
#include "keyhome.h"

static void export_to(struct keyhome *h, const char *fpr, struct buf *b)
{
	assert_int_equal(keyring_export(fpr, false, b, &h->err), 0);
}

static void parts_have_gpgs_fingerprints_and_digests(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, "A <a@debkit.invalid>");
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 16);
	struct packets p;
	export_to(h, k.fpr, &b);
	assert_int_equal(packets_read(&h->arena, b.data, b.len, &p, &h->err), 0);
	assert_int_equal(p.n, 3);
	assert_int_equal(p.v[0].kind, PACKETS_PRIMARY);
	assert_string_equal(p.v[0].fpr, k.fpr);
	assert_int_equal(p.v[0].digest, 0);
	assert_int_equal(p.v[1].kind, PACKETS_USER);
	assert_string_equal(packets_digest_name(p.v[1].digest), "SHA-256");
	assert_int_equal(p.v[2].kind, PACKETS_SUBKEY);
	assert_string_equal(p.v[2].fpr, k.sign_fpr);
	assert_string_equal(packets_digest_name(p.v[2].digest), "SHA-256");
	assert_string_equal(packets_digest_name(p.v[2].back_digest), "SHA-256");
	assert_int_equal(p.v[2].sig_version, 4);
}

/* Another key's certification says nothing about how this one binds itself. */
static void signatures_of_others_do_not_count(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, "A <a@debkit.invalid>");
	struct key_info other = keyhome_new(h, "B <b@debkit.invalid>");
	_free_ char *certify = xasprintf("g --default-key %s --cert-digest-algo SHA512 "
					 "--quick-sign-key %s; gpg --export %s >key",
	    other.fpr, k.fpr, k.fpr);
	keyhome_sh(h, certify);
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 16);
	struct packets p;
	assert_int_equal(path_read(keyhome_file(h, "key"), &b, &h->err), 0);
	keyhome_sh(h, "test $(gpg --list-packets key | grep -c '^:signature') = 3");
	assert_int_equal(packets_read(&h->arena, b.data, b.len, &p, &h->err), 0);
	assert_string_equal(packets_digest_name(p.v[1].digest), "SHA-256");
}

/* Every prefix of a key, and every key with one byte changed: an answer or an error. */
static void damaged_keys_are_read_within_their_bounds(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = keyhome_new(h, "A <a@debkit.invalid>");
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 16);
	struct packets p;
	size_t refused = 0;
	export_to(h, k.fpr, &b);
	for (size_t n = 0; n < b.len; n++) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		_free_ char *part = xmalloc(n + 1); /* of its very size, for asan */
		memcpy(part, b.data, n);
		refused += packets_read(&a, part, n, &p, &h->err) < 0;
	}
	/* Only the ends of the five packets but the last are keys too. */
	assert_int_equal(refused, b.len - 4);
	for (size_t i = 0; i < b.len; i++) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		for (int bit = 0; bit < 8; bit++) {
			b.data[i] ^= (char)(1 << bit);
			if (packets_read(&a, b.data, b.len, &p, &h->err) < 0)
				assert_int_equal(h->err.code, ERR_FORMAT);
			b.data[i] ^= (char)(1 << bit);
		}
	}
}

static void what_is_no_key_is_refused(void **state)
{
	struct keyhome *h = *state;
	static const struct {
		const char *p;
		size_t n;
	} bad[] = {{"", 0}, {"x", 1}, {"\x99", 1}, {"\x9b\x01", 2}, {"\xc6\xe1", 2},
	    {"\xc6\xff\xff\xff\xff\xff", 6}, {"\x98\x01\x05", 3}, {"\xb4\x01x", 3}};
	struct packets p;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(packets_read(&h->arena, bad[i].p, bad[i].n, &p, &h->err), -1);
		assert_int_equal(h->err.code, ERR_FORMAT);
	}
	assert_string_equal(packets_digest_name(99), "an unknown digest");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, keyhome_setup, keyhome_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(parts_have_gpgs_fingerprints_and_digests),
	    TEST(signatures_of_others_do_not_count),
	    TEST(damaged_keys_are_read_within_their_bounds),
	    TEST(what_is_no_key_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
