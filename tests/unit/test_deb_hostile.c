/* Packages that are wrong in one way each, and the one line that says how. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>
#include <cmocka.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/deb.h"
#include "debmake.h"

static char path[] = "/tmp/test_deb_hostile.XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	return unlink(path);
}

/* Empties deb; the package must be refused with a message that has this in it. */
static void expect(struct buf *deb, const char *what)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct deb_info info;
	struct err err = {0};
	assert_int_equal(outfile_put(path, 0644, buf_str(deb), deb->len, NULL), 0);
	buf_done(deb);
	int r = deb_read(&a, path, DEB_READ_FILES, NULL, NULL, &info, &err);
	if (!what) {
		if (r < 0)
			fail_msg("refused: %s", err.msg);
		return;
	}
	if (r == 0)
		fail_msg("accepted, wanted: %s", what);
	if (err.code != ERR_FORMAT || !strstr(err.msg, what) || !strstr(err.msg, path))
		fail_msg("wanted '%s', got '%s'", what, err.msg);
}

/* Good parts for a case to change. */
struct parts {
	struct buf control, data, deb;
};

static struct parts start(void)
{
	struct parts p = {BUF_INIT(64u << 20), BUF_INIT(64u << 20), BUF_INIT(64u << 20)};
	return p;
}

static void finish(struct parts *p, const char *what)
{
	if (!p->control.len)
		make_control_tar(&p->control, GOOD_CONTROL, strlen(GOOD_CONTROL));
	if (!p->data.len)
		make_data_tar(&p->data);
	if (!p->deb.len)
		make_deb(&p->deb, &p->control, &p->data);
	expect(&p->deb, what);
	buf_done(&p->control);
	buf_done(&p->data);
}

static void test_good(void **state)
{
	struct parts p = start();
	finish(&p, NULL);
}

/* One list of members: name, size field (NULL: right), bytes ("C" and "D" for the good tars). */
struct member {
	const char *name, *size, *bytes;
};

static void expect_members(const struct member *m, const char *what)
{
	struct parts p = start();
	make_control_tar(&p.control, GOOD_CONTROL, strlen(GOOD_CONTROL));
	make_data_tar(&p.data);
	buf_puts(&p.deb, "!<arch>\n");
	for (; m->name; m++) {
		struct buf text = BUF_INIT(64u << 20);
		const struct buf *b = &text;
		if (!strcmp(m->bytes, "C"))
			b = &p.control;
		else if (!strcmp(m->bytes, "D"))
			b = &p.data;
		else
			buf_puts(&text, m->bytes);
		if (m->size) {
			make_ar_header(&p.deb, m->name, m->size);
			buf_append(&p.deb, b->data, b->len);
		} else {
			make_ar(&p.deb, m->name, buf_str(b), b->len);
		}
		buf_done(&text);
	}
	finish(&p, what);
}
#define MEMBERS(...) ((const struct member[]){__VA_ARGS__, {NULL, NULL, NULL}})
#define BINARY                                                                                     \
	{                                                                                          \
		"debian-binary", NULL, "2.0\n"                                                     \
	}
#define CONTROL                                                                                    \
	{                                                                                          \
		"control.tar", NULL, "C"                                                           \
	}
#define DATA                                                                                       \
	{                                                                                          \
		"data.tar", NULL, "D"                                                              \
	}

