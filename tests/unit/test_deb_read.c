/* deb_read on good packages of every kind; the judges are dpkg-deb, md5sum and sha256sum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/deb.h"
#include "debmake.h"

static char top[] = "/tmp/test_deb_read.XXXXXX";

static char *at(const char *name)
{
	return path_join(top, name);
}

/* What a shell line, run in the test's folder, prints; it must succeed. */
static char *shell(const char *line)
{
	struct buf out = BUF_INIT(1 << 20);
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

static void shell_ok(const char *line)
{
	free(shell(line));
}

static int make_packages(void **state)
{
	if (!mkdtemp(top))
		return -1;
	shell_ok(
	    "umask 022; mkdir -p s/DEBIAN s/usr/lib s/usr/share/empty; "
	    "head -c 200000 /dev/urandom >s/usr/lib/libx.so.1; ln -s libx.so.1 s/usr/lib/libx.so; "
	    "echo text >s/usr/lib/b; ln s/usr/lib/b s/usr/lib/c; : >s/usr/lib/zero; "
	    "mkdir -p s/usr/$(printf %0150d 7); echo deep >s/usr/$(printf %0150d 7)/name; "
	    "(cd s; md5sum usr/lib/b usr/lib/libx.so.1 >DEBIAN/md5sums)");
	_free_ char *control = at("s/DEBIAN/control");
	if (outfile_put(control, 0644, GOOD_CONTROL, strlen(GOOD_CONTROL), NULL) < 0)
		return -1;
	shell_ok(
	    "for z in gzip xz zstd none; do dpkg-deb --root-owner-group -Z$z -b s $z.deb; done;"
	    "dpkg-deb --no-uniform-compression --root-owner-group -Zxz -b s mixed.deb");
	return 0;
}

static int remove_packages(void **state)
{
	return path_remove_tree(top, NULL);
}

static const char *const kinds[] = {"gzip.deb", "xz.deb", "zstd.deb", "none.deb", "mixed.deb"};

static void read_ok(struct arena *a, const char *name, unsigned flags, struct deb_info *info)
{
	_free_ char *path = at(name);
	struct err err = {0};
	if (deb_read(a, path, flags, NULL, NULL, info, &err) < 0)
		fail_msg("%s", err.msg);
}

static void test_kinds(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		struct deb_info info;
		read_ok(&a, kinds[i], DEB_READ_HASHES | DEB_READ_FILES, &info);
		_free_ char *line =
		    xasprintf("sha256sum <%s; sha1sum <%s; md5sum <%s; stat -c %%s %s", kinds[i],
			kinds[i], kinds[i], kinds[i]);
		_free_ char *want = shell(line);
		_free_ char *got = xasprintf("%s  -\n%s  -\n%s  -\n%llu\n", info.sha256, info.sha1,
		    info.md5, (unsigned long long)info.size);
		assert_string_equal(got, want);
		assert_string_equal(info.control_text, GOOD_CONTROL);
		assert_string_equal(stanza_get(&info.control, "package"), "demo");
		assert_int_equal(info.n_members, 3);
		_free_ char *sums = shell("cat s/DEBIAN/md5sums");
		assert_string_equal(info.md5sums, sums);
	}
}

/* The list of files has the names, sizes and digests that tar and md5sum see. */
static void test_files(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		struct deb_info info;
		struct buf got = BUF_INIT(1 << 20);
		read_ok(&a, kinds[i], DEB_READ_FILES, &info);
		for (size_t f = 0; f < info.n_files; f++)
			buf_printf(&got, "%c %03o %s %llu %s\n", info.files[f].type,
			    info.files[f].mode, info.files[f].path,
			    (unsigned long long)info.files[f].size, info.files[f].md5);
		_free_ char *list = at("got");
		assert_int_equal(outfile_put(list, 0644, got.data, got.len, NULL), 0);
		/* dpkg-deb puts links last, so the order is not compared. */
		shell_ok("cd s; find usr | while read -r f; do t=f s= m=; "
			 "[ ! -d $f ] || t=d; [ ! -L $f ] || t=l; [ $f != usr/lib/c ] || t=h; "
			 "[ $t != f ] || { s=$(stat -c %s $f); m=$(md5sum <$f); m=${m%% *}; }; "
			 "echo $t $(stat -c %03a $f) $f ${s:-0} \"$m\"; done | sort >../want; "
			 "sort ../got | diff ../want -");
		buf_done(&got);
	}
}

static void test_links(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct deb_info info;
	read_ok(&a, "xz.deb", DEB_READ_FILES, &info);
	unsigned seen = 0;
	for (size_t i = 0; i < info.n_files; i++) {
		const struct deb_file *f = &info.files[i];
		if (f->type == 'l')
			seen +=
			    !strcmp(f->path, "usr/lib/libx.so") && !strcmp(f->link, "libx.so.1");
		else if (f->type == 'h')
			seen += !strcmp(f->path, "usr/lib/c") && !strcmp(f->link, "usr/lib/b");
		else
			assert_null(f->link);
	}
	assert_int_equal(seen, 2);
}

