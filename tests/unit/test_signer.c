#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../lib/sign/signer.h"
#include "keyhome.h"

#define TEXT "Origin: debkit\nSuite: stable\n- dash\n"

static struct key_info make_key(struct keyhome *h, const char *uid)
{
	return keyhome_new(h, uid);
}

/* Signs TEXT and leaves it in "text", the signature in "sig". */
static void sign_with(
    struct keyhome *h, const char *const *keys, size_t n, enum signer_mode mode, struct buf *sig)
{
	if (signer_sign(TEXT, strlen(TEXT), keys, n, mode, sig, &h->err) < 0)
		fail_msg("%s", h->err.msg);
	assert_int_equal(
	    outfile_put(keyhome_file(h, "text"), 0644, TEXT, strlen(TEXT), &h->err), 0);
	assert_int_equal(
	    outfile_put(keyhome_file(h, "sig"), 0644, sig->data, sig->len, &h->err), 0);
}

static const char *export_key(struct keyhome *h, const char *fpr, const char *name)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 16);
	assert_int_equal(keyring_export(fpr, false, &b, &h->err), 0);
	assert_int_equal(outfile_put(keyhome_file(h, name), 0644, b.data, b.len, &h->err), 0);
	return arena_strdup(&h->arena, h->file);
}

static void gpgv_accepts_each_mode(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = make_key(h, "A <a@debkit.invalid>");
	const char *fpr = k.fpr;
	export_key(h, fpr, "ring.gpg");
	for (int mode = SIGNER_DETACHED_BINARY; mode <= SIGNER_CLEAR; mode++) {
		_cleanup_(buf_done) struct buf sig = BUF_INIT(1 << 16);
		sign_with(h, &fpr, 1, (enum signer_mode)mode, &sig);
		keyhome_sh(h, mode == SIGNER_CLEAR
				  ? "gpgv --keyring ./ring.gpg --output got sig && cmp got text"
				  : "gpgv --keyring ./ring.gpg sig text");
		assert_int_equal(memcmp(sig.data, "-----BEGIN PGP SIGNATURE", 24) == 0,
		    mode == SIGNER_DETACHED_ARMOR);
	}
}

static void the_digest_is_sha512_and_the_key_the_named_one(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = make_key(h, "A <a@debkit.invalid>");
	struct {
		const char *name, *signs;
	} cases[] = {{k.fpr, k.sign_fpr}, {k.sign_fpr, k.sign_fpr},
	    {arena_printf(&h->arena, "%s!", k.fpr), k.fpr},
	    {arena_printf(&h->arena, "%s!", k.sign_fpr), k.sign_fpr}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(buf_done) struct buf sig = BUF_INIT(1 << 16);
		sign_with(h, &cases[i].name, 1, SIGNER_DETACHED_BINARY, &sig);
		_free_ char *look =
		    xasprintf("gpg --list-packets sig >packets && grep 'digest algo "
			      "10' packets && grep 'issuer fpr v4 %s' packets",
			cases[i].signs);
		keyhome_sh(h, look);
	}
}

static void two_keys_sign_one_block_that_either_verifies(void **state)
{
	struct keyhome *h = *state;
	struct key_info old = make_key(h, "A <a@debkit.invalid>");
	struct key_info new = make_key(h, "B <b@debkit.invalid>");
	const char *both[] = {old.fpr, new.fpr, old.sign_fpr};
	char fpr[41];
	_cleanup_(buf_done) struct buf sig = BUF_INIT(1 << 16);
	sign_with(h, both, 3, SIGNER_DETACHED_BINARY, &sig);
	const char *old_ring = export_key(h, old.fpr, "old.gpg");
	const char *new_ring = export_key(h, new.fpr, "new.gpg");
	assert_int_equal(
	    signer_verify(TEXT, strlen(TEXT), sig.data, sig.len, old_ring, fpr, &h->err), 0);
	assert_string_equal(fpr, old.fpr);
	assert_int_equal(
	    signer_verify(TEXT, strlen(TEXT), sig.data, sig.len, new_ring, fpr, &h->err), 0);
	assert_string_equal(fpr, new.fpr);
	keyhome_sh(h, "test $(gpg --list-packets sig | grep -c '^:signature') = 2; gpgv --keyring "
		      "./old.gpg --keyring ./new.gpg sig text");
}

