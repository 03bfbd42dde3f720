#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/relation.h"
#include "cases.h"

/* "name:qualifier(OPversion)@group" with a space between. */
static void print_list(const struct relation_list *l, struct buf *out)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct relation *r = &l->v[i];
		buf_printf(out, "%s%s", i ? " " : "", r->package);
		if (r->arch_qualifier)
			buf_printf(out, ":%s", r->arch_qualifier);
		if (r->op)
			buf_printf(out, "(%s%s)", r->op, r->version);
		buf_printf(out, "@%u", r->group);
	}
}

/* In place: "\n" of two characters becomes a newline. */
static void unescape(char *s)
{
	for (char *p; (p = strstr(s, "\\n"));) {
		*p = '\n';
		memmove(p + 1, p + 2, strlen(p + 2) + 1);
	}
}

static void test_grammar(void **state)
{
	struct case_file c;
	case_open(&c, "tests/data/relation.cases");
	while (case_next(&c)) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		_cleanup_(buf_done) struct buf got = BUF_INIT(4096);
		struct relation_list l = {.n = 77};
		struct err err = {0};
		int want = str_eq(c.v[0], "ok") ? 0 : -1;
		unescape(c.v[1]);
		assert_int_equal(relation_parse(&a, c.v[1], &l, &err), want);
		if (want == 0)
			print_list(&l, &got);
		else
			assert_int_equal(l.n, 77);
		assert_string_equal(want ? err.msg : buf_str(&got), c.v[2]);
		assert_int_equal(err.code, want ? ERR_FORMAT : ERR_NONE);
	}
	assert_true(c.n >= 60);
	case_close(&c);
}

static void test_fields(void **state)
{
	struct case_file c;
	case_open(&c, "tests/data/relation.fields");
	while (case_next(&c)) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		struct relation_list l;
		struct err err = {0};
		assert_int_equal(relation_parse(&a, c.v[2], &l, &err), 0);
		assert_int_equal(relation_check(c.v[1], &l, &err), str_eq(c.v[0], "ok") ? 0 : -1);
		assert_string_equal(err.msg, c.v[3]);
	}
	assert_true(c.n >= 15);
	case_close(&c);
}

static void test_long_piece_is_cut(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf text = BUF_INIT(1 << 20);
	struct relation_list l;
	struct err err = {0};
	for (int i = 0; i < 10000; i++)
		buf_puts(&text, "a");
	buf_puts(&text, " b");
	assert_int_equal(relation_parse(&a, buf_str(&text), &l, &err), -1);
	assert_true(strlen(err.msg) < 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_grammar),
	    cmocka_unit_test(test_fields),
	    cmocka_unit_test(test_long_piece_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
