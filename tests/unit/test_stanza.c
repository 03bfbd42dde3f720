#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/stanza.h"

#define DATA "tests/data/stanza"

static void write_list(const struct stanza_list *l, struct buf *out)
{
	for (size_t i = 0; i < l->n; i++) {
		if (i)
			buf_putc(out, '\n');
		stanza_write(&l->v[i], out);
	}
}

static void read_file(const char *path, struct buf *out)
{
	struct err err = {0};
	if (path_read(path, out, &err) < 0)
		fail_msg("%s", err.msg);
}

/* A name's .out holds what is written again, its .err the error line. */
static void check_case(const char *name, unsigned flags)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf in = BUF_INIT(1 << 20);
	_cleanup_(buf_done) struct buf got = BUF_INIT(1 << 20);
	_cleanup_(buf_done) struct buf want = BUF_INIT(1 << 20);
	struct stanza_list untouched = {.n = 77}, l = untouched;
	struct err err = {0};
	read_file(arena_printf(&a, "%s.in", name), &in);
	if (stanza_parse(&a, buf_str(&in), in.len, "in", flags, &l, &err) < 0) {
		read_file(arena_printf(&a, "%s.err", name), &want);
		buf_printf(&got, "%s\n", err.msg);
		assert_int_equal(err.code, ERR_FORMAT);
		assert_memory_equal(&l, &untouched, sizeof l);
	} else {
		read_file(arena_printf(&a, "%s.out", name), &want);
		write_list(&l, &got);
	}
	if (got.len != want.len || memcmp(buf_str(&got), buf_str(&want), got.len) != 0)
		fail_msg("%s: got '%s', expected '%s'", name, buf_str(&got), buf_str(&want));
}

static void check_folder(const char *folder, unsigned flags, size_t least)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	_free_ char *dir = path_join(DATA, folder);
	struct err err = {0};
	size_t n = 0;
	assert_int_equal(path_list(dir, &names, &err), 0);
	for (size_t i = 0; i < names.n; i++) {
		if (!str_ends(names.v[i], ".in"))
			continue;
		_free_ char *stem = xstrndup(names.v[i], strlen(names.v[i]) - strlen(".in"));
		_free_ char *name = path_join(dir, stem);
		check_case(name, flags);
		n++;
	}
	assert_true(n >= least);
}

static void test_control_files(void **state)
{
	check_folder("ok", STANZA_ONE, 10);
	check_folder("dpkg", STANZA_ONE, 10);
	check_folder("own", STANZA_ONE, 10);
}

static void test_config_files(void **state)
{
	check_folder("config", STANZA_COMMENTS, 4);
}

static void test_lists(void **state)
{
	check_folder("list", 0, 6);
}

static void parse(struct arena *a, const char *text, struct stanza_list *l)
{
	struct err err = {0};
	if (stanza_parse(a, text, strlen(text), "in", STANZA_COMMENTS, l, &err) < 0)
		fail_msg("%s", err.msg);
}

static void test_lines(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct stanza_list l;
	parse(&a, "# c\nA: 1\n x\nB: 2\n\n\nC: 3\n# c\nD: 4\n", &l);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.v[0].line, 2);
	assert_int_equal(stanza_find(&l.v[0], "a")->line, 2);
	assert_int_equal(stanza_find(&l.v[0], "b")->line, 4);
	assert_int_equal(l.v[1].line, 7);
	assert_int_equal(stanza_find(&l.v[1], "d")->line, 9);
}

static void test_input_is_not_kept(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct stanza_list l;
	char text[] = "A: 1\nB: two\n three\n";
	parse(&a, text, &l);
	memset(text, 'x', sizeof text);
	assert_string_equal(stanza_get(&l.v[0], "A"), "1");
	assert_string_equal(stanza_get(&l.v[0], "b"), "two\nthree");
	assert_null(stanza_get(&l.v[0], "C"));
	assert_null(stanza_find(&l.v[0], ""));
}

static void check_written(const struct stanza *s, const char *want)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(4096);
	stanza_write(s, &b);
	assert_string_equal(buf_str(&b), want);
}

