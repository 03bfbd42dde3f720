/* One member of a wheel in parts; python's zipfile writes the wheels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/xalloc.h"
#include "../../debbuild/wheel/peek.h"
#include "../../debbuild/wheel/wheel.h"

#define MAX ((size_t)64 << 20)

static char top[] = "/tmp/test_peek.XXXXXX";

/*
 * "big" is 24 MB: 600 KB of noise, words, noise, words. Deflated it has some MB; copies of the
 * last words never reach behind the noise before them.
 */
static const char script[] =
    "import random, zipfile, struct\n"
    "r = random.Random(5)\n"
    "def words(n):\n"
    "    return b'\\0'.join(b'_ZN3c10%06d' % r.randrange(900000) for _ in range(n // 14))\n"
    "big = r.randbytes(600 << 10) + words(22 << 20) + r.randbytes(200 << 10) + words(1 << 20)\n"
    "open('big', 'wb').write(big)\n"
    "def make(name, kind):\n"
    "    with zipfile.ZipFile(name, 'w', kind) as z:\n"
    "        z.writestr('first.txt', 'first')\n"
    "        z.writestr('lib/big', big)\n"
    "        z.writestr('lib/small', big[:5000])\n"
    "        z.writestr('lib/empty', b'')\n"
    "make('deflated.whl', zipfile.ZIP_DEFLATED)\n"
    "make('stored.whl', zipfile.ZIP_STORED)\n"
    "make('bz.whl', zipfile.ZIP_BZIP2)\n"
    "d = bytearray(open('deflated.whl', 'rb').read())\n"
    "d[len(d) // 2:len(d) // 2 + 4096] = b'\\xff' * 4096\n"
    "open('damaged.whl', 'wb').write(d)\n"
    /* the size of lib/big in the directory is one too many */
    "d = bytearray(open('deflated.whl', 'rb').read())\n"
    "at = d.rfind(b'PK\\1\\2', 0, d.rfind(b'lib/big'))\n"
    "d[at + 24:at + 28] = struct.pack('<I', len(big) + 1)\n"
    "open('liar.whl', 'wb').write(d)\n";

static int make_wheels(void **state)
{
	if (!mkdtemp(top))
		return -1;
	char *argv[] = {(char *)"python3", (char *)"-c", (char *)script, NULL};
	return proc_check(&(struct proc_spec){.argv = argv, .dir = top}, NULL);
}

static int remove_wheels(void **state)
{
	return path_remove_tree(top, NULL);
}

static void open_wheel(struct peek *p, const char *name)
{
	_free_ char *path = path_join(top, name);
	struct err err = {0};
	struct wheel_pin pin = {.name = name, .path = path};
	if (peek_open(p, NULL, &pin, &err) < 0)
		fail_msg("%s", err.msg);
}

static void load_big(struct buf *b)
{
	_free_ char *path = path_join(top, "big");
	assert_int_equal(path_read(path, b, NULL), 0);
}

static void check(struct peek *p, const struct buf *big, uint64_t offset, uint64_t n)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(MAX);
	struct err err = {0};
	if (peek_read(p, offset, n, &out, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(out.len, n);
	assert_memory_equal(buf_str(&out), big->data + offset, n);
}

static void test_both_ends(void **state)
{
	static const char *const wheels[] = {"deflated.whl", "stored.whl"};
	_cleanup_(buf_done) struct buf big = BUF_INIT(MAX);
	load_big(&big);
	for (size_t i = 0; i < ARRAY_SIZE(wheels); i++) {
		_cleanup_(peek_done) struct peek p = PEEK_INIT;
		struct err err = {0};
		open_wheel(&p, wheels[i]);
		assert_int_equal(peek_member(&p, "lib/big", &err), 0);
		assert_int_equal(p.member->size, big.len);
		check(&p, &big, 0, 64);
		check(&p, &big, big.len - 4096, 4096);
		check(&p, &big, big.len - (900 << 10), 70001);
		check(&p, &big, 100, 550 << 10);
		check(&p, &big, 12345, 0);
		/* most of it was never looked at */
		assert_true(p.fed + p.packed_tail.len < p.member->packed / 2);
		check(&p, &big, 7 << 20, 1 << 20);
		check(&p, &big, 0, big.len);
	}
}

static void test_other_members(void **state)
{
	_cleanup_(buf_done) struct buf big = BUF_INIT(MAX), out = BUF_INIT(MAX);
	_cleanup_(peek_done) struct peek p = PEEK_INIT;
	struct err err = {0};
	load_big(&big);
	open_wheel(&p, "deflated.whl");
	assert_int_equal(peek_member(&p, "lib/big", &err), 0);
	check(&p, &big, big.len - 10, 10);
	assert_int_equal(peek_member(&p, "lib/small", &err), 0);
	check(&p, &big, 4000, 1000);
	assert_int_equal(p.fed, p.member->packed);
	assert_int_equal(peek_member(&p, "lib/empty", &err), 0);
	assert_int_equal(peek_read(&p, 0, 0, &out, &err), 0);
	assert_int_equal(peek_read(&p, 0, 1, &out, &err), -1);
	assert_int_equal(peek_member(&p, "lib/none", &err), -1);
	assert_string_equal(err.msg, "it has no 'lib/none'");
}

static void test_refuses(void **state)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(MAX);
	struct err err = {0};
	_cleanup_(peek_done) struct peek bz = PEEK_INIT, damaged = PEEK_INIT, liar = PEEK_INIT;
	open_wheel(&bz, "bz.whl");
	assert_int_equal(peek_member(&bz, "lib/big", &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	open_wheel(&damaged, "damaged.whl");
	assert_int_equal(peek_member(&damaged, "lib/big", &err), 0);
	assert_int_equal(peek_read(&damaged, 0, damaged.member->size, &out, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	open_wheel(&liar, "liar.whl");
	assert_int_equal(peek_member(&liar, "lib/big", &err), 0);
	assert_int_equal(peek_read(&liar, 0, liar.member->size, &out, &err), -1);
	assert_non_null(strstr(err.msg, "wrong size"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_ends),
	    cmocka_unit_test(test_other_members), cmocka_unit_test(test_refuses)};
	return cmocka_run_group_tests(tests, make_wheels, remove_wheels);
}