static void sign_refuses(
    struct keyhome *h, const char *name, enum err_code code, const char *reason)
{
	_cleanup_(buf_done) struct buf sig = BUF_INIT(1 << 16);
	err_clear(&h->err);
	int rc = signer_sign(TEXT, 5, &name, 1, SIGNER_DETACHED_BINARY, &sig, &h->err);
	if (rc == 0 || h->err.code != code || !strstr(h->err.msg, reason))
		fail_msg("'%s', wanted '%s'", h->err.msg, reason);
	assert_int_equal(sig.len, 0);
}

static void sign_refuses_keys_that_cannot(void **state)
{
	struct keyhome *h = *state;
	sign_refuses(h, "A <a@debkit.invalid>", ERR_USAGE, "full fingerprint");
	sign_refuses(h, "", ERR_USAGE, "full fingerprint");
	sign_refuses(h, "0123456789012345678901234567890123456789", ERR_TRUST, "no key");
	struct key_info k = make_key(h, "A <a@debkit.invalid>");
	_free_ char *public_only = xasprintf("g --yes --delete-secret-keys %s", k.fpr);
	keyhome_sh(h, public_only);
	sign_refuses(h, k.fpr, ERR_TRUST, "secret key");
	_free_ char *exact = xasprintf("%s!", k.fpr);
	sign_refuses(h, exact, ERR_TRUST, "secret key");
	struct key_info have = make_key(h, "C <c@debkit.invalid>");
	const char *both[] = {have.fpr, k.fpr};
	_cleanup_(buf_done) struct buf sig = BUF_INIT(1 << 16);
	assert_int_equal(signer_sign(TEXT, 5, both, 2, SIGNER_DETACHED_BINARY, &sig, &h->err), -1);
	assert_non_null(strstr(h->err.msg, k.sign_fpr));
	keyhome_sh(h,
	    "g --faked-system-time 20200101T000000 --quick-gen-key 'B <b@debkit.invalid>' "
	    "ed25519 sign 1y");
	sign_refuses(h, keyhome_fpr(h), ERR_TRUST, "expired on 2020-12-31");
	const char *none = NULL;
	assert_int_equal(signer_sign(TEXT, 5, &none, 0, SIGNER_CLEAR, &sig, &h->err), -1);
}

static void a_signature_that_was_not_asked_for_is_an_error(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = make_key(h, "A <a@debkit.invalid>");
	struct key_info other = make_key(h, "B <b@debkit.invalid>");
	_free_ char *conf = xasprintf("echo local-user %s >gpg.conf", other.fpr);
	keyhome_sh(h, conf);
	sign_refuses(h, k.fpr, ERR_TRUST, "not asked for");
}

static void verify_refuses(struct keyhome *h, const void *p, size_t n, const struct buf *sig,
    const char *ring, const char *reason)
{
	char fpr[41];
	err_clear(&h->err);
	int rc = signer_verify(p, n, sig->data, sig->len, ring, fpr, &h->err);
	if (rc == 0 || h->err.code != ERR_TRUST || !strstr(h->err.msg, reason))
		fail_msg("'%s', wanted '%s'", h->err.msg, reason);
}