static void test_members(void **state)
{
	expect_members(MEMBERS(BINARY, CONTROL, DATA), NULL);
	expect_members(MEMBERS({"debian-binary/", NULL, "2.0\n"}, CONTROL, DATA), NULL);
	expect_members(MEMBERS(BINARY, CONTROL), "there is no member data.tar");
	expect_members(MEMBERS(BINARY), "there is no member control.tar");
	expect_members(MEMBERS(CONTROL, DATA), "'control.tar' where debian-binary is expected");
	expect_members(MEMBERS(BINARY, DATA, CONTROL), "'data.tar' where control.tar is expected");
	expect_members(
	    MEMBERS(BINARY, CONTROL, CONTROL, DATA), "'control.tar' where data.tar is expected");
	expect_members(MEMBERS(BINARY, CONTROL, DATA, CONTROL), "'control.tar' after data.tar");
	expect_members(MEMBERS(BINARY, CONTROL, DATA, DATA), "'data.tar' after data.tar");
	expect_members(
	    MEMBERS(BINARY, {"_odd", NULL, "x"}, CONTROL, DATA), "'_odd' where control.tar is");
	expect_members(MEMBERS(BINARY, CONTROL, DATA, {"_gpgorigin", NULL, "x"}), "'_gpgorigin'");
	expect_members(
	    MEMBERS({"debian-binary", NULL, "3.0\n"}, CONTROL, DATA), "format '3.0' is not 2.0");
	expect_members(MEMBERS({"debian-binary", NULL, "2.0"}, CONTROL, DATA), "3 bytes where 4");
	expect_members(MEMBERS({"debian-binary2", NULL, "2.0\n"}, CONTROL, DATA), "binary2' where");
	expect_members(MEMBERS(BINARY, {"control.tar.bz2", NULL, "C"}, DATA), "'.bz2' is not supp");
	expect_members(MEMBERS(BINARY, {"control.tarball", NULL, "C"}, DATA), "'ball' is not supp");
	expect_members(MEMBERS(BINARY, {"control.tar.gz", NULL, "C"}, DATA), "cannot decompress");
	expect_members(MEMBERS(BINARY, {"control.tar.xz", NULL, "C"}, DATA), "cannot decompress");
	expect_members(MEMBERS(BINARY, {"control.tar.zst", NULL, "C"}, DATA), "cannot decompress");
	expect_members(MEMBERS(BINARY, {"control.tar.gz", NULL, ""}, DATA), "cannot decompress");
	expect_members(MEMBERS(BINARY, {"control.tar.xz", NULL, ""}, DATA), "cannot decompress");
	expect_members(MEMBERS(BINARY, {"control.tar.zst", NULL, ""}, DATA), "cannot decompress");
}

static void test_sizes(void **state)
{
	static const char *const bad[] = {
	    "-1", "-999999999", "", "0x10", "1e3", "+4", " 4", "4 4", "99999999a", "4\t"};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		expect_members(MEMBERS(BINARY, {"control.tar", bad[i], "C"}, DATA),
		    "the size of member 'control.tar' is no decimal number");
	}
	expect_members(MEMBERS(BINARY, CONTROL, {"data.tar", "9999999999", "D"}), "data.tar: ");
	expect_members(
	    MEMBERS({"debian-binary", "9999999999", "2.0\n"}), "9999999999 bytes where 4");
}

static void test_archive(void **state)
{
	struct parts p = start();
	buf_puts(&p.deb, "PK\003\004 this is a zip file and no package");
	finish(&p, "no ar archive");
	p = start();
	buf_puts(&p.deb, "!<ar");
	finish(&p, "no ar archive");
	p = start();
	make_start(&p.deb);
	buf_puts(&p.deb, "control.tar");
	finish(&p, "truncated, or bytes after the last member");
	p = start();
	make_start(&p.deb);
	buf_printf(&p.deb, "%-59s\n", "control.tar     1 0 0 100644 1");
	finish(&p, "the header of member 'control.tar' is damaged");
	p = start();
	make_start(&p.deb);
	make_ar(&p.deb, "con\001trol.tar", "", 0);
	finish(&p, "odd characters");
}

/* An extra member that is allowed must be whole too. */
static void test_extra_cut(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct deb_info info;
	struct err err = {0};
	struct parts p = start();
	make_control_tar(&p.control, GOOD_CONTROL, strlen(GOOD_CONTROL));
	make_data_tar(&p.data);
	make_deb(&p.deb, &p.control, &p.data);
	make_ar_header(&p.deb, "_gpgorigin", "9999999999");
	assert_int_equal(outfile_put(path, 0644, p.deb.data, p.deb.len, NULL), 0);
	assert_int_equal(deb_read(&a, path, DEB_READ_SIGNED, NULL, NULL, &info, &err), -1);
	assert_non_null(strstr(err.msg, "truncated: 9999999999 bytes of a member are missing"));
	buf_done(&p.deb);
	buf_done(&p.control);
	buf_done(&p.data);
}

static void expect_control(const char *text, size_t n, const char *what)
{
	struct parts p = start();
	make_control_tar(&p.control, text, n);
	finish(&p, what);
}

