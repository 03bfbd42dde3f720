/* elf_read; the judge is readelf. */
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
#include "../../lib/deb/elf.h"

static char top[] = "/tmp/test_elf.XXXXXX";

static char *shell(const char *line)
{
	struct buf out = BUF_INIT(8 << 20);
	char *argv[] = {(char *)"sh", (char *)"-ec", (char *)line, NULL};
	struct proc_spec spec = {.argv = argv, .dir = top, .out = &out, .errout = &out};
	struct proc_result r;
	struct err err = {0};
	if (proc_run(&spec, &r, &err) < 0)
		fail_msg("%s", err.msg);
	if (r.status)
		fail_msg("%s: %s", line, buf_str(&out));
	return buf_take(&out);
}

static int make_libraries(void **state)
{
	if (!mkdtemp(top))
		return -1;
	free(shell(
	    "echo 'int puts(const char *); int f(void) { return puts(\"x\"); }"
	    " int weak(void) __attribute__((weak)); int g(void) { return weak ? weak() : 0; }"
	    " __attribute__((visibility(\"hidden\"))) int h(void) { return 3; }' >a.c;"
	    "echo 'V_1 { global: f; }; V_2 { global: g; local: *; } V_1;' >a.map;"
	    "gcc -g -shared -fPIC -Wl,-soname,liba.so.1 -Wl,--version-script,a.map -Wl,-z,now "
	    "  -Wl,-z,relro -Wl,--enable-new-dtags -Wl,-rpath,/opt/run a.c -o a.so;"
	    "gcc -shared -fPIC -Wl,-z,lazy -Wl,-z,norelro -Wl,-z,execstack -Wl,--disable-new-dtags "
	    "  -Wl,-rpath,/opt/old a.c -lm -Wl,--no-as-needed -ldl -o b.so;"
	    "echo '.section .nv_fatbin,\"a\"; .ascii \"12345678\"' >n.s; "
	    "gcc -shared -fPIC -nostdlib a.c n.s -o n.so;"
	    "gcc -c a.c -o a.o; gcc -m32 -c a.c -o a32.o 2>/dev/null || cp a.o a32.o"));
	return 0;
}

static int remove_libraries(void **state)
{
	return path_remove_tree(top, NULL);
}

static void read_ok(struct arena *a, const char *path, struct elf_info *e)
{
	_free_ char *full = path_join(top, path);
	struct err err = {0};
	if (elf_read(a, full, e, &err) < 0)
		fail_msg("%s", err.msg);
}

static void put_symbols(struct buf *b, char kind, const struct elf_symbol *v, size_t n)
{
	/* readelf shows the symbols that stand for versions themselves in another form. */
	for (size_t i = 0; i < n; i++)
		if (!v[i].version || strcmp(v[i].name, v[i].version) != 0)
			buf_printf(b, "%c %s %s %s\n", kind, v[i].weak ? "WEAK" : "GLOBAL",
			    v[i].name, v[i].version ? v[i].version : "-");
}

/* Sorted lines of our reading and of readelf's are the same. */
static void compare(const char *path)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf b = BUF_INIT(8 << 20);
	struct elf_info e;
	read_ok(&a, path, &e);
	put_symbols(&b, 'U', e.undefined, e.n_undefined);
	put_symbols(&b, 'D', e.defined, e.n_defined);
	for (size_t i = 0; i < e.n_needs; i++)
		buf_printf(&b, "V %s %s\n", e.needs[i].library, e.needs[i].version);
	for (size_t i = 0; i < e.n_needed; i++)
		buf_printf(&b, "N %s\n", e.needed[i]);
	if (e.soname)
		buf_printf(&b, "S %s\n", e.soname);
	if (e.relro)
		buf_puts(&b, "RELRO\n");
	if (e.exec_stack)
		buf_puts(&b, "EXEC\n");
	_free_ char *list = path_join(top, "ours");
	assert_int_equal(outfile_put(list, 0644, b.data, b.len, NULL), 0);
	_free_ char *line = xasprintf(
	    "{ readelf -W --dyn-syms %s | awk '$1 ~ /^[1-9][0-9]*:$/ && $5 != \"LOCAL\" && $7 != "
	    "\"ABS\" {"
	    " v = \"-\"; n = $8; b = $5 == \"UNIQUE\" ? \"GLOBAL\" : $5;"
	    " if (split(n, p, /@+/) > 1) { n = p[1]; v = p[2] } print ($7 == \"UND\" ? \"U\" : "
	    "\"D\"), "
	    "b, n, v }';"
	    "readelf -W -V %s | awk '/ File: / { f = $5 } / Name: .* Flags: .* Version: [0-9]+$/ "
	    "&& "
	    "$2 == \"Name:\" { print \"V\", f, $3 }';"
	    "readelf -W -d %s | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/N \\1/p; "
	    "s/.*(SONAME).*\\[\\(.*\\)\\]/S \\1/p';"
	    "readelf -W -l %s | awk '$1 == \"GNU_RELRO\" { print \"RELRO\" } "
	    "$1 == \"GNU_STACK\" && $7 ~ /E/ { print \"EXEC\" }'; } 2>/dev/null | sort >theirs; "
	    "sort ours | diff - theirs",
	    path, path, path, path);
	free(shell(line));
}