static void verify_refuses_what_nobody_should_trust(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = make_key(h, "A <a@debkit.invalid>");
	struct key_info other = make_key(h, "B <b@debkit.invalid>");
	const char *fpr = k.fpr;
	const char *ring = export_key(h, k.fpr, "ring.gpg");
	const char *strangers = export_key(h, other.fpr, "other.gpg");
	_cleanup_(buf_done) struct buf sig = BUF_INIT(1 << 16), none = BUF_INIT(100);
	sign_with(h, &fpr, 1, SIGNER_DETACHED_BINARY, &sig);
	verify_refuses(h, "changed", 7, &sig, ring, "signature is bad");
	verify_refuses(h, TEXT, strlen(TEXT), &sig, strangers, "another key");
	verify_refuses(h, TEXT, strlen(TEXT), &none, ring, "empty");
	buf_puts(&none, "no signature at all");
	verify_refuses(h, TEXT, strlen(TEXT), &none, ring, "no OpenPGP signature");
	sig.data[sig.len - 1] ^= 1;
	verify_refuses(h, TEXT, strlen(TEXT), &sig, ring, "bad");
}

/* The keys of the user's own home never count, and the caller's keyring may be armored. */
static void only_the_keyring_counts(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = make_key(h, "A <a@debkit.invalid>");
	const char *name = k.fpr;
	char fpr[41];
	_cleanup_(buf_done) struct buf sig = BUF_INIT(1 << 16);
	sign_with(h, &name, 1, SIGNER_DETACHED_ARMOR, &sig);
	keyhome_sh(h, "gpg --armor --export >ring.asc; : >empty.gpg");
	assert_int_equal(signer_verify(TEXT, strlen(TEXT), sig.data, sig.len,
			     keyhome_file(h, "ring.asc"), fpr, &h->err),
	    0);
	assert_string_equal(fpr, k.fpr);
	assert_int_equal(signer_verify(TEXT, strlen(TEXT), sig.data, sig.len,
			     keyhome_file(h, "empty.gpg"), fpr, &h->err),
	    -1);
	assert_int_equal(h->err.code, ERR_FORMAT);
	assert_int_equal(signer_verify(TEXT, strlen(TEXT), sig.data, sig.len,
			     keyhome_file(h, "absent.gpg"), fpr, &h->err),
	    -1);
	assert_int_equal(h->err.code, ERR_SYSTEM);
}

static void read_file(struct keyhome *h, const char *name, struct buf *b)
{
	buf_truncate(b, 0);
	assert_int_equal(path_read(keyhome_file(h, name), b, &h->err), 0);
}

static void verify_refuses_old_revoked_and_weak(void **state)
{
	struct keyhome *h = *state;
	_cleanup_(buf_done) struct buf sig = BUF_INIT(1 << 16);
	keyhome_sh(h, "echo x >d; g --faked-system-time 20200101T000000 --quick-gen-key 'A "
		      "<a@debkit.invalid>' ed25519 sign 1y && g --faked-system-time "
		      "20200102T000000 -b d && gpg --export >old.gpg");
	read_file(h, "d.sig", &sig);
	verify_refuses(h, "x\n", 2, &sig, keyhome_file(h, "old.gpg"), "expired");
	struct key_info k = make_key(h, "B <b@debkit.invalid>");
	_free_ char *weak = xasprintf("rm d.sig; g -u %s --allow-weak-digest-algos --digest-algo "
				      "SHA1 -b d; gpg --export %s >ring.gpg",
	    k.fpr, k.fpr);
	keyhome_sh(h, weak);
	read_file(h, "d.sig", &sig);
	verify_refuses(h, "x\n", 2, &sig, keyhome_file(h, "ring.gpg"), "weak digest");
	_free_ char *revoke =
	    xasprintf("rm d.sig; g -u %s -b d; sed s/^:// openpgp-revocs.d/%s.rev "
		      "| g --import; gpg --export %s >ring.gpg",
		k.fpr, k.fpr, k.fpr);
	keyhome_sh(h, revoke);
	read_file(h, "d.sig", &sig);
	verify_refuses(h, "x\n", 2, &sig, keyhome_file(h, "ring.gpg"), "revoked");
}

