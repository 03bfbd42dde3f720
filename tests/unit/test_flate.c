/* Deflate in parts; python's zlib and gzip(1) write and judge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/xalloc.h"
#include "../../debbuild/wheel/flate.h"

#define MAX ((size_t)32 << 20)

static char top[] = "/tmp/test_flate.XXXXXX";

static void run(const char *program, const char *option, const char *text)
{
	struct err err = {0};
	char *argv[] = {(char *)program, (char *)option, (char *)text, NULL};
	if (proc_check(&(struct proc_spec){.argv = argv, .dir = top}, &err) < 0)
		fail_msg("%s", err.msg);
}

/*
 * plain: 2 MB of words, 96 KB of noise, 300 KB of words: the noise cuts all copies from before.
 * words: words alone, where copies reach back to the beginning. Each packed as a raw stream.
 */
static const char script[] =
    "import random, zlib\n"
    "r = random.Random(7)\n"
    "def words(n):\n"
    "    v = ['_ZN2at%03dE' % r.randrange(700) for _ in range(n // 9)]\n"
    "    return '\\0'.join(v).encode()\n"
    "def put(name, data):\n"
    "    z = zlib.compressobj(6, zlib.DEFLATED, -15)\n"
    "    open(name, 'wb').write(data)\n"
    "    open(name + '.raw', 'wb').write(z.compress(data) + z.flush())\n"
    "put('plain', words(2000000) + r.randbytes(96 << 10) + words(300000))\n"
    "put('words', words(2000000))\n"
    "put('empty', b'')\n"
    "put('noise', r.randbytes(300000))\n";

static int make_streams(void **state)
{
	if (!mkdtemp(top))
		return -1;
	run("python3", "-c", script);
	return 0;
}

static int remove_streams(void **state)
{
	return path_remove_tree(top, NULL);
}

static void load(const char *name, struct buf *b)
{
	_free_ char *path = path_join(top, name);
	assert_int_equal(path_read(path, b, NULL), 0);
}

static void test_feed(void **state)
{
	static const char *const names[] = {"plain", "words", "empty", "noise"};
	static const size_t pieces[] = {1 << 20, 4099};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		for (size_t k = 0; k < ARRAY_SIZE(pieces); k++) {
			_cleanup_(buf_done) struct buf plain = BUF_INIT(MAX), raw = BUF_INIT(MAX);
			_cleanup_(buf_done) struct buf out = BUF_INIT(MAX);
			_free_ char *packed = xasprintf("%s.raw", names[i]);
			struct flate *f = flate_new();
			struct err err = {0};
			bool end = false;
			load(names[i], &plain);
			load(packed, &raw);
			for (size_t at = 0; at < raw.len; at += pieces[k]) {
				size_t left = raw.len - at;
				assert_false(end);
				assert_int_equal(
				    flate_feed(f, raw.data + at,
					left < pieces[k] ? left : pieces[k], &out, &end, &err),
				    0);
			}
			flate_free(f);
			assert_true(end);
			assert_int_equal(out.len, plain.len);
			assert_memory_equal(buf_str(&out), buf_str(&plain), plain.len);
		}
}

static void test_feed_refuses(void **state)
{
	struct flate *f = flate_new();
	struct err err = {0};
	_cleanup_(buf_done) struct buf out = BUF_INIT(MAX), raw = BUF_INIT(MAX);
	_cleanup_(buf_done) struct buf small = BUF_INIT(1000);
	bool end;
	assert_int_equal(flate_feed(f, "\xff\xff\xff\xff", 4, &out, &end, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	flate_free(f);
	f = flate_new();
	load("plain.raw", &raw);
	assert_int_equal(flate_feed(f, raw.data, raw.len, &small, &end, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	flate_free(f);
}

/* What is found is a true end of the plain bytes, whatever the cut; `least` bytes are. */
static void check_tail(const char *name, size_t cut, size_t least)
{
	_cleanup_(buf_done) struct buf plain = BUF_INIT(MAX), raw = BUF_INIT(MAX);
	_cleanup_(buf_done) struct buf out = BUF_INIT(MAX);
	_free_ char *packed = xasprintf("%s.raw", name);
	struct err err = {0};
	load(name, &plain);
	load(packed, &raw);
	assert_true(cut <= raw.len);
	assert_int_equal(flate_tail(raw.data + raw.len - cut, cut, &out, &err), 0);
	assert_true(out.len >= least);
	assert_true(out.len <= plain.len);
	assert_memory_equal(buf_str(&out), plain.data + plain.len - out.len, out.len);
}

static void test_tail(void **state)
{
	static const size_t cuts[] = {150000, 190001, 200002, 250003, 300005};
	_cleanup_(buf_done) struct buf raw = BUF_INIT(MAX);
	for (size_t i = 0; i < ARRAY_SIZE(cuts); i++)
		check_tail("plain", cuts[i], i ? 300000 : 0);
	check_tail("words", 100000, 0);
	check_tail("noise", 100000, 0);
	check_tail("plain", 0, 0);
	check_tail("plain", 9, 0);
	load("words.raw", &raw);
	check_tail("words", raw.len, 0);
}

/* A stream whose last bytes are missing, or that others follow, has no certain end. */
static void test_tail_refuses(void **state)
{
	_cleanup_(buf_done) struct buf raw = BUF_INIT(MAX), out = BUF_INIT(MAX);
	struct err err = {0};
	load("plain.raw", &raw);
	assert_int_equal(flate_tail(raw.data + raw.len - 200000, 200000 - 7, &out, &err), 0);
	assert_int_equal(out.len, 0);
	buf_append(&raw, "more", 4);
	assert_int_equal(flate_tail(raw.data + raw.len - 200000, 200000, &out, &err), 0);
	assert_int_equal(out.len, 0);
}

static void test_pack(void **state)
{
	_cleanup_(buf_done) struct buf plain = BUF_INIT(MAX), packed = BUF_INIT(MAX);
	_cleanup_(buf_done) struct buf out = BUF_INIT(MAX), again = BUF_INIT(MAX);
	struct err err = {0};
	load("plain", &plain);
	assert_int_equal(flate_pack(plain.data, plain.len, &packed, &err), 0);
	assert_true(packed.len < plain.len / 2);
	_free_ char *path = path_join(top, "p.gz");
	assert_int_equal(outfile_put(path, 0644, packed.data, packed.len, &err), 0);
	run("sh", "-c", "gzip -dc p.gz | cmp - plain");
	assert_int_equal(flate_unpack(packed.data, packed.len, &out, &err), 0);
	assert_int_equal(out.len, plain.len);
	assert_memory_equal(out.data, plain.data, plain.len);
	assert_int_equal(flate_unpack(packed.data, packed.len - 1, &again, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	packed.data[packed.len / 2] ^= 0x55;
	assert_int_equal(flate_unpack(packed.data, packed.len, &again, &err), -1);
}

/* zlib counts in 32 bits; nothing is read of what would not fit. */
static void test_pack_refuses(void **state)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(SIZE_MAX / 2);
	struct err err = {0};
	assert_int_equal(flate_pack("", UINT32_MAX, &out, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	assert_int_equal(flate_pack("", (size_t)UINT32_MAX + 1, &out, &err), -1);
	assert_int_equal(err.code, ERR_FORMAT);
	assert_int_equal(out.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_feed),
	    cmocka_unit_test(test_feed_refuses), cmocka_unit_test(test_tail),
	    cmocka_unit_test(test_tail_refuses), cmocka_unit_test(test_pack),
	    cmocka_unit_test(test_pack_refuses)};
	return cmocka_run_group_tests(tests, make_streams, remove_streams);
}
