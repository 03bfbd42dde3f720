#include "unit.h"

static void list_is_an_argv_at_any_length(void **state)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	for (size_t i = 0; i < 70; i++) {
		strv_addf(&v, "%zu", i);
		assert_int_equal(v.n, i + 1);
		assert_null(v.v[v.n]);
	}
	for (size_t i = 0; i < v.n; i++)
		assert_int_equal(atoi(v.v[i]), i);
}

static void sort_goes_by_bytes(void **state)
{
	static const char *const words[] = {"b", "a", "B", "", "é", "a0", "b", "a", "-"};
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		strv_add(&v, words[i]);
	strv_sort(&v);
	_free_ char *sorted = strv_join(&v, " ");
	assert_string_equal(sorted, " - B a a a0 b b é");
	strv_uniq(&v);
	_free_ char *once = strv_join(&v, " ");
	assert_string_equal(once, " - B a a0 b é");
	assert_null(v.v[v.n]);
	strv_add(&v, "end");
	assert_string_equal(v.v[v.n - 1], "end");
}

static void empty_list_is_valid(void **state)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT, w = STRV_INIT;
	strv_sort(&v);
	strv_uniq(&v);
	strv_add_all(&v, &w);
	_free_ char *joined = strv_join(&v, ", ");
	assert_string_equal(joined, "");
	assert_false(strv_has(&v, ""));
}

static void split_drops_empty_pieces(void **state)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	strv_add(&v, "first");
	strv_split(&v, " ,a, b,,c ", ", ");
	strv_split(&v, "", ",");
	strv_split(&v, ",,,", ",");
	_free_ char *joined = strv_join(&v, "|");
	assert_string_equal(joined, "first|a|b|c");
	assert_true(strv_has(&v, "b"));
	assert_false(strv_has(&v, "B"));
}

static void string_tests(void **state)
{
	assert_true(str_starts("abc", "ab") && str_starts("abc", "") && !str_starts("ab", "abc"));
	assert_true(str_ends("abc", "bc") && str_ends("abc", "") && !str_ends("c", "bc"));
	assert_true(str_eq("a", "a") && str_eq(NULL, NULL));
	assert_false(str_eq("a", NULL) || str_eq(NULL, "a") || str_eq("a", "b"));
}

static void trim_keeps_inner_space(void **state)
{
	char both[] = " \t a b \n", none[] = "", blank[] = " \r\n ";
	assert_string_equal(str_trim(both), "a b");
	assert_string_equal(str_trim(none), "");
	assert_string_equal(str_trim(blank), "");
}

static void numbers_are_whole_and_bounded(void **state)
{
	static const char *const bad[] = {
	    "", " 1", "1 ", "+1", "-1", "0x1", "1e3", "1.", "256", "18446744073709551616", "1\n"};
	unsigned long long v = 77;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(str_parse_u64(bad[i], 255, &v), -1);
	assert_int_equal(str_parse_u64("18446744073709551616", UINT64_MAX, &v), -1);
	assert_int_equal(str_parse_u64("99999999999999999999999", UINT64_MAX, &v), -1);
	assert_int_equal(str_parse_u64("1", 0, &v), -1);
	assert_int_equal(v, 77);
	assert_int_equal(str_parse_u64("255", 255, &v), 0);
	assert_int_equal(v, 255);
	assert_int_equal(str_parse_u64("0007", 7, &v), 0);
	assert_int_equal(v, 7);
	assert_int_equal(str_parse_u64("18446744073709551615", UINT64_MAX, &v), 0);
	assert_true(v == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(list_is_an_argv_at_any_length),
	    cmocka_unit_test(sort_goes_by_bytes),
	    cmocka_unit_test(empty_list_is_valid),
	    cmocka_unit_test(split_drops_empty_pieces),
	    cmocka_unit_test(string_tests),
	    cmocka_unit_test(trim_keeps_inner_space),
	    cmocka_unit_test(numbers_are_whole_and_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