static void test_set_and_unset(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct stanza_list l;
	parse(&a, "A: 1\nB: 2\nC: 3\n", &l);
	struct stanza *s = &l.v[0];
	stanza_set(&a, s, "b", "two");
	stanza_set(&a, s, "D", "4");
	check_written(s, "A: 1\nb: two\nC: 3\nD: 4\n");
	assert_int_equal(stanza_find(s, "D")->line, 0);
	stanza_unset(s, "a");
	stanza_unset(s, "d");
	stanza_unset(s, "absent");
	check_written(s, "b: two\nC: 3\n");
	stanza_set(&a, s, "E", "5");
	assert_int_equal(stanza_find(s, "E")->line, 0);
}

static void test_set_from_nothing(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf want = BUF_INIT(4096);
	struct stanza s = {0};
	for (int i = 0; i < 40; i++) {
		stanza_set(&a, &s, arena_printf(&a, "F%d", i), "v");
		buf_printf(&want, "F%d: v\n", i);
	}
	check_written(&s, buf_str(&want));
}

/* Whatever a value holds, what is written stays one field of one stanza. */
static void test_write_keeps_one_field(void **state)
{
	static const struct {
		const char *value, *want;
	} cases[] = {{"", "F:\n"}, {"a", "F: a\n"}, {"a\nb", "F: a\n b\n"}, {"\na", "F:\n a\n"},
	    {"a\n\nb", "F: a\n .\n b\n"}, {"a\n  \nb", "F: a\n .\n b\n"}, {"a\n", "F: a\n"},
	    {"a\n\n", "F: a\n"}, {"\n", "F:\n"}, {"a\n.\nb", "F: a\n .\n b\n"},
	    {"a\n b", "F: a\n  b\n"}, {"a\nX: b", "F: a\n X: b\n"}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		struct stanza s = {0};
		stanza_set(&a, &s, "F", cases[i].value);
		check_written(&s, cases[i].want);
	}
}

static void test_check_fields(void **state)
{
	static const char *const allowed[] = {"Name", "Url", NULL};
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct stanza_list l;
	struct err err = {0};
	parse(&a, "name: 1\nURL: 2\n\nName: 1\nUrll: 2\n", &l);
	assert_int_equal(stanza_check_fields(&l.v[0], allowed, "matrix", &err), 0);
	assert_int_equal(stanza_check_fields(&l.v[1], allowed, "matrix", &err), -1);
	assert_string_equal(err.msg, "matrix:5: found unknown field 'Urll', expected Name, Url");
}

static void test_parse_file(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct stanza_list l = {0};
	struct err err = {0};
	assert_int_equal(stanza_parse_file(&a, DATA "/list/three.in", 0, &l, &err), 0);
	assert_int_equal(l.n, 3);
	assert_int_equal(stanza_parse_file(&a, DATA "/dpkg/duplicate.in", 0, &l, &err), -1);
	assert_true(str_starts(err.msg, DATA "/dpkg/duplicate.in:6: found field"));
	assert_int_equal(stanza_parse_file(&a, DATA "/absent", 0, &l, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
}

static void test_many_stanzas(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf in = BUF_INIT(64 << 20), out = BUF_INIT(64 << 20);
	struct stanza_list l;
	for (int i = 0; i < 50000; i++)
		buf_printf(&in, "%sPackage: p%d\nVersion: 1\nDescription: d\n l\n .\n m\n",
		    i ? "\n" : "", i);
	parse(&a, buf_str(&in), &l);
	assert_int_equal(l.n, 50000);
	assert_string_equal(stanza_get(&l.v[49999], "package"), "p49999");
	write_list(&l, &out);
	assert_string_equal(buf_str(&in), buf_str(&out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_control_files),
	    cmocka_unit_test(test_config_files),
	    cmocka_unit_test(test_lists),
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_input_is_not_kept),
	    cmocka_unit_test(test_set_and_unset),
	    cmocka_unit_test(test_set_from_nothing),
	    cmocka_unit_test(test_write_keeps_one_field),
	    cmocka_unit_test(test_check_fields),
	    cmocka_unit_test(test_parse_file),
	    cmocka_unit_test(test_many_stanzas),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
