#include "unit.h"

#include <errno.h>

static void set_keeps_code_and_text(void **state)
{
	struct err e = {0};
	assert_int_equal(err_set(&e, ERR_TRUST, "'%s' is not %d", "a", 7), -1);
	assert_int_equal(e.code, ERR_TRUST);
	assert_string_equal(e.msg, "'a' is not 7");
	err_clear(&e);
	assert_int_equal(e.code, ERR_NONE);
	assert_string_equal(e.msg, "");
}

static void message_is_one_line(void **state)
{
	struct err e = {0};
	err_set(&e, ERR_FORMAT, "a\nb\tc\x1b[31m\x7f\r");
	assert_string_equal(e.msg, "a b c [31m  ");
	err_set(&e, ERR_FORMAT, "a");
	err_hint(&e, " (b\nc)");
	err_wrap(&e, "x\ny");
	assert_string_equal(e.msg, "x y: a (b c)");
	err_set(&e, ERR_FORMAT, "naïve");
	assert_string_equal(e.msg, "naïve");
}

static void wrap_puts_context_in_front(void **state)
{
	struct err e = {0};
	err_set(&e, ERR_NETWORK, "no answer");
	assert_int_equal(err_wrap(&e, "cannot read '%s'", "u"), -1);
	err_wrap(&e, "cannot build");
	assert_string_equal(e.msg, "cannot build: cannot read 'u': no answer");
	assert_int_equal(e.code, ERR_NETWORK);
}

static void sys_adds_the_reason_and_keeps_errno(void **state)
{
	struct err e = {0};
	errno = ENOSPC;
	assert_int_equal(err_sys(&e, "cannot write '%s'", "f"), -1);
	assert_int_equal(errno, ENOSPC);
	assert_string_equal(e.msg, "cannot write 'f': No space left on device");
	assert_int_equal(e.code, ERR_SYSTEM);
}

static void long_text_is_cut(void **state)
{
	static char text[3 * ERR_MSG_MAX];
	struct err e = {0};
	memset(text, 'x', sizeof text - 1);
	err_set(&e, ERR_FORMAT, "%s", text);
	assert_int_equal(strlen(e.msg), ERR_MSG_MAX - 1);
	err_hint(&e, " more");
	assert_int_equal(strlen(e.msg), ERR_MSG_MAX - 1);
	err_wrap(&e, "outer");
	assert_int_equal(strlen(e.msg), ERR_MSG_MAX - 1);
	assert_memory_equal(e.msg, "outer: xx", 9);
	assert_non_null(strstr(e.msg, "xx...xx"));
	assert_string_equal(e.msg + ERR_MSG_MAX - 1 - strlen("xx more"), "xx more");
	errno = ENAMETOOLONG;
	err_sys(&e, "cannot read '%s'", text);
	assert_memory_equal(e.msg, "cannot read 'xx", 15);
	assert_string_equal(
	    e.msg + ERR_MSG_MAX - 1 - strlen("x': File name too long"), "x': File name too long");
}

static void no_object_is_allowed(void **state)
{
	errno = EIO;
	assert_int_equal(err_set(NULL, ERR_FORMAT, "a"), -1);
	assert_int_equal(err_sys(NULL, "a"), -1);
	assert_int_equal(err_wrap(NULL, "a"), -1);
	assert_int_equal(err_hint(NULL, "a"), -1);
	err_clear(NULL);
	assert_int_equal(errno, EIO);
}

static void exit_status_of_each_code(void **state)
{
	static const int want[] = {[ERR_NONE] = 0,
	    [ERR_SYSTEM] = 1,
	    [ERR_USAGE] = 2,
	    [ERR_FORMAT] = 1,
	    [ERR_TRUST] = 3,
	    [ERR_NETWORK] = 1,
	    [ERR_TOOL] = 1,
	    [ERR_CONFLICT] = 1,
	    [ERR_INTERRUPT] = 130};
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(err_exit_status((enum err_code)i), want[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(set_keeps_code_and_text),
	    cmocka_unit_test(message_is_one_line),
	    cmocka_unit_test(wrap_puts_context_in_front),
	    cmocka_unit_test(sys_adds_the_reason_and_keeps_errno),
	    cmocka_unit_test(long_text_is_cut),
	    cmocka_unit_test(no_object_is_allowed),
	    cmocka_unit_test(exit_status_of_each_code),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