/* A stream of n bytes that nobody holds in memory; fails at its end if told so. */
struct stream {
	size_t left;
	bool fails;
};

static ssize_t read_stream(void *arg, void *p, size_t n)
{
	struct stream *s = arg;
	if (s->left == 0 && s->fails) {
		errno = EIO;
		return -1;
	}
	if (n > s->left)
		n = s->left;
	memset(p, 'x', n);
	s->left -= n;
	return (ssize_t)n;
}

/* Checks "in" (and "sig" if detached) by the pin; what it says, "" if it is content. */
static const char *pinned(struct keyhome *h, const char *fpr, bool weak, bool detached)
{
	_cleanup_(buf_done) struct buf in = BUF_INIT(1 << 16), sig = BUF_INIT(1 << 16);
	_cleanup_(buf_done) struct buf got = BUF_INIT(1 << 16);
	read_file(h, "in", &in);
	if (detached)
		read_file(h, "sig", &sig);
	const struct signer_pin pin = {
	    .keyring_file = keyhome_file(h, "ring.gpg"), .fpr = fpr, .weak_binding = weak};
	if (signer_verify_pinned(
		in.data, in.len, detached ? sig.data : NULL, sig.len, &pin, &got, &h->err) == 0) {
		assert_string_equal(buf_str(&got), TEXT);
		return "";
	}
	assert_int_equal(got.len, 0);
	return arena_strdup(&h->arena, h->err.msg);
}

static void refused_with(const char *said, const char *want)
{
	if (!strstr(said, want) || !*said)
		fail_msg("'%s' is not in '%s'", want, said);
}

static void a_pin_gives_what_its_key_signed_and_nothing_else(void **state)
{
	struct keyhome *h = *state;
	struct key_info a = make_key(h, "A <a@debkit.invalid>");
	struct key_info b = make_key(h, "B <b@debkit.invalid>");
	const char *fprs[] = {a.fpr, b.fpr};
	_cleanup_(buf_done) struct buf one = BUF_INIT(1 << 16), two = BUF_INIT(1 << 16);
	sign_with(h, &fprs[0], 1, SIGNER_CLEAR, &one);
	sign_with(h, &fprs[1], 1, SIGNER_CLEAR, &two);
	keyhome_sh(h, "gpg --export >ring.gpg; cp sig b");
	assert_int_equal(outfile_put(keyhome_file(h, "a"), 0644, one.data, one.len, &h->err), 0);
	keyhome_sh(h, "cp a in");
	assert_string_equal(pinned(h, a.fpr, false, false), "");
	refused_with(pinned(h, b.fpr, false, false), "not by ");
	refused_with(pinned(h, a.fpr, true, false), "only the primary key");
	static const char *const hostile[][2] = {{"cat a a >in", "more than one"},
	    {"cat a b >in", "more than one"}, {"cat b a >in", "more than one"},
	    {"{ cat a; echo more; } >in", "more than one"},
	    {"{ echo before; cat a; } >in", "no clear-signed text"}, {": >in", "no clear-signed"},
	    {"sed '/^-----BEGIN PGP SIGNATURE/,$d' a >in", "no clear-signed text"},
	    {"sed '/^-----END/d' a >in", "more than one"},
	    {"sed 's/stable/unstable/' a >in", "is bad"}, {"cp text in", "no clear-signed text"},
	    {"{ head -n 3 a; cat b; } >in", "more than one"}};
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		keyhome_sh(h, hostile[i][0]);
		refused_with(pinned(h, a.fpr, false, false), hostile[i][1]);
		assert_int_equal(h->err.code, ERR_TRUST);
	}
	_cleanup_(buf_done) struct buf sig = BUF_INIT(1 << 16);
	sign_with(h, &fprs[0], 1, SIGNER_DETACHED_ARMOR, &sig);
	keyhome_sh(h, "cp text in");
	assert_string_equal(pinned(h, a.fpr, false, true), "");
	refused_with(pinned(h, b.fpr, false, true), "not by ");
}

