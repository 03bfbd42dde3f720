/* deb_write, judged by dpkg-deb and dpkg --unpack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/deb.h"

static char top[] = "/tmp/test_deb_write.XXXXXX";

static char *at(const char *name)
{
	return path_join(top, name);
}

static void put(const char *name, mode_t mode, const void *p, size_t n)
{
	_free_ char *path = at(name);
	struct err err = {0};
	if (path_mkdirs_for(path, &err) < 0 || outfile_put(path, mode, p, n, &err) < 0)
		fail_msg("%s", err.msg);
}

/* The output of a program that must succeed. */
static char *run(const char *const *argv)
{
	struct buf out = BUF_INIT(1 << 20);
	struct proc_result r;
	struct err err = {0};
	struct proc_spec spec = {.argv = (char *const *)argv, .out = &out, .errout = &out};
	if (proc_run(&spec, &r, &err) < 0)
		fail_msg("%s", err.msg);
	if (r.status != 0)
		fail_msg("%s: %s", argv[0], buf_str(&out));
	return buf_take(&out);
}
#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})

static int make_stage(void **state)
{
	if (!mkdtemp(top))
		return -1;
	_free_ char *big = xcalloc(1, 300000);
	_free_ char *link = at("stage/usr/lib/libx.so");
	_free_ char *empty = at("stage/var/lib/demo");
	put("stage/usr/lib/libx.so.1", 0600, big, 300000);
	put("stage/usr/bin/demo", 0700, "#!/bin/sh\n", 10);
	put("stage/etc/demo.conf", 0640, "a=1\n", 4);
	put("stage/usr/share/doc/demo/a-name-of-more-than-one-hundred-characters-which-a-plain-tar-"
	    "header-cannot-hold-and-so-needs-a-second-one",
	    0644, "x", 1);
	assert_int_equal(symlink("libx.so.1", link), 0);
	return path_mkdirs(empty, NULL);
}

static int remove_stage(void **state)
{
	return path_remove_tree(top, NULL);
}

static struct field fields[] = {
    {"Package", "demo", 0},
    {"Version", "1.0-1", 0},
    {"Architecture", "amd64", 0},
    {"Maintainer", "Demo <demo@example.org>", 0},
    {"Description", "demonstration\nlong text", 0},
};
static const struct stanza control = {.fields = fields, .n = ARRAY_SIZE(fields)};

static char *write_deb(const char *name, enum deb_compress compress)
{
	char *path = at(name);
	_free_ char *stage = at("stage");
	struct deb_spec spec = {.control = &control,
	    .stage = stage,
	    .conffiles = "/etc/demo.conf\n",
	    .postinst = "#!/bin/sh\nset -e\n",
	    .mtime = 1700000000,
	    .compress = compress};
	struct err err = {0};
	if (deb_write(&spec, path, &err) < 0)
		fail_msg("%s", err.msg);
	return path;
}

static void test_members(void **state)
{
	_free_ char *deb = write_deb("members.deb", DEB_ZSTD);
	_free_ char *members = RUN("ar", "t", deb);
	assert_string_equal(members, "debian-binary\ncontrol.tar.zst\ndata.tar.zst\n");
	_free_ char *list = RUN("dpkg-deb", "-c", deb);
	static const char *const lines[] = {
	    "drwxr-xr-x root/root         0 2023-11-14 22:13 ./\n",
	    "drwxr-xr-x root/root         0 2023-11-14 22:13 ./etc/\n",
	    "-rw-r--r-- root/root         4 2023-11-14 22:13 ./etc/demo.conf\n",
	    "-rwxr-xr-x root/root        10 2023-11-14 22:13 ./usr/bin/demo\n",
	    "lrwxrwxrwx root/root         0 2023-11-14 22:13 ./usr/lib/libx.so -> libx.so.1\n",
	    "-rw-r--r-- root/root    300000 2023-11-14 22:13 ./usr/lib/libx.so.1\n",
	    "a-plain-tar-header-cannot-hold-and-so-needs-a-second-one\n",
	    "drwxr-xr-x root/root         0 2023-11-14 22:13 ./var/lib/demo/\n",
	};
	const char *from = list;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		from = strstr(from, lines[i]);
		if (!from)
			fail_msg("no line '%s' in order in\n%s", lines[i], list);
	}
}

