/* dynsym_exports; the judge is nm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/dynsym.h"

static char top[] = "/tmp/test_dynsym.XXXXXX";

static void shell(const char *line)
{
	struct err err = {0};
	char *argv[] = {(char *)"bash", (char *)"-ec", (char *)line, NULL};
	if (proc_check(&(struct proc_spec){.argv = argv, .dir = top}, &err) < 0)
		fail_msg("%s", err.msg);
}

static int make_libraries(void **state)
{
	if (!mkdtemp(top))
		return -1;
	shell("echo 'int f(void) { return 1; } int g(void) { return 2; }"
	      " int weak(void) __attribute__((weak)); int missing(void);"
	      " __attribute__((weak)) int w(void) { return missing() + weak(); }"
	      " __attribute__((visibility(\"hidden\"))) int h(void) { return 3; }"
	      " __attribute__((visibility(\"protected\"))) int p(void) { return 3; }"
	      " static int s(void) { return 4; } int (*use)(void) = s; __thread int tls;' >a.c;"
	      "echo 'template <class T> struct C { static int n; }; template <class T> int C<T>::n;"
	      " int *q() { return &C<int>::n; }' >u.cc;"
	      "echo 'V_1 { global: f; }; V_2 { global: *; } V_1;' >a.map;"
	      "gcc -g -shared -fPIC -Wl,--hash-style=gnu a.c -o gnu.so;"
	      "gcc -shared -fPIC -Wl,--hash-style=sysv a.c -o sysv.so;"
	      "gcc -shared -fPIC -Wl,--version-script,a.map a.c -o versions.so;"
	      "g++ -shared -fPIC u.cc -o unique.so;"
	      "echo 'static int none; int use(void); int (*x)(void);' >n.c;"
	      "gcc -shared -fPIC -nostdlib -fvisibility=hidden n.c -o none.so;"
	      "gcc -c a.c -o a.o; echo text >text; : >empty");
	return 0;
}

static int remove_libraries(void **state)
{
	return path_remove_tree(top, NULL);
}

static int read_buf(void *arg, uint64_t offset, uint64_t n, struct buf *out, struct err *err)
{
	const struct buf *file = arg;
	if (offset > file->len || n > file->len - offset)
		return err_set(err, ERR_FORMAT, "it ends before that");
	buf_append(out, file->data + offset, n);
	return buf_check(out, "a part", err);
}

static void load(const char *name, struct buf *b)
{
	_free_ char *path = path_join(top, name);
	assert_int_equal(path_read(path, b, NULL), 0);
}

static void compare(const char *path)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf file = BUF_INIT(64 << 20), text = BUF_INIT(8 << 20);
	struct dynsym d;
	struct err err = {0};
	load(path, &file);
	if (dynsym_exports(&a, read_buf, &file, file.len, path, &d, &err) < 0)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < d.n; i++)
		buf_printf(&text, "%s\n", d.names[i]);
	_free_ char *ours = path_join(top, "ours");
	assert_int_equal(outfile_put(ours, 0644, text.data, text.len, NULL), 0);
	_free_ char *line = xasprintf("nm -D --defined-only --without-symbol-versions %s | "
				      "awk '$2 ~ /^[A-Zuvwi]$/ && $2 != \"A\" {print $NF}' | "
				      "LC_ALL=C sort -u | diff ours -",
	    path);
	shell(line);
}

static void test_names(void **state)
{
	static const char *const files[] = {
	    "gnu.so", "sysv.so", "versions.so", "unique.so", "none.so"};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		compare(files[i]);
}

static void test_system_libraries(void **state)
{
	shell("for l in libstdc++.so.6 libelf.so.1 libz.so.1; do"
	      " cp -L \"$(gcc -print-file-name=$l)\" .; done");
	compare("libstdc++.so.6");
	compare("libelf.so.1");
	compare("libz.so.1");
}

static void refuse(const struct buf *file, const char *pattern)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct dynsym d;
	struct err err = {0};
	assert_int_equal(
	    dynsym_exports(&a, read_buf, (void *)file, file->len, "x.so", &d, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	if (!strstr(err.msg, pattern))
		fail_msg("'%s' does not say '%s'", err.msg, pattern);
}

static void test_refuses(void **state)
{
	static const struct {
		const char *file, *pattern;
	} cases[] = {{"text", "not an ELF file"}, {"empty", "not an ELF file"},
	    {"a.o", "not a 64-bit little-endian shared object"}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(buf_done) struct buf file = BUF_INIT(64 << 20);
		load(cases[i].file, &file);
		refuse(&file, cases[i].pattern);
	}
}

/* One changed letter of one name is seen: it no longer fits its hash. */
static void test_changed_name(void **state)
{
	_cleanup_(buf_done) struct buf file = BUF_INIT(64 << 20);
	load("gnu.so", &file);
	char *name = memmem(file.data, file.len, "\0tls\0", 5);
	assert_non_null(name);
	name[2] = 'm';
	refuse(&file, "does not fit its hash");
}

/* Whatever bytes are damaged, it answers or refuses, and stays inside of the file. */
static void test_damaged(void **state)
{
	_cleanup_(buf_done) struct buf file = BUF_INIT(64 << 20);
	load("versions.so", &file);
	unsigned seed = 1;
	for (unsigned round = 0; round < 4000; round++) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		_cleanup_(buf_done) struct buf bad = BUF_INIT(64 << 20);
		struct dynsym d;
		buf_append(&bad, file.data, round % 5 ? file.len : file.len * (round % 97) / 97);
		for (unsigned i = 0; i < 3 && bad.len; i++) {
			seed = seed * 1103515245 + 12345;
			bad.data[(seed >> 8) % (round & 1 ? bad.len : 4096 % (bad.len + 1) + 1) %
				 bad.len] = (char)(seed >> 24);
		}
		(void)!dynsym_exports(&a, read_buf, &bad, bad.len, "x.so", &d, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
	    cmocka_unit_test(test_system_libraries), cmocka_unit_test(test_refuses),
	    cmocka_unit_test(test_changed_name), cmocka_unit_test(test_damaged)};
	return cmocka_run_group_tests(tests, make_libraries, remove_libraries);
}