static void test_control(void **state)
{
	static const struct {
		const char *more, *what;
	} cases[] = {
	    {"Package: other\n", "control"},
	    {"depends: a\nDepends: b\n", "control"},
	    {"Depends: libc6 (>= \n", "Depends"},
	    {"Depends: libc6 (>> 1 2)\n", "Depends"},
	    {"Depends: ../etc\n", "Depends"},
	    {"Pre-Depends: a, , b (\n", "Pre-Depends"},
	    {"Provides: a b\n", "Provides"},
	    {"Source: ../../etc\n", "Source"},
	    {"Source: a/b\n", "Source"},
	    {"Source: demo (../1)\n", "Source"},
	    {"Source: demo 1\n", "Source: '1' is no version in brackets"},
	    {"Multi-Arch: perhaps\n", "Multi-Arch: 'perhaps'"},
	    {"Essential: 1\n", "Essential: '1'"},
	    {"Status: install ok installed\n", "Status is dpkg's own"},
	    {"no colon here\n", "control"},
	    {"\nPackage: second\n", "control"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		_free_ char *text = xasprintf("%s%s", GOOD_CONTROL, cases[i].more);
		expect_control(text, strlen(text), cases[i].what);
	}
	static const struct {
		const char *text, *what;
	} whole[] = {
	    {"", "control"},
	    {"Package: demo\nVersion: 1\nArchitecture: all\nMaintainer: a\n", "Description is mis"},
	    {"Version: 1\nArchitecture: all\nMaintainer: a\nDescription: d\n", "Package is mis"},
	    {"Package: ../x\nVersion: 1\nArchitecture: all\nMaintainer: a\nDescription: d\n",
		"Package"},
	    {"Package: ab\nVersion: 1/../2\nArchitecture: all\nMaintainer: a\nDescription: d\n",
		"Version"},
	    {"Package: ab\nVersion: 1\nArchitecture: ../x\nMaintainer: a\nDescription: d\n",
		"Architecture"},
	};
	for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
		expect_control(whole[i].text, strlen(whole[i].text), whole[i].what);
	static const char nul[] = GOOD_CONTROL "X-Odd: a\0b\n";
	expect_control(nul, sizeof nul - 1, "control");
}

static void test_control_tar(void **state)
{
	size_t n = strlen(GOOD_CONTROL);
	struct parts p = start();
	make_tar(&p.control, '0', "./control", "", GOOD_CONTROL, n);
	make_tar(&p.control, '0', "control", "", GOOD_CONTROL, n);
	make_tar_end(&p.control);
	finish(&p, "'control' is there twice");
	p = start();
	make_tar(&p.control, '0', "./md5sums", "", "", 0);
	make_tar_end(&p.control);
	finish(&p, "there is no file 'control'");
	p = start();
	make_tar(&p.control, '2', "./control", "/etc/shadow", "", 0);
	make_tar_end(&p.control);
	finish(&p, "'control' is no regular file");
	p = start();
	make_tar(&p.control, '0', "../control", "", GOOD_CONTROL, n);
	make_tar_end(&p.control);
	finish(&p, "unsafe member name '../control'");
}

static void expect_entry(char type, const char *name, const char *link, const char *what)
{
	struct parts p = start();
	make_tar(&p.data, type, name, link, "", 0);
	make_tar_end(&p.data);
	finish(&p, what);
}

static void test_entries(void **state)
{
	expect_entry('0', "./usr/x", "", NULL);
	expect_entry('0', "/usr/x", "", NULL);
	expect_entry('2', "./usr/x", "../../etc", NULL);
	expect_entry('1', "./usr/x", "./usr/y", NULL);
	expect_entry('0', "./../etc/passwd", "", "unsafe member name '../etc/passwd'");
	expect_entry('0', "./usr/../../etc/passwd", "", "unsafe member name");
	expect_entry('0', "usr//x", "", "unsafe member name");
	expect_entry('0', "./usr/a\nb", "", "unsafe member name");
	expect_entry('1', "./usr/x", "../../etc/shadow", "unsafe member name '../../etc/shadow'");
	expect_entry('1', "./usr/x", "", "a link to nothing");
	expect_entry('2', "./usr/x", "", "a link to nothing");
	expect_entry('2', "./", "usr", "the root of the archive is no folder");
	expect_entry('3', "./dev/null", "", "a device or pipe");
	expect_entry('6', "./pipe", "", "a device or pipe");
	expect_entry('x', "./PaxHeader", "", "a pax header");
	expect_entry('g', "./PaxHeader", "", "a pax header");
	expect_entry('S', "./sparse", "", "unknown type 0x53");
	expect_entry('V', "label", "", "unknown type 0x56");
	expect_entry('0', "", "", "a member without a name");
}

static void test_tars(void **state)
{
	struct parts p = start();
	buf_puts(&p.data, "this is no tar");
	finish(&p, "data.tar: truncated: the archive ends without its end mark");
	p = start();
	for (int i = 0; i < 600; i++)
		buf_putc(&p.data, 'a');
	finish(&p, "data.tar: not a tar archive, or a damaged header");
	p = start();
	make_data_tar(&p.data);
	buf_truncate(&p.data, p.data.len - 1024);
	finish(&p, "data.tar: truncated");
	p = start();
	make_data_tar(&p.data);
	buf_puts(&p.data, "hidden");
	finish(&p, "data after the end mark");
	p = start();
	make_data_tar(&p.data);
	p.data.data[600] ^= 1;
	finish(&p, "not a tar archive, or a damaged header");
	static const char *const sizes[] = {"-1", "00000000009",
	    "\200\377\377\377\377\377\377\377\377\377\377\377", "\377", "            "};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		p = start();
		make_tar_header(&p.data, '0', "./x", "", sizes[i]);
		make_tar_end(&p.data);
		finish(&p, "a bad number in the header of './x'");
	}
	p = start();
	make_tar_header(&p.data, '0', "./x", "", "77777777777");
	make_tar_end(&p.data);
	finish(&p, "data.tar: truncated in the middle of a file");
	p = start();
	make_tar_header(&p.data, 'L', "././@LongLink", "", "77777777777");
	make_tar_end(&p.data);
	finish(&p, "a member name of more than");
	p = start();
	make_tar_header(&p.data, '5', "./x", "", "00000001000");
	make_tar_end(&p.data);
	make_tar_end(&p.data);
	finish(&p, "'x' is no file but has contents");
	p = start();
	make_ar(&p.deb, "x", "", 0); /* no magic */
	finish(&p, "no ar archive");
}

