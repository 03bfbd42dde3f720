#include "unit.h"

#include "../../lib/deb/deb.h"
#include "../../lib/deb/unsigned.h"
#include "debmake.h"

/* A package on disk; sig NULL: unsigned. */
static const char *put(
    struct unit *u, const char *name, const char *control, const char *text, const char *sig)
{
	_cleanup_(buf_done) struct buf c = BUF_INIT(1 << 16), d = BUF_INIT(1 << 16);
	_cleanup_(buf_done) struct buf deb = BUF_INIT(1 << 20);
	const char *path = unit_path(u, name);
	make_control_tar(&c, control, strlen(control));
	make_tar(&d, '5', "./", "", "", 0);
	make_tar(&d, '0', "./hello", "", text, strlen(text));
	make_tar_end(&d);
	make_deb(&deb, &c, &d);
	if (sig)
		make_ar(&deb, "_gpgorigin", sig, strlen(sig));
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(deb.data, 1, deb.len, f), deb.len);
	assert_int_equal(fclose(f), 0);
	return path;
}

static const char *difference(struct unit *u, const char *one, const char *other)
{
	_cleanup_(buf_done) struct buf why = BUF_INIT(4096);
	int rc = deb_compare(one, other, &why, &u->err);
	if (rc < 0)
		fail_msg("%s", u->err.msg);
	assert_int_equal(rc, why.len > 0);
	return arena_strdup(&u->a, buf_str(&why));
}

static void signatures_do_not_count(void **state)
{
	struct unit *u = *state;
	const char *plain = put(u, "a.deb", GOOD_CONTROL, "hi\n", NULL);
	const char *one = put(u, "b.deb", GOOD_CONTROL, "hi\n", "signature");
	const char *two = put(u, "c.deb", GOOD_CONTROL, "hi\n", "another one");
	assert_string_equal(difference(u, plain, one), "");
	assert_string_equal(difference(u, one, two), "");
	struct deb_info d;
	char hex[SHA256_HEX];
	assert_int_equal(deb_read(&u->a, one, DEB_READ_SIGNED, NULL, NULL, &d, &u->err), 0);
	assert_int_equal(deb_unsigned_digest(&d, hex, &u->err), 0);
	assert_string_equal(hex, unit_sh(u, "sha256sum <a.deb | cut -d' ' -f1"));
}

static void first_difference_is_named(void **state)
{
	struct unit *u = *state;
	const char *one = put(u, "a.deb", GOOD_CONTROL, "hi\n", NULL);
	const char *file = put(u, "b.deb", GOOD_CONTROL, "ho\n", "sig");
	const char *field = put(u, "c.deb", GOOD_CONTROL "Section: misc\n", "hi\n", NULL);
	assert_string_equal(
	    difference(u, one, file), "'/hello' has other bytes (3 in one, 3 in the other)");
	assert_string_equal(difference(u, one, field),
	    "field Section is '(absent)' in one and 'misc' in the other");
	const char *longer = put(u, "d.deb", GOOD_CONTROL " more\n", "hi\n", NULL);
	assert_true(str_starts(difference(u, longer, one), "field Description is"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(signatures_do_not_count), CASE(first_difference_is_named)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
