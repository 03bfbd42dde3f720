#include "unit.h"

static void grows_and_stays_terminated(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	_cleanup_(buf_done) struct buf want = BUF_INIT(1 << 20);
	assert_string_equal(buf_str(&b), "");
	for (int i = 0; i < 3000; i++) {
		char text[16];
		int n = snprintf(text, sizeof text, "%d,", i);
		buf_printf(&b, "%d", i);
		buf_putc(&b, ',');
		buf_append(&want, text, (size_t)n);
		assert_int_equal(b.data[b.len], '\0');
	}
	assert_int_equal(b.len, want.len);
	assert_memory_equal(b.data, want.data, b.len);
}

static void holds_bytes_of_any_value(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(16);
	buf_append(&b, "a\0b", 3);
	buf_append(&b, NULL, 0);
	assert_int_equal(b.len, 3);
	assert_memory_equal(b.data, "a\0b", 4);
}

static void maximum_is_exact_and_final(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(4);
	struct err err = {0};
	buf_puts(&b, "abcd");
	assert_int_equal(buf_check(&b, "text", &err), 0);
	buf_puts(&b, "e");
	assert_true(b.failed);
	buf_truncate(&b, 0);
	buf_puts(&b, "f");
	assert_string_equal(buf_str(&b), "");
	assert_int_equal(buf_check(&b, "text", &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	assert_string_equal(err.msg, "text is larger than 4 bytes");
}

static void huge_sizes_do_not_wrap(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(8);
	buf_puts(&b, "abc");
	assert_null(buf_reserve(&b, SIZE_MAX));
	assert_true(b.failed);
	_cleanup_(buf_done) struct buf none = BUF_INIT(0);
	buf_puts(&none, "");
	assert_false(none.failed);
	assert_null(buf_reserve(&none, 1));
}

/* Whoever reserves and then has nothing to add leaves a string behind. */
static void reserved_room_is_no_content(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	assert_non_null(buf_reserve(&b, 5000));
	assert_string_equal(buf_str(&b), "");
	buf_puts(&b, "ab");
	char *to = buf_reserve(&b, 5000);
	assert_string_equal(buf_str(&b), "ab");
	assert_ptr_equal(to, b.data + 2);
}

static void truncate_only_shortens(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(16);
	buf_truncate(&b, 0);
	buf_puts(&b, "abc");
	buf_truncate(&b, 9);
	assert_string_equal(buf_str(&b), "abc");
	buf_truncate(&b, 1);
	assert_string_equal(buf_str(&b), "a");
}

static void take_hands_the_bytes_on(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(16);
	_free_ char *none = buf_take(&b);
	assert_string_equal(none, "");
	buf_puts(&b, "abc");
	_free_ char *text = buf_take(&b);
	assert_string_equal(text, "abc");
	assert_int_equal(b.len, 0);
	buf_puts(&b, "d");
	assert_string_equal(buf_str(&b), "d");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(grows_and_stays_terminated),
	    cmocka_unit_test(holds_bytes_of_any_value),
	    cmocka_unit_test(maximum_is_exact_and_final),
	    cmocka_unit_test(huge_sizes_do_not_wrap),
	    cmocka_unit_test(reserved_room_is_no_content),
	    cmocka_unit_test(truncate_only_shortens),
	    cmocka_unit_test(take_hands_the_bytes_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
