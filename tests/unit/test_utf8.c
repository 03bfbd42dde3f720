#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "../../lib/base/compat.h"
#include "../../lib/deb/utf8.h"

/* RFC 3629, section 4: the first and last of each row, and their neighbours outside. */
static void test_table(void **state)
{
	static const struct {
		const char *text;
		size_t want; /* bytes that are UTF-8 */
	} cases[] = {
	    {"", 0},
	    {"plain text of some length", 25},
	    {"\x7f", 1},
	    {"\x80", 0},
	    {"\xc0\x80", 0},
	    {"\xc1\xbf", 0},
	    {"\xc2\x80", 2},
	    {"\xc2\x7f", 0},
	    {"\xc2\xc0", 0},
	    {"\xdf\xbf", 2},
	    {"\xe0\x9f\xbf", 0},
	    {"\xe0\xa0\x80", 3},
	    {"\xec\xbf\xbf", 3},
	    {"\xed\x9f\xbf", 3},
	    {"\xed\xa0\x80", 0},
	    {"\xee\x80\x80", 3},
	    {"\xef\xbf\xbf", 3},
	    {"\xf0\x8f\xbf\xbf", 0},
	    {"\xf0\x90\x80\x80", 4},
	    {"\xf3\xbf\xbf\xbf", 4},
	    {"\xf4\x8f\xbf\xbf", 4},
	    {"\xf4\x90\x80\x80", 0},
	    {"\xf5\x80\x80\x80", 0},
	    {"\xff", 0},
	    {"ab\xe2\x82", 2},
	    {"ab\xf0\x9d\x9b", 2},
	    {"12345678\xc3\xbc", 10},
	    {"1234567\xc3\xbc", 9},
	    {"12345678\xc3", 8},
	    {"\xc3\xbc\xc3\xbc\xc3", 4},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(utf8_check(cases[i].text, strlen(cases[i].text)), cases[i].want);
}

static void test_length_is_kept(void **state)
{
	assert_int_equal(utf8_check("a\xc3\xbc", 2), 1);
	assert_int_equal(utf8_check("a\0b", 3), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_length_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
