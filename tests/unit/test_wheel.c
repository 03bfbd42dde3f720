#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>

#include "../../lib/base/outfile.h"
#include "../../lib/base/proc.h"
#include "../../debbuild/wheel/pyindex.h"
#include "../../debbuild/wheel/wheel.h"
#include "../../debbuild/wheel/wheel_record.h"
#include "cases.h"
#include "liar.h"

#define HINT "; it is not the wheel that was meant: check the package index"

static struct liar liar;

static bool want_torch(void *arg, const char *member)
{
	return str_starts(member, "torch/include/") || !strcmp(member, "torch/version.py") ||
	       !strcmp(member, "torch/bin/tool");
}

/* Runs a program that must succeed. */
static void run(const char *const *argv)
{
	struct err err = {0};
	if (proc_check(&(struct proc_spec){.argv = (char *const *)argv}, &err) < 0)
		fail_msg("%s", err.msg);
}

static void make_wheel(const char *path)
{
	run((const char *const[]){
	    "sh", "-c", "python3 -B tests/data/wheels.py honest $0 >/dev/null", path, NULL});
}

/* Nothing but the named file may be in the folder of a failed unpacking. */
static void check_clean(const char *dir, const char *but)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	struct err err = {0};
	assert_int_equal(path_list(dir, &names, &err), 0);
	for (size_t i = 0; i < names.n; i++)
		if (!str_eq(names.v[i], but))
			fail_msg("'%s' was left in '%s'", names.v[i], dir);
}

static const char *code_name(enum err_code code)
{
	return code == ERR_NONE	     ? "ok"
	       : code == ERR_TRUST   ? "trust"
	       : code == ERR_FORMAT  ? "format"
	       : code == ERR_NETWORK ? "network"
				     : "other";
}

static void say_tree(const char *dir, struct buf *said)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	struct err err = {0};
	if (path_walk(dir, &names, &err) < 0)
		fail_msg("%s", err.msg);
	_free_ char *all = strv_join(&names, " ");
	buf_puts(said, all);
}

/* Brings the whole file here, for the same cases without a network. */
static void bring(struct index *x, const char *url, const char *path)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 24);
	struct err err = {0};
	uint64_t size;
	if (index_size(x, url, &size, &err) < 0 || index_range(x, url, 0, size, &b, &err) < 0 ||
	    outfile_put(path, 0644, b.data, b.len, &err) < 0)
		fail_msg("%s", err.msg);
}

/* Local: the wheel is a file; else it is read by ranges from the index. */
static int extract(struct index *x, bool local, const char *base, const char *dir, struct err *err)
{
	_free_ char *url = xasprintf("%s/files/" LIAR_WHEEL, base);
	_free_ char *path = path_join(dir, LIAR_WHEEL);
	_free_ char *tree = path_join(dir, "tree");
	struct wheel_pin pin = {
	    .name = LIAR_WHEEL, .path = local ? path : NULL, .url = local ? NULL : url};
	if (local)
		bring(x, url, path);
	return wheel_extract(x, &pin, want_torch, NULL, tree, NULL, err);
}

static void check_case(char *const v[CASE_FIELDS], bool local)
{
	_cleanup_(buf_done) struct buf said = BUF_INIT(1 << 16);
	_free_ char *base = liar_address(&liar, v[0]);
	_free_ char *dir = xasprintf("%s/%u", liar.work, liar.n);
	_free_ char *tree = path_join(dir, "tree");
	struct index *x;
	struct err err = {0};
	assert_int_equal(index_open(base, &x, &err), 0);
	assert_int_equal(path_mkdirs(dir, &err), 0);
	int rc = extract(x, local, base, dir, &err);
	index_close(x);
	if (rc < 0)
		check_clean(dir, LIAR_WHEEL);
	else
		say_tree(tree, &said);
	_free_ char *got = liar_neutral(&liar, base, rc < 0 ? err.msg : buf_str(&said));
	const char *want = v[2];
	char *hint = strstr(got, HINT);
	if (hint && !hint[strlen(HINT)])
		*hint = '\0';
	else if (rc < 0 && err.code != ERR_NETWORK)
		fail_msg("%s: '%s' does not say what to do", v[0], got);
	if (rc < 0 && !str_starts(got, "wheel '" LIAR_WHEEL "': "))
		fail_msg("%s: '%s' does not name the wheel", v[0], got);
	const char *rest = rc < 0 ? got + strlen("wheel '" LIAR_WHEEL "': ") : got;
	if (strcmp(code_name(err.code), v[1]) || !liar_says(rest, want))
		fail_msg("%s%s: got %s '%s', expected %s '%s'", v[0], local ? " (local)" : "",
		    code_name(err.code), rest, v[1], want);
}