static void a_pinned_primary_key_may_be_bound_by_sha1(void **state)
{
	struct keyhome *h = *state;
	keyhome_sh(h,
	    "g --cert-digest-algo SHA1 --quick-gen-key 'A <a@debkit.invalid>' rsa2048 sign 1y; "
	    "gpg --export >ring.gpg; printf 'Origin: debkit\\nSuite: stable\\n- dash\\n' >text; "
	    "g --yes --digest-algo SHA512 --clearsign -o in text");
	const char *fpr = keyhome_fpr(h);
	assert_string_equal(pinned(h, fpr, true, false), "");
	refused_with(pinned(h, fpr, false, false), "no OpenPGP public key");
	keyhome_sh(h, "g --yes --digest-algo SHA1 --clearsign -o in text");
	refused_with(pinned(h, fpr, true, false), "weak digest");
	assert_int_equal(h->err.code, ERR_TRUST);
}

static void streams_are_signed_and_checked(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = make_key(h, "A <a@debkit.invalid>");
	const char *name = k.fpr, *ring = export_key(h, k.fpr, "ring.gpg");
	char fpr[41];
	_cleanup_(buf_done) struct buf sig = BUF_INIT(1 << 16);
	struct stream s = {.left = 20000003};
	struct signer_source src = {read_stream, &s};
	assert_int_equal(
	    signer_sign_source(&src, &name, 1, SIGNER_DETACHED_BINARY, &sig, &h->err), 0);
	assert_int_equal(outfile_put(keyhome_file(h, "sig"), 0644, sig.data, sig.len, &h->err), 0);
	keyhome_sh(
	    h, "head -c 20000003 /dev/zero | tr '\\0' x >d; gpgv --keyring ./ring.gpg sig d");
	_cleanup_(signer_ring_close) struct signer_ring *r = NULL;
	assert_int_equal(signer_ring_open(ring, &r, &h->err), 0);
	s.left = 20000003;
	assert_int_equal(signer_ring_verify(r, &src, sig.data, sig.len, fpr, &h->err), 0);
	assert_string_equal(fpr, k.fpr);
	s.left = 20000002;
	assert_int_equal(signer_ring_verify(r, &src, sig.data, sig.len, fpr, &h->err), -1);
	assert_int_equal(h->err.code, ERR_TRUST);
	s.left = 20000003;
	assert_int_equal(signer_ring_verify(r, &src, sig.data, sig.len, fpr, &h->err), 0);
}

/* A read error must not become a signature over the part that came. */
static void a_failing_stream_is_not_signed(void **state)
{
	struct keyhome *h = *state;
	struct key_info k = make_key(h, "A <a@debkit.invalid>");
	const char *name = k.fpr;
	_cleanup_(buf_done) struct buf sig = BUF_INIT(1 << 16);
	struct stream s = {.left = 100000, .fails = true};
	struct signer_source src = {read_stream, &s};
	assert_int_equal(
	    signer_sign_source(&src, &name, 1, SIGNER_DETACHED_BINARY, &sig, &h->err), -1);
	assert_int_equal(sig.len, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, keyhome_setup, keyhome_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(gpgv_accepts_each_mode),
	    TEST(the_digest_is_sha512_and_the_key_the_named_one),
	    TEST(two_keys_sign_one_block_that_either_verifies),
	    TEST(sign_refuses_keys_that_cannot),
	    TEST(a_signature_that_was_not_asked_for_is_an_error),
	    TEST(verify_refuses_what_nobody_should_trust),
	    TEST(only_the_keyring_counts),
	    TEST(verify_refuses_old_revoked_and_weak),
	    TEST(a_pin_gives_what_its_key_signed_and_nothing_else),
	    TEST(a_pinned_primary_key_may_be_bound_by_sha1),
	    TEST(streams_are_signed_and_checked),
	    TEST(a_failing_stream_is_not_signed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