/* A gzip stream of zeros, a mebibyte in each of n gzip members. */
static void add_zeros(struct buf *b, unsigned n)
{
	_free_ char *zero = xcalloc(1, 1 << 20);
	char packed[8192];
	z_stream z = {.next_in = (Bytef *)zero, .avail_in = 1 << 20};
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = (Bytef *)packed;
	z.avail_out = sizeof packed;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	for (unsigned i = 0; i < n; i++)
		buf_append(b, packed, sizeof packed - z.avail_out);
	deflateEnd(&z);
}

static void add_gzip(struct buf *b, const struct buf *plain)
{
	uLongf len = compressBound(plain->len) + 32;
	_free_ char *packed = xmalloc(len);
	z_stream z = {.next_in = (Bytef *)plain->data, .avail_in = (uInt)plain->len};
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = (Bytef *)packed;
	z.avail_out = (uInt)len;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	buf_append(b, packed, len - z.avail_out);
	deflateEnd(&z);
}

/* A control file of 1 GiB in a package of 1 MiB is given up at the limit. */
static void test_bombs(void **state)
{
	struct buf head = BUF_INIT(1 << 20), packed = BUF_INIT(64u << 20);
	struct parts p = start();
	make_tar_header(&head, '0', "./control", "", "10000000000");
	add_gzip(&packed, &head);
	add_zeros(&packed, 1024);
	make_start(&p.deb);
	make_ar(&p.deb, "control.tar.gz", packed.data, packed.len);
	finish(&p, "control.tar.gz: unpacks to more than 16777216 bytes");
	buf_truncate(&packed, 0);
	p = start();
	buf_truncate(&head, 0);
	make_tar_header(&head, '0', "./usr/x", "", "00010000000");
	add_gzip(&packed, &head);
	add_zeros(&packed, 2);
	make_control_tar(&p.control, GOOD_CONTROL, strlen(GOOD_CONTROL));
	make_start(&p.deb);
	make_ar(&p.deb, "control.tar", p.control.data, p.control.len);
	make_ar(&p.deb, "data.tar.gz", packed.data, packed.len - 1);
	finish(&p, "data.tar.gz: cannot decompress: truncated gzip data");
	buf_done(&head);
	buf_done(&packed);
}

/* dpkg checks the CRC of a gzip stream, and so must we. */
static void test_gzip_crc(void **state)
{
	for (int wrong = 0; wrong < 2; wrong++) {
		struct buf packed = BUF_INIT(1 << 20);
		struct parts p = start();
		make_data_tar(&p.data);
		make_control_tar(&p.control, GOOD_CONTROL, strlen(GOOD_CONTROL));
		add_gzip(&packed, &p.data);
		packed.data[packed.len - 8] ^= (char)wrong;
		make_start(&p.deb);
		make_ar(&p.deb, "control.tar", p.control.data, p.control.len);
		make_ar(&p.deb, "data.tar.gz", packed.data, packed.len);
		finish(&p, wrong ? "data.tar.gz: cannot decompress: incorrect data check" : NULL);
		buf_done(&packed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good),
	    cmocka_unit_test(test_members),
	    cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_extra_cut),
	    cmocka_unit_test(test_archive),
	    cmocka_unit_test(test_control),
	    cmocka_unit_test(test_control_tar),
	    cmocka_unit_test(test_entries),
	    cmocka_unit_test(test_tars),
	    cmocka_unit_test(test_bombs),
	    cmocka_unit_test(test_gzip_crc),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