static void run_cases(const char *path, bool local, unsigned least)
{
	struct case_file c;
	case_open(&c, path);
	while (case_next(&c))
		check_case(c.v, local);
	assert_true(c.n >= least);
	case_close(&c);
}

static void test_remote(void **state)
{
	run_cases("tests/data/wheel.cases", false, 30);
}

static void test_local(void **state)
{
	run_cases("tests/data/wheel.cases", true, 30);
}

/* Lies of the transport, which a local file cannot tell. */
static void test_transport(void **state)
{
	run_cases("tests/data/wheel-transport.cases", false, 5);
}

/* The same files as Python's zipfile unpacks, and the modes that pip would give them. */
static void test_content(void **state)
{
	static const char *const kinds[] = {"honest", "stored", "zip64", "comment", "descriptor"};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_free_ char *dir = xasprintf("%s/content.%s", liar.work, kinds[i]);
		_free_ char *wheel = path_join(dir, LIAR_WHEEL);
		_free_ char *whole = path_join(dir, "whole/torch/include");
		_free_ char *ours = path_join(dir, "tree/torch/include");
		_free_ char *unpacked = path_join(dir, "whole");
		_free_ char *tool = path_join(dir, "tree/torch/bin/tool");
		_free_ char *header = path_join(dir, "tree/torch/include/a.h");
		_free_ char *base = liar_address(&liar, kinds[i]);
		struct index *x;
		struct stat st;
		struct err err = {0};
		mode_t mask = umask(077);
		assert_int_equal(index_open(base, &x, &err), 0);
		assert_int_equal(path_mkdirs(dir, &err), 0);
		if (extract(x, true, base, dir, &err) < 0)
			fail_msg("%s", err.msg);
		index_close(x);
		umask(mask);
		run((const char *const[]){"python3", "-m", "zipfile", "-e", wheel, unpacked, NULL});
		run((const char *const[]){"diff", "-r", whole, ours, NULL});
		assert_int_equal(stat(tool, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0755);
		assert_int_equal(stat(header, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0644);
	}
}

/* Of a wheel of 1.6 MB only the directory, RECORD and the wanted runs are received. */
static void test_cost(void **state)
{
	_free_ char *base = liar_address(&liar, "honest");
	_free_ char *dir = xasprintf("%s/cost", liar.work);
	struct index *x;
	struct err err = {0};
	unsigned requests;
	uint64_t bytes;
	assert_int_equal(index_open(base, &x, &err), 0);
	assert_int_equal(path_mkdirs(dir, &err), 0);
	if (extract(x, false, base, dir, &err) < 0)
		fail_msg("%s", err.msg);
	index_cost(x, &requests, &bytes);
	index_close(x);
	/* size, end of the file, RECORD, one run with the headers, version.py */
	assert_int_equal(requests, 5);
	assert_in_range(bytes, 90000, 170000);
}

/* The pin of RECORD, and what is reported of it. */
static void test_pin(void **state)
{
	static const char zeros[] =
	    "0000000000000000000000000000000000000000000000000000000000000000";
	_free_ char *path = xasprintf("%s/pin.whl", liar.work);
	_free_ char *dir = xasprintf("%s/pin", liar.work);
	char hex[SHA256_HEX] = "";
	struct err err = {0};
	make_wheel(path);
	struct wheel_pin pin = {.name = LIAR_WHEEL, .path = path};
	assert_int_equal(wheel_record_sha256(NULL, &pin, hex, &err), 0);
	assert_string_equal(hex, liar.record);
	pin.record_sha256 = zeros;
	memset(hex, 0, sizeof hex);
	assert_int_equal(wheel_extract(NULL, &pin, want_torch, NULL, dir, hex, &err), -1);
	assert_string_equal(hex, liar.record);
	assert_int_equal(err.code, ERR_TRUST);
	_free_ char *says =
	    xasprintf("wheel '" LIAR_WHEEL "': its RECORD has SHA-256 %s, expected %s" HINT,
		liar.record, zeros);
	assert_string_equal(err.msg, says);
	assert_false(path_exists(dir));
	pin.record_sha256 = liar.record;
	assert_int_equal(wheel_extract(NULL, &pin, want_torch, NULL, dir, hex, &err), 0);
}

/* An empty folder is filled; one with anything in it, or a file, is left as it is. */
static void test_in_the_way(void **state)
{
	_free_ char *top = xasprintf("%s/way", liar.work);
	_free_ char *path = path_join(top, "w.whl");
	_free_ char *dir = path_join(top, "dir");
	_free_ char *names[] = {path_join(dir, "torch"), path_join(top, "dir")};
	_free_ char *says = xasprintf(
	    "wheel '" LIAR_WHEEL "': '%s' is there already and is no empty folder: move it away",
	    dir);
	struct wheel_pin pin = {.name = LIAR_WHEEL, .path = path};
	struct err err = {0};
	assert_int_equal(path_mkdirs(dir, &err), 0);
	make_wheel(path);
	assert_int_equal(wheel_extract(NULL, &pin, want_torch, NULL, dir, NULL, &err), 0);
	assert_true(path_is_dir(names[0]));
	assert_int_equal(wheel_extract(NULL, &pin, want_torch, NULL, dir, NULL, &err), -1);
	assert_int_equal(err.code, ERR_CONFLICT);
	assert_string_equal(err.msg, says);
	assert_int_equal(path_remove_tree(dir, &err), 0);
	run((const char *const[]){"touch", dir, NULL});
	assert_int_equal(wheel_extract(NULL, &pin, want_torch, NULL, dir, NULL, &err), -1);
	assert_string_equal(err.msg, says);
	free(names[1]);
}

static void test_local_size(void **state)
{
	_free_ char *path = xasprintf("%s/size.whl", liar.work);
	_free_ char *dir = xasprintf("%s/size", liar.work);
	_free_ char *gone = xasprintf("wheel '" LIAR_WHEEL "': cannot read '%s': No such file or "
				      "directory",
	    path);
	struct wheel_pin pin = {.name = LIAR_WHEEL, .path = path, .size = 7};
	struct err err = {0};
	assert_int_equal(wheel_extract(NULL, &pin, want_torch, NULL, dir, NULL, &err), -1);
	assert_string_equal(err.msg, gone);
	assert_int_equal(outfile_put(path, 0644, "PK", 2, &err), 0);
	_free_ char *says =
	    xasprintf("wheel '" LIAR_WHEEL "': '%s' has 2 bytes, expected 7" HINT, path);
	assert_int_equal(wheel_extract(NULL, &pin, want_torch, NULL, dir, NULL, &err), -1);
	assert_string_equal(err.msg, says);
}

static void test_record(void **state)
{
	static const char text[] = "\"a \"\"b\"\", c\",sha256="
				   "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,3\r\n"
				   "z/RECORD,,";
	static const struct {
		const char *text, *says;
	} bad[] = {{"a,b", "RECORD line 1 is not 'path,hash,size'"},
	    {"\na,,,\n", "RECORD line 2 is not 'path,hash,size'"},
	    {"\"a,,\n", "RECORD line 1 is not 'path,hash,size'"},
	    {"\"a\"b,,\n", "RECORD line 1 is not 'path,hash,size'"},
	    {"a,,\nb,sha256=x,1\n", "RECORD line 2: 'sha256=x' is no sha256 in base64url"},
	    {"a,,-1\n", "RECORD line 1: '-1' is no size"},
	    {"a,,\na,,\n", "RECORD names 'a' twice"}};
	_cleanup_(wheel_record_done) struct wheel_record r = WHEEL_RECORD_INIT;
	struct err err = {0};
	assert_int_equal(wheel_record_parse(&r, text, strlen(text), &err), 0);
	assert_int_equal(r.n, 2);
	const struct wheel_entry *e = wheel_record_find(&r, "a \"b\", c");
	assert_non_null(e);
	assert_int_equal(e->size, 3);
	/* SHA-256 of "abc" */
	assert_string_equal(
	    e->sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_string_equal(wheel_record_find(&r, "z/RECORD")->sha256, "");
	assert_null(wheel_record_find(&r, "b"));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(wheel_record_done) struct wheel_record b = WHEEL_RECORD_INIT;
		assert_int_equal(
		    wheel_record_parse(&b, bad[i].text, strlen(bad[i].text), &err), -1);
		assert_int_equal(err.code, ERR_FORMAT);
		assert_string_equal(err.msg, bad[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_remote),
	    cmocka_unit_test(test_local),
	    cmocka_unit_test(test_transport),
	    cmocka_unit_test(test_content),
	    cmocka_unit_test(test_cost),
	    cmocka_unit_test(test_pin),
	    cmocka_unit_test(test_in_the_way),
	    cmocka_unit_test(test_local_size),
	    cmocka_unit_test(test_record),
	};
	liar_start(&liar);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	liar_stop(&liar);
	return failed;
}
