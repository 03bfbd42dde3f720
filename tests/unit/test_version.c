#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/version.h"
#include "cases.h"

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

static void test_order(void **state)
{
	struct case_file c;
	case_open(&c, "tests/data/version.order");
	while (case_next(&c)) {
		char a[64], op, b[64];
		struct err err = {0};
		if (sscanf(c.v[0], "%63s %c %63s", a, &op, b) != 3)
			fail_msg("bad case '%s'", c.v[0]);
		int want = op == '<' ? -1 : op == '>';
		if (version_check(a, &err) < 0 || version_check(b, &err) < 0)
			fail_msg("%s", err.msg);
		if (sign(version_compare(a, b)) != want || sign(version_compare(b, a)) != -want)
			fail_msg("'%s' does not hold", c.v[0]);
		assert_int_equal(version_compare(a, a), 0);
	}
	assert_true(c.n >= 60);
	case_close(&c);
}

static void test_syntax(void **state)
{
	struct case_file c;
	case_open(&c, "tests/data/version.syntax");
	while (case_next(&c)) {
		struct err err = {0};
		int want = str_eq(c.v[0], "ok") ? 0 : -1;
		assert_int_equal(version_check(c.v[1], &err), want);
		assert_string_equal(err.msg, c.v[2]);
		assert_int_equal(err.code, want ? ERR_FORMAT : ERR_NONE);
	}
	assert_true(c.n >= 30);
	case_close(&c);
}

static void test_package(void **state)
{
	static const char *const good[] = {"ab", "0ad", "libstdc++6", "python3.11", "a-b+c.d"};
	static const char *const bad[] = {
	    "", "a", "Ab", "aB", "-a", "+a", ".a", "a_b", "a b", "a/b", "../a", "a:b", "a\n", "aé"};
	struct err err = {0};
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(version_check_package(good[i], &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(version_check_package(bad[i], &err), -1);
	assert_int_equal(version_check_package("a_b", &err), -1);
	assert_string_equal(err.msg, "'a_b' is no package name, expected at least two of a-z, 0-9 "
				     "and + - ., a letter or digit first");
}

static void test_arch(void **state)
{
	static const char *const good[] = {"amd64", "all", "any", "kfreebsd-amd64", "x32"};
	static const char *const bad[] = {"", "-a", "AMD64", "a_b", "a b", "a.b", "a/b", ".."};
	struct err err = {0};
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(version_check_arch(good[i], &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(version_check_arch(bad[i], &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_syntax),
	    cmocka_unit_test(test_package),
	    cmocka_unit_test(test_arch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