static void test_unpack(void **state)
{
	_free_ char *deb = at("zstd.deb");
	_free_ char *dir = at("unpacked");
	struct err err = {0};
	if (deb_unpack(deb, dir, &err) < 0)
		fail_msg("%s", err.msg);
	shell_ok("dpkg-deb -x zstd.deb judged; diff -r --no-dereference judged unpacked; "
		 "test $(stat -c %h unpacked/usr/lib/c) = 2");
}

/* Every cut of a package is refused, and nothing crashes on any changed byte. */
static void test_cut_and_changed(void **state)
{
	shell_ok(
	    "rm -f s/usr/lib/libx.so*; sed -i /libx/d s/DEBIAN/md5sums; mkdir cut; "
	    "for z in gzip xz zstd; do dpkg-deb --root-owner-group -Z$z -b s cut/$z.deb; done");
	_free_ char *path = at("cut/now.deb");
	for (size_t k = 0; k < 3; k++) {
		_free_ char *from = path_join(top, "cut");
		_free_ char *deb = path_join(from, kinds[k]);
		_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
		assert_int_equal(path_read(deb, &b, NULL), 0);
		for (size_t n = 0; n < b.len; n++) {
			_cleanup_(arena_done) struct arena a = ARENA_INIT;
			struct deb_info info;
			struct err err = {0};
			FILE *f = fopen(path, "w");
			fwrite(b.data, 1, n, f);
			fclose(f);
			if (deb_read(&a, path, DEB_READ_FILES, NULL, NULL, &info, &err) == 0)
				fail_msg("%s accepted with %zu of %zu bytes", kinds[k], n, b.len);
			assert_int_equal(err.code, ERR_FORMAT);
			b.data[n] ^= 0x55;
			f = fopen(path, "w");
			fwrite(b.data, 1, b.len, f);
			fclose(f);
			int r = deb_read(&a, path, DEB_READ_FILES, NULL, NULL, &info, &err);
			assert_true(r == 0 || err.code == ERR_FORMAT);
			b.data[n] ^= 0x55;
		}
	}
}

static void test_signed(void **state)
{
	_free_ char *deb = at("zstd.deb");
	_free_ char *once = at("once.deb");
	struct err err = {0};
	assert_int_equal(deb_append_member(deb, once, "_gpgorigin", "abc", 3, 1700000000, &err), 0);
	assert_int_equal(
	    deb_append_member(once, once, "_gpgorigin", "defg", 4, 1700000000, &err), 0);
	_free_ char *members =
	    shell("ar t once.deb; ar p once.deb _gpgorigin; dpkg-deb -f once.deb Package");
	assert_string_equal(
	    members, "debian-binary\ncontrol.tar.zst\ndata.tar.zst\n_gpgorigin\ndefgdemo\n");
	shell_ok("cmp -n $(stat -c %s zstd.deb) zstd.deb once.deb; dpkg-deb -c once.deb");
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct deb_info info;
	read_ok(&a, "once.deb", DEB_READ_SIGNED, &info);
	assert_int_equal(info.n_members, 4);
	assert_string_equal(info.members[3].name, "_gpgorigin");
	assert_int_equal(info.members[3].size, 4);
	assert_int_equal(info.members[3].offset + 4, info.size);
	assert_int_equal(deb_read(&a, once, 0, NULL, NULL, &info, &err), -1);
	assert_non_null(strstr(err.msg, "member '_gpgorigin' after data.tar is not expected"));
	assert_int_equal(deb_append_member(deb, once, "a name", "", 0, 0, &err), -1);
}

static int count_bytes(
    void *arg, const struct deb_file *f, const void *p, size_t n, struct err *err)
{
	uint64_t *sum = arg;
	sum[0] += n;
	sum[1] += n == 0;
	if (n == 0)
		assert_int_equal(strlen(f->md5), 32);
	return 0;
}

static int refuse(void *arg, const struct deb_file *f, const void *p, size_t n, struct err *err)
{
	return err_set(err, ERR_TRUST, "not this one");
}

static void test_callback(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *deb = at("gzip.deb");
	struct deb_info info;
	struct err err = {0};
	uint64_t sum[2] = {0, 0};
	assert_int_equal(deb_read(&a, deb, DEB_READ_FILES, count_bytes, sum, &info, &err), 0);
	assert_int_equal(sum[0], 200000 + 5 + 5);
	assert_int_equal(sum[1], 4);
	assert_int_equal(deb_read(&a, deb, DEB_READ_FILES, refuse, NULL, &info, &err), -1);
	assert_int_equal(err.code, ERR_TRUST);
	assert_non_null(strstr(err.msg, "not this one"));
}

static void test_no_file(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct deb_info info;
	struct err err = {0};
	assert_int_equal(deb_read(&a, "/nonexistent/x.deb", 0, NULL, NULL, &info, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(deb_read(&a, top, 0, NULL, NULL, &info, &err), -1);
	assert_non_null(strstr(err.msg, "not a regular file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_kinds),
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_links),
	    cmocka_unit_test(test_unpack),
	    cmocka_unit_test(test_signed),
	    cmocka_unit_test(test_callback),
	    cmocka_unit_test(test_no_file),
	    cmocka_unit_test(test_cut_and_changed),
	};
	return cmocka_run_group_tests(tests, make_packages, remove_packages);
}
