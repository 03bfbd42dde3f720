/*
 * fatbin_read on containers made here in the form that fatbinary 13.0 was seen to write; the
 * readings of real ones agree with cuobjdump's listing.
 */
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
#include "../../lib/deb/fatbin.h"
#include "fatmake.h"

static void expect_archs(const struct buf *b, const char *want)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf archs = BUF_INIT(1 << 16);
	struct fatbin_info f;
	struct err err = {0};
	if (fatbin_read(&a, b->data, b->len, &f, &err) < 0)
		fail_msg("%s", err.msg);
	fatbin_archs(&f, &archs);
	assert_string_equal(buf_str(&archs), want);
}

static void expect_refused(const struct buf *b, const char *what)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct fatbin_info f;
	struct err err = {0};
	assert_int_equal(fatbin_read(&a, b->data, b->len, &f, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	if (!strstr(err.msg, what))
		fail_msg("wanted '%s', got '%s'", what, err.msg);
}

static void test_entries(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	struct fatbin_info f;
	make_fatbin(&b, (struct fat[]){{2, 90, 0x11, 4000, 0}, {2, 120, 0x8011, 3000, 9000},
			    {1, 120, 0x2011, 800, 5414}, {2, 75, 0x11, 3000, 9000}, {0}});
	assert_int_equal(fatbin_read(&a, b.data, b.len, &f, NULL), 0);
	assert_int_equal(f.n, 4);
	assert_int_equal(f.n_containers, 1);
	static const struct fatbin_entry want[] = {
	    {FATBIN_ELF, 0, 90, 0, FATBIN_PLAIN, 4000, 0, 0, 0},
	    {FATBIN_ELF, 0, 120, 0, FATBIN_ZSTD, 3000, 9000, 0, 0},
	    {FATBIN_PTX, 0, 120, 0, FATBIN_LZ4, 800, 5414, 0, 0},
	    {FATBIN_ELF, 0, 75, 0, FATBIN_OTHER, 3000, 9000, 0, 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(f.v[i].kind, want[i].kind);
		assert_int_equal(f.v[i].arch, want[i].arch);
		assert_int_equal(f.v[i].compress, want[i].compress);
		assert_int_equal(f.v[i].size, want[i].size);
		assert_int_equal(f.v[i].plain_size, want[i].plain_size);
	}
}

static void test_archs(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	expect_archs(&b, "");
	make_fatbin(&b, (struct fat[]){{1, 120, 0x11, 800, 0}, {2, 120, 0x11, 4000, 0},
			    {2, 90, 0x11, 4000, 0}, {2, 103, 0x11, 4000, 0}, {0}});
	expect_archs(&b, "9.0 10.3 12.0 12.0+PTX");
	/* Only what each container has. */
	buf_append(&b, "\0\0\0\0\0\0\0\0", 8);
	make_fatbin(&b, (struct fat[]){{2, 120, 0x11, 4000, 0}, {2, 90, 0x11, 4000, 0},
			    {2, 80, 0x11, 4000, 0}, {0}});
	expect_archs(&b, "9.0 12.0");
	/* One without a kernel does not count. */
	make_fatbin(&b, (struct fat[]){{2, 50, 0x8011, 528, 1544}, {0}});
	expect_archs(&b, "9.0 12.0");
	make_fatbin(&b, (struct fat[]){{2, 75, 0x11, 4000, 0}, {0}});
	expect_archs(&b, "");
}

static void test_suffix(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	make_fatbin(&b, (struct fat[]){{1, 90, 0x100011, 800, 0}, {2, 120, 0x1200011, 4000, 0},
			    {2, 90, 0x100011, 4000, 0}, {2, 90, 0x11, 4000, 0}, {0}});
	expect_archs(&b, "9.0 9.0a 12.0f 9.0a+PTX");
}

static void test_twice_in_one(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	make_fatbin(&b, (struct fat[]){{2, 90, 0x11, 4000, 0}, {2, 90, 0x11, 4000, 0}, {0}});
	make_fatbin(&b, (struct fat[]){{2, 80, 0x11, 4000, 0}, {0}});
	expect_archs(&b, "");
}

static void test_lengths(void **state)
{
	static const struct fat entry[] = {{2, 90, 0x11, 100, 0}, {0}};
	static const struct {
		size_t at, n;
		uint64_t value;
		const char *what;
	} cases[] = {
	    {0, 4, 0x12345678, "no container where one is expected"},
	    {6, 2, 15, "leaves the section"},
	    {6, 2, 65535, "leaves the section"},
	    {8, 8, 165, "leaves the section"},
	    {8, 8, UINT64_MAX, "leaves the section"},
	    {8, 8, 63, "an entry is cut off"},
	    {20, 4, 63, "the length of an entry leaves its container"},
	    {20, 4, UINT32_MAX, "the length of an entry leaves its container"},
	    {24, 8, 101, "the length of an entry leaves its container"},
	    {24, 8, UINT64_MAX, "the length of an entry leaves its container"},
	    {24, 8, 99, "an entry is cut off"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
		make_fatbin(&b, entry);
		put_le((unsigned char *)b.data + cases[i].at, cases[i].value, cases[i].n);
		expect_refused(&b, cases[i].what);
	}
}

static void test_cut(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	make_fatbin(&b, (struct fat[]){{2, 90, 0x11, 100, 0}, {1, 90, 0x11, 50, 0}, {0}});
	for (size_t n = b.len - 1; n; n--) {
		buf_truncate(&b, n);
		expect_refused(&b, "CUDA fat binary");
	}
}

/* The section of a real shared object, wherever it lies in the file. */
static void test_section(void **state)
{
	char dir[] = "/tmp/test_fatbin.XXXXXX";
	assert_non_null(mkdtemp(dir));
	_free_ char *bin = path_join(dir, "x.fatbin");
	_free_ char *so = path_join(dir, "x.so");
	_free_ char *text = path_join(dir, "x.s");
	_free_ char *source =
	    xasprintf(".section .nv_fatbin,\"a\"\n.balign 8\n.incbin \"%s\"\n", bin);
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	make_fatbin(&b, (struct fat[]){{2, 90, 0x11, 40000, 0}, {1, 90, 0x11, 50, 0}, {0}});
	assert_int_equal(outfile_put(bin, 0644, b.data, b.len, NULL), 0);
	assert_int_equal(outfile_put(text, 0644, source, strlen(source), NULL), 0);
	const char *argv[] = {"gcc", "-shared", "-nostdlib", text, "-o", so, NULL};
	const struct proc_spec spec = {.argv = (char *const *)argv};
	assert_int_equal(proc_check(&spec, NULL), 0);
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf archs = BUF_INIT(1 << 16);
	struct fatbin_info f;
	assert_int_equal(fatbin_read_elf(&a, so, &f, NULL), 0);
	fatbin_archs(&f, &archs);
	assert_string_equal(buf_str(&archs), "9.0 9.0+PTX");
	assert_int_equal(path_remove_tree(dir, NULL), 0);
	assert_int_equal(fatbin_read_elf(&a, so, &f, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_entries),
	    cmocka_unit_test(test_archs),
	    cmocka_unit_test(test_suffix),
	    cmocka_unit_test(test_twice_in_one),
	    cmocka_unit_test(test_lengths),
	    cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_section),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