static void test_control(void **state)
{
	_free_ char *deb = write_deb("control.deb", DEB_ZSTD);
	_free_ char *text = RUN("dpkg-deb", "-f", deb);
	/* 293 + 1 + 1 + 1 for the files, 1 for the link, 11 for the folders */
	assert_string_equal(text, "Package: demo\nVersion: 1.0-1\nArchitecture: amd64\n"
				  "Maintainer: Demo <demo@example.org>\nInstalled-Size: 308\n"
				  "Description: demonstration\n long text\n");
	_free_ char *dir = at("ctl");
	free(RUN("dpkg-deb", "-e", deb, dir));
	_free_ char *sums = at("ctl/md5sums");
	_free_ char *stage = at("stage");
	_free_ char *count = RUN("grep", "-c", ".", sums);
	assert_string_equal(count, "3\n"); /* the conffile is not in it */
	free(RUN("env", "-C", stage, "md5sum", "--strict", "-c", sums));
}

static void test_same_bytes(void **state)
{
	static const enum deb_compress kinds[] = {DEB_ZSTD, DEB_XZ};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_free_ char *one = write_deb("one.deb", kinds[i]);
		mode_t old = umask(077);
		setenv("TZ", "Asia/Tokyo", 1);
		_free_ char *two = write_deb("two.deb", kinds[i]);
		umask(old);
		unsetenv("TZ");
		free(RUN("cmp", one, two));
		_free_ char *mode = RUN("stat", "-c", "%a", two);
		assert_string_equal(mode, "644\n");
	}
}

static void test_unpack(void **state)
{
	_free_ char *deb = write_deb("unpack.deb", DEB_ZSTD);
	_free_ char *root = at("root");
	_free_ char *option = xasprintf("--root=%s", root);
	_free_ char *found = at("root/usr/lib/libx.so");
	_free_ char *stage = at("stage/usr");
	_free_ char *usr = at("root/usr");
	put("root/var/lib/dpkg/status", 0644, "", 0);
	put("root/var/lib/dpkg/info/format", 0644, "1\n", 2);
	put("root/var/lib/dpkg/updates/.keep", 0644, "", 0);
	_free_ char *keep = at("root/var/lib/dpkg/updates/.keep");
	unlink(keep);
	free(RUN("dpkg", option, "--force-not-root", "--force-architecture", "--log=/dev/null",
	    "--unpack", deb));
	free(RUN("diff", "-r", stage, usr));
	assert_true(path_exists(found));
}

static void test_refused(void **state)
{
	struct err err = {0};
	_free_ char *stage = at("odd");
	_free_ char *fifo = at("odd/pipe");
	_free_ char *deb = at("odd.deb");
	assert_int_equal(path_mkdirs(stage, NULL), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	struct deb_spec spec = {.control = &control, .stage = stage};
	assert_int_equal(deb_write(&spec, deb, &err), -1);
	assert_non_null(strstr(err.msg, "odd/pipe' is no file, folder or symbolic link"));
	assert_false(path_exists(deb));
	static struct field no_version[] = {{"Package", "demo", 0}};
	static const struct stanza poor = {.fields = no_version, .n = 1};
	spec.control = &poor;
	assert_int_equal(deb_write(&spec, deb, &err), -1);
	assert_non_null(strstr(err.msg, "the field Version is missing"));
	spec.control = &control;
	spec.stage = "/nonexistent";
	assert_int_equal(deb_write(&spec, deb, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
}

static void test_leaves_nothing(void **state)
{
	_free_ char *deb = at("fault/x.deb");
	_free_ char *dir = at("fault");
	_free_ char *stage = at("stage");
	assert_int_equal(path_mkdirs(dir, NULL), 0);
	struct deb_spec spec = {.control = &control, .stage = stage, .mtime = 1};
	chmod(dir, 0755);
	struct err err = {0};
	assert_int_equal(deb_write(&spec, deb, &err), 0);
	_free_ char *names = RUN("ls", "-A", dir);
	assert_string_equal(names, "x.deb\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_members),
	    cmocka_unit_test(test_control),
	    cmocka_unit_test(test_same_bytes),
	    cmocka_unit_test(test_unpack),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_leaves_nothing),
	};
	return cmocka_run_group_tests(tests, make_stage, remove_stage);
}
