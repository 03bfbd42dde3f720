#include "unit.h"

#include "../../lib/base/subst.h"

static const struct subst values[] = {{"NAME", "x"}, {"NAME_2", "two\nlines"}, {"EMPTY", ""},
    {"AT", "@NAME@"}, {"UNSET", NULL}, {NULL, NULL}};

static void names_between_at_signs_are_replaced(void **state)
{
	static const char *const cases[][2] = {{"", ""}, {"no names", "no names"}, {"@NAME@", "x"},
	    {"a@NAME@b@NAME@@NAME@", "axbxx"}, {"[@NAME_2@]", "[two\nlines]"}, {"-@EMPTY@-", "--"},
	    /* A value is not read again. */
	    {"@AT@", "@NAME@"},
	    /* Any other '@' stays. */
	    {"@", "@"}, {"@@", "@@"}, {"@@NAME@@", "@x@"}, {"@NAME", "@NAME"},
	    {"me@example.org", "me@example.org"}, {"@name@", "@name@"}, {"@NA-ME@", "@NA-ME@"},
	    {"@NAME @NAME@", "@NAME x"}, {"@\nNAME@", "@\nNAME@"}};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(buf_done) struct buf b = BUF_INIT(100);
		assert_int_equal(subst_expand(cases[i][0], "t", values, &b, &u->err), 0);
		assert_string_equal(buf_str(&b), cases[i][1]);
	}
}

static void unknown_name_is_an_error_with_its_line(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf b = BUF_INIT(100);
	assert_int_equal(subst_expand("a\n@NAME_2@\n @NAM@\n", "t.in", values, &b, &u->err), -1);
	unit_error(u, ERR_FORMAT, "t.in:3: unknown name '@NAM@'");
	assert_int_equal(subst_expand("@UNSET@", "t.in", values, &b, &u->err), -1);
	unit_error(u, ERR_FORMAT, "t.in:1: unknown name '@UNSET@'");
	assert_int_equal(subst_expand("@2@", "t.in", values, &b, &u->err), -1);
	err_clear(&u->err);
	const char *path = unit_put(u, "f.in", "\n\n@X@");
	assert_int_equal(subst_expand_file(path, values, &b, &u->err), -1);
	unit_error(u, ERR_FORMAT, arena_printf(&u->a, "%s:3: unknown name '@X@'", path));
}

static void result_is_bounded(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf b = BUF_INIT(5);
	assert_int_equal(subst_expand("a@NAME_2@", "t.in", values, &b, &u->err), -1);
	unit_error(u, ERR_FORMAT, "t.in is larger than 5 bytes");
}

static void file_is_appended(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf b = BUF_INIT(100);
	buf_puts(&b, "before ");
	const char *path = unit_put(u, "f.in", "@NAME@\n");
	assert_int_equal(subst_expand_file(path, values, &b, &u->err), 0);
	assert_string_equal(buf_str(&b), "before x\n");
	path = unit_put(u, "f.in", "");
	assert_int_equal(subst_expand_file(path, values, &b, &u->err), -1);
	unit_error(u, ERR_FORMAT, arena_printf(&u->a, "'%s' is empty or holds a NUL byte", path));
	assert_int_equal(subst_expand("a\nb\r\n", "t.in", values, &b, &u->err), -1);
	unit_error(u, ERR_FORMAT,
	    "t.in:2: found a carriage return, expected lines that end in a newline alone");
	assert_int_equal(subst_expand_file(unit_path(u, "none"), values, &b, &u->err), -1);
	assert_int_equal(u->err.code, ERR_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(names_between_at_signs_are_replaced),
	    CASE(unknown_name_is_an_error_with_its_line),
	    CASE(result_is_bounded),
	    CASE(file_is_appended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
