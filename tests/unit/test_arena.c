#include "unit.h"

static void pieces_are_aligned_zeroed_and_apart(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	unsigned char *p[600];
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		p[i] = arena_alloc(&a, i);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		for (size_t k = 0; k < i; k++)
			assert_int_equal(p[i][k], 0);
		memset(p[i], (int)i & 255, i);
	}
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		for (size_t k = 0; k < i; k++)
			assert_int_equal(p[i][k], i & 255);
}

/* A piece larger than a block leaves the room of the current one in use. */
static void large_piece_keeps_the_block(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	char *first = arena_alloc(&a, 16);
	char *large = arena_alloc(&a, 1 << 20);
	char *second = arena_alloc(&a, 16);
	assert_ptr_equal(second, first + 16);
	memset(large, 'x', 1 << 20);
	assert_int_equal(second[0], 0);
}

static void strings_are_copies(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	char text[] = "abc";
	char *dup = arena_strdup(&a, text), *part = arena_strndup(&a, text, 2);
	char *made = arena_printf(&a, "%s-%d", text, 5);
	text[0] = 'x';
	assert_string_equal(dup, "abc");
	assert_string_equal(part, "ab");
	assert_string_equal(made, "abc-5");
	assert_string_equal(arena_strdup(&a, ""), "");
}

static void done_arena_may_be_used_again(void **state)
{
	struct arena a = ARENA_INIT;
	arena_done(&a);
	assert_string_equal(arena_strdup(&a, "a"), "a");
	arena_done(&a);
	assert_null(a.head);
	assert_string_equal(arena_strdup(&a, "b"), "b");
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pieces_are_aligned_zeroed_and_apart),
	    cmocka_unit_test(large_piece_keeps_the_block),
	    cmocka_unit_test(strings_are_copies),
	    cmocka_unit_test(done_arena_may_be_used_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