static void test_system_libraries(void **state)
{
	_free_ char *list = shell("for l in libc.so.6 libm.so.6 libstdc++.so.6 libarchive.so.13 "
				  "libelf.so.1 libcrypto.so.3; do "
				  "ls /lib/*/$l; done | sort -u");
	unsigned n = 0;
	char *save = NULL;
	for (char *p = strtok_r(list, "\n", &save); p; p = strtok_r(NULL, "\n", &save), n++)
		compare(p);
	assert_int_equal(n, 6);
}

static void test_own_libraries(void **state)
{
	compare("a.so");
	compare("b.so");
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct elf_info e;
	read_ok(&a, "a.so", &e);
	assert_string_equal(e.soname, "liba.so.1");
	assert_string_equal(e.runpath, "/opt/run");
	assert_true(e.now && e.relro && e.has_debug && !e.exec_stack);
	assert_int_equal(e.fatbin_size, 0);
	read_ok(&a, "b.so", &e);
	assert_null(e.soname);
	assert_string_equal(e.runpath, "/opt/old");
	assert_true(!e.now && !e.relro && !e.has_debug && e.exec_stack);
}

static void test_fatbin_section(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct elf_info e;
	read_ok(&a, "n.so", &e);
	assert_int_equal(e.fatbin_size, 8);
	_free_ char *line =
	    xasprintf("tail -c +%llu n.so | head -c 8", (unsigned long long)e.fatbin_offset + 1);
	_free_ char *text = shell(line);
	assert_string_equal(text, "12345678");
}

static void test_floor(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct elf_need needs[] = {{"libc.so.6", "GLIBC_2.4"}, {"libc.so.6", "GLIBC_2.34"},
	    {"libc.so.6", "GLIBC_PRIVATE"}, {"libc.so.6", "GLIBC_ABI_DT_RELR"},
	    {"libstdc++.so.6", "GLIBCXX_3.4.9"}, {"libstdc++.so.6", "GLIBCXX_3.4.29"}};
	struct elf_info e = {.needs = needs, .n_needs = 6};
	assert_string_equal(elf_floor(&a, &e, "GLIBC"), "2.34");
	assert_string_equal(elf_floor(&a, &e, "GLIBCXX"), "3.4.29");
	assert_null(elf_floor(&a, &e, "CXXABI"));
}

static void test_refused(void **state)
{
	static const struct {
		const char *file, *what;
	} cases[] = {
	    {"a.o", "not a shared object"},
	    {"a.c", "not an ELF file"},
	    {"/dev/null", "not an ELF file"},
	    {"/usr", "not an ELF file"},
	};
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct elf_info e;
	struct err err = {0};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_free_ char *full = path_join(top, cases[i].file);
		assert_int_equal(elf_read(&a, full, &e, &err), -1);
		assert_int_equal(err.code, ERR_FORMAT);
		assert_non_null(strstr(err.msg, cases[i].what));
	}
	assert_int_equal(elf_read(&a, "/nonexistent", &e, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(elf_read_mem(&a, "", 0, "empty", &e, &err), -1);
}

/*
 * Version needs whose 500 entries share one chain of 500 auxiliaries: few bytes, which would become
 * a quarter of a million needs.
 */
static void test_shared_needs(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct elf_info e;
	struct err err = {0};
	free(shell("cat >share.py <<'EOF'\n"
		   "import struct\n"
		   "b = bytearray(open('a.so', 'rb').read())\n"
		   "need = b''.join(struct.pack('<HHIII', 1, 500, 0, 16 * (500 - i),\n"
		   "    16 if i < 499 else 0) for i in range(500))\n"
		   "aux = b''.join(struct.pack('<IHHII', 0, 0, 2, 0, 16 if i < 499 else 0)\n"
		   "    for i in range(500))\n"
		   "shoff, = struct.unpack_from('<Q', b, 40)\n"
		   "n, = struct.unpack_from('<H', b, 60)\n"
		   "for i in range(n):\n"
		   "    at = shoff + 64 * i\n"
		   "    if struct.unpack_from('<I', b, at + 4)[0] == 0x6ffffffe:\n"
		   "        struct.pack_into('<QQ', b, at + 24, len(b), len(need + aux))\n"
		   "open('share.so', 'wb').write(b + need + aux)\n"
		   "EOF\npython3 share.py"));
	_free_ char *full = path_join(top, "share.so");
	assert_int_equal(elf_read(&a, full, &e, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	assert_non_null(strstr(err.msg, "the version needs are damaged"));
}

/* No cut and no changed byte makes the reader crash or leave the file. */
static void test_damaged(void **state)
{
	_free_ char *full = path_join(top, "a.so");
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	assert_int_equal(path_read(full, &b, NULL), 0);
	for (size_t n = 0; n < b.len; n += n < 2048 || n + 4096 > b.len ? 1 : 7) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		struct elf_info e;
		struct err err = {0};
		if (elf_read_mem(&a, b.data, n, "cut", &e, &err) < 0)
			assert_int_equal(err.code, ERR_FORMAT);
		b.data[n] ^= (char)0xff;
		if (elf_read_mem(&a, b.data, b.len, "changed", &e, &err) < 0)
			assert_int_equal(err.code, ERR_FORMAT);
		b.data[n] ^= (char)0xff;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_system_libraries),
	    cmocka_unit_test(test_own_libraries),
	    cmocka_unit_test(test_fatbin_section),
	    cmocka_unit_test(test_floor),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_shared_needs),
	    cmocka_unit_test(test_damaged),
	};
	return cmocka_run_group_tests(tests, make_libraries, remove_libraries);
}
