#include "unit.h"

#include "../../lib/base/clock.h"
#include "../../repo/state/suite.h"

static const char release[] = "Origin: Test\n"
			      "Suite: stable\n"
			      "Codename: rock\n"
			      "Date: Mon, 30 Nov 2026 07:00:00 UTC\n"
			      "Valid-Until: Wed, 30 Dec 2026 07:00:00 UTC\n"
			      "Architectures: arm64 all amd64\n"
			      "Components: main contrib\n"
			      "Signed-By: AAAA, BBBB\n"
			      "SHA256:\n"
			      " 0a0b 12 main/binary-amd64/Packages\n"
			      " 0c0d 5 main/binary-amd64/Packages.zst\n";

static void load(struct unit *u, struct suite *s)
{
	if (suite_load(&u->a, u->dir, "stable", s, &u->err) < 0)
		fail_msg("%s", u->err.msg);
}

static void check(struct unit *u, const struct suite *s)
{
	_free_ char *archs = strv_join(&s->archs, " ");
	_free_ char *components = strv_join(&s->components, " ");
	_free_ char *keys = strv_join(&s->keys, " ");
	assert_string_equal(s->origin, "Test");
	assert_string_equal(s->label, "debkit");
	assert_string_equal(s->codename, "rock");
	assert_string_equal(archs, "amd64 arm64");
	assert_string_equal(components, "contrib main");
	assert_string_equal(keys, "AAAA BBBB");
	assert_int_equal(s->valid_days, 30);
	assert_false(s->compat);
	assert_true(s->no_gz);
	assert_int_equal(s->files.n, 2);
	const struct release_file *f =
	    release_list_find(&s->files, "main/binary-amd64/Packages.zst");
	assert_non_null(f);
	assert_int_equal(f->sums.size, 5);
	assert_string_equal(f->sums.hex[SUM_SHA256], "0c0d");
}

static void release_alone(void **state)
{
	struct unit *u = *state;
	_cleanup_(suite_done) struct suite s = {0};
	unit_put(u, "dists/stable/Release", release);
	load(u, &s);
	check(u, &s);
	assert_true(s.half_signed); /* keys, and no InRelease */
}

static void in_release_goes_first(void **state)
{
	struct unit *u = *state;
	_cleanup_(suite_done) struct suite s = {0};
	unit_put(u, "dists/stable/Release", "Suite: another\n");
	unit_put(u, "dists/stable/InRelease",
	    arena_printf(&u->a,
		"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n%s"
		"- -----BEGIN PGP SIGNATURE-----: a field that looks like the end\n"
		"-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n",
		"Origin: Test\n"));
	/* The dashed line is no field: the text is read up to the real signature. */
	assert_int_equal(suite_load(&u->a, u->dir, "stable", &s, &u->err), -1);
	assert_non_null(strstr(u->err.msg, "InRelease"));
	err_clear(&u->err);
	suite_done(&s);
	unit_put(u, "dists/stable/InRelease",
	    arena_printf(&u->a,
		"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n%s"
		"-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n",
		release));
	load(u, &s);
	check(u, &s);
	assert_false(s.half_signed);
}

static void what_is_no_release_is_an_error(void **state)
{
	static const char *const bad[] = {"", "no field\n", "Suite: stable\n", "Date: yesterday\n",
	    "Date: Mon, 30 Nov 2026 07:00:00 UTC\nComponents: ../x\n",
	    "Date: Mon, 30 Nov 2026 07:00:00 UTC\nSHA256:\n zz\n"};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(suite_done) struct suite s = {0};
		unit_put(u, "dists/stable/Release", bad[i]);
		assert_int_equal(suite_load(&u->a, u->dir, "stable", &s, &u->err), -1);
		err_clear(&u->err);
	}
}

static void names_are_checked(void **state)
{
	struct unit *u = *state;
	static const char *const bad[] = {"", ".", "..", "a/b", "-x", ".hidden", "a b", "a\n"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(suite_check_name("suite", bad[i], &u->err), -1);
		err_clear(&u->err);
	}
	assert_int_equal(suite_check_name("suite", "stable-20261130~x+1", &u->err), 0);
}

static void a_release_is_written(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(4096);
	struct suite s = {.name = "stable",
	    .codename = "rock",
	    .origin = "Test",
	    .label = "Label",
	    .description = "what it is",
	    .valid_days = 7};
	struct release_file f[2] = {
	    {.name = "main/binary-amd64/Packages"}, {.name = "main/binary-amd64/Packages.zst"}};
	strv_add(&s.components, "main");
	strv_add(&s.archs, "amd64");
	strv_add(&s.archs, "arm64");
	strv_add(&s.keys, "AAAA");
	strv_add(&s.keys, "BBBB");
	assert_int_equal(clock_parse_release("Mon, 30 Nov 2026 07:00:00 UTC", &s.date), 0);
	for (size_t i = 0; i < 2; i++) {
		f[i].sums.size = 10 + i;
		strcpy(f[i].sums.hex[SUM_SHA256], i ? "0b" : "0a");
		release_list_add(&s.files, &f[i]);
	}
	release_write(&s, &s.files, &out);
	unit_golden(u, "release/plain", &out);
	buf_truncate(&out, 0);
	s.description = NULL;
	s.snapshot_of = "testing";
	s.withdrawn = "aa 1.0-1 wrong: numbers\nbb 2:3 nothing";
	s.valid_days = 0;
	for (int alg = 0; alg < SUM_ALGS; alg++)
		strcpy(s.files.v[0].sums.hex[alg], "0c");
	release_write(&s, &s.files, &out);
	unit_golden(u, "release/compat", &out);
	struct suite again = {.name = "x"};
	assert_int_equal(
	    suite_parse(&u->a, buf_str(&out), out.len, "x/InRelease", &again, &u->err), 0);
	assert_string_equal(again.withdrawn, s.withdrawn);
	suite_done(&again);
	suite_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(release_alone),
	    CASE(in_release_goes_first),
	    CASE(what_is_no_release_is_an_error),
	    CASE(names_are_checked),
	    CASE(a_release_is_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
