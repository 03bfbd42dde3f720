#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/intr.h"
#include "../../debbuild/wheel/pyindex.h"
#include "cases.h"
#include "liar.h"

#define PLAIN_SIZE   200000
#define PLAIN_SHA256 "2abed8532d85add1b4bc8f69ffc031c7357ed6b69b47c68a7a1e2f7ae8c3f21f"

static struct liar liar;

/* What one operation of the cases file works on. */
struct trial {
	struct index *x;
	struct arena *a;
	const char *base; /* address of the mode */
	const char *arg;  /* rest of the operation's name */
	struct buf *said;
};

static bool is_plain(const char *p, size_t n, size_t offset)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)p[i] != ((i + offset) * 7 & 255))
			return false;
	return true;
}

static void say_cost(struct trial *t, const char *what)
{
	unsigned requests;
	uint64_t bytes;
	index_cost(t->x, &requests, &bytes);
	buf_printf(t->said, "%s, %u requests", what, requests);
}

static void say_file(struct trial *t, const struct index_file *f)
{
	/* Size and hash of a wheel depend on the machine's zlib. */
	buf_printf(t->said, "[%s%s%s %s%s%s]", f->name, f->size ? " sized" : "",
	    strlen(f->sha256) == 64 ? " hashed" : "", f->url, f->yanked ? " yanked" : "",
	    f->has_metadata ? " metadata" : "");
}

static int do_list(struct trial *t, struct err *err)
{
	struct index_files files;
	if (index_list(t->x, t->a, "Torch", &files, err) < 0)
		return -1;
	for (size_t i = 0; i < files.n; i++)
		say_file(t, &files.v[i]);
	return 0;
}

static int do_find(struct trial *t, struct err *err)
{
	struct index_file f;
	if (index_find(t->x, t->a, "torch", t->arg, &f, err) < 0)
		return -1;
	say_file(t, &f);
	return 0;
}

static int do_range(struct trial *t, struct err *err)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	/* The same server under another name is another origin. */
	const char *host = !strcmp(t->arg, "localhost") ? "localhost" : "127.0.0.1";
	_free_ char *url = xasprintf("http://%s%s/files/plain.bin", host, strrchr(t->base, ':'));
	buf_puts(&b, "before");
	if (index_range(t->x, url, 1000, 50000, &b, err) < 0)
		return -1;
	bool right =
	    b.len == 50006 && !memcmp(b.data, "before", 6) && is_plain(b.data + 6, 50000, 1000);
	say_cost(t, right ? "right" : "wrong");
	return 0;
}

static int do_size(struct trial *t, struct err *err)
{
	_free_ char *url = xasprintf("%s/files/plain.bin", t->base);
	uint64_t size = 0;
	if (index_size(t->x, url, &size, err) < 0)
		return -1;
	say_cost(t, size == PLAIN_SIZE ? "right" : "wrong");
	return 0;
}

/* The folder holds the whole right file under its name after success, nothing after failure. */
static void check_folder(const char *dir, const char *path, int rc)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	struct err err = {0};
	if (path_is_dir(dir))
		assert_int_equal(path_list(dir, &names, &err), 0);
	assert_int_equal(names.n, rc == 0 ? 1 : 0);
	if (rc < 0)
		return;
	assert_int_equal(path_read(path, &b, &err), 0);
	assert_int_equal(b.len, PLAIN_SIZE);
	assert_true(is_plain(b.data, b.len, 0));
}

static int do_fetch(struct trial *t, struct err *err)
{
	_free_ char *url = xasprintf("%s/files/plain.bin", t->base);
	_free_ char *dir = xasprintf("%s/fetch.%u", liar.work, liar.n);
	_free_ char *path = path_join(dir, "plain.bin");
	uint64_t size = !strcmp(t->arg, "any-size") ? 0 : PLAIN_SIZE;
	int rc = index_fetch(t->x, url, PLAIN_SHA256, size, path, NULL, NULL, err);
	check_folder(dir, path, rc);
	if (rc == 0)
		say_cost(t, "right");
	return rc;
}

static const char *const codes[] = {[ERR_NONE] = "ok",
    [ERR_SYSTEM] = "system",
    [ERR_USAGE] = "usage",
    [ERR_FORMAT] = "format",
    [ERR_TRUST] = "trust",
    [ERR_NETWORK] = "network",
    [ERR_TOOL] = "tool",
    [ERR_CONFLICT] = "conflict",
    [ERR_INTERRUPT] = "interrupt"};

static int run_case(struct trial *t, const char *op, struct err *err)
{
	static const struct {
		const char *name;
		int (*fn)(struct trial *t, struct err *err);
	} ops[] = {{"list", do_list}, {"find", do_find}, {"range", do_range}, {"size", do_size},
	    {"fetch", do_fetch}};
	size_t n = strcspn(op, " ");
	t->arg = op[n] ? op + n + 1 : "";
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (!strncmp(op, ops[i].name, n))
			return ops[i].fn(t, err);
	fail_msg("no operation '%s'", op);
	return -1;
}

static void check_case(char *const v[CASE_FIELDS])
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf said = BUF_INIT(1 << 16);
	_free_ char *base = liar_address(&liar, v[1]);
	_free_ char *page = str_starts(v[1], "user") ? xasprintf("http://me:p%%40ss@%s/simple/",
							   base + strlen("http://"))
						     : xasprintf("%s/simple", base);
	struct trial t = {.a = &a, .base = base, .said = &said};
	struct err err = {0};
	assert_int_equal(index_open(page, &t.x, &err), 0);
	int rc = run_case(&t, v[0], &err);
	index_close(t.x);
	_free_ char *got = liar_neutral(&liar, base, rc < 0 ? err.msg : buf_str(&said));
	if (strcmp(codes[err.code], v[2]) || !liar_says(got, v[3]))
		fail_msg("%s %s: got %s '%s', expected %s '%s'", v[0], v[1], codes[err.code], got,
		    v[2], v[3]);
}

static void test_cases(void **state)
{
	struct case_file c;
	case_open(&c, "tests/data/index.cases");
	while (case_next(&c))
		check_case(c.v);
	assert_true(c.n >= 40);
	case_close(&c);
}

/* One page and one connection serve all questions about a project. */
static void test_cache(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *base = liar_address(&liar, "honest");
	_free_ char *page = xasprintf("%s/simple/", base);
	struct index *x;
	struct index_files files;
	struct index_file f;
	struct err err = {0};
	unsigned requests;
	uint64_t bytes;
	assert_int_equal(index_open(page, &x, &err), 0);
	index_cost(x, &requests, &bytes);
	assert_int_equal(requests, 0);
	assert_int_equal(index_list(x, &a, "torch", &files, &err), 0);
	assert_int_equal(index_list(x, &a, "TORCH", &files, &err), 0);
	assert_int_equal(index_find(x, &a, "torch", LIAR_WHEEL, &f, &err), 0);
	index_cost(x, &requests, &bytes);
	assert_int_equal(requests, 1);
	index_close(x);
	/* What was listed outlives the connection. */
	assert_string_equal(files.v[3].name, LIAR_WHEEL);
	assert_string_equal(files.v[2].name, "plain.bin");
	assert_int_equal(files.v[2].size, PLAIN_SIZE);
	assert_string_equal(files.v[2].sha256, PLAIN_SHA256);
	assert_string_equal(f.url, files.v[3].url);
}

/* A file that is there and right costs nothing, one that is wrong is fetched again. */
static void test_fetch_again(void **state)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *base = liar_address(&liar, "honest");
	_free_ char *page = xasprintf("%s/simple", base);
	_free_ char *path = xasprintf("%s/again/plain.bin", liar.work);
	struct index *x;
	struct index_file f;
	struct err err = {0};
	unsigned requests;
	uint64_t bytes;
	assert_int_equal(index_open(page, &x, &err), 0);
	assert_int_equal(index_find(x, &a, "torch", "plain.bin", &f, &err), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(
		    index_fetch(x, f.url, f.sha256, f.size, path, NULL, NULL, &err), 0);
		index_cost(x, &requests, &bytes);
		assert_int_equal(requests, i < 2 ? 2 : 3);
		if (i == 1)
			assert_int_equal(truncate(path, 1000), 0);
	}
	index_close(x);
}

static void interrupt(void *arg, uint64_t done, uint64_t total)
{
	raise(SIGINT);
}

/* The server falls silent in mid-body and a signal comes: exit status 0 if all is as it must. */
static int interrupted_child(const char *base)
{
	_free_ char *url = xasprintf("%s/files/plain.bin", base);
	_free_ char *dir = xasprintf("%s/interrupted", liar.work);
	_free_ char *path = path_join(dir, "plain.bin");
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	struct index *x;
	struct err err = {0};
	char sha256[SHA256_HEX] = "";
	intr_install();
	if (index_open(base, &x, &err) < 0)
		return 1;
	int rc = index_fetch(x, url, sha256, PLAIN_SIZE, path, interrupt, NULL, &err);
	index_close(x);
	if (rc == 0 || err.code != ERR_INTERRUPT)
		return 2;
	return path_list(dir, &names, &err) < 0 || names.n ? 3 : 0;
}

static void test_interrupt(void **state)
{
	_free_ char *base = liar_address(&liar, "stall");
	int status;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(interrupted_child(base));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Addresses that are none, and a server that is not there. */
static void test_no_server(void **state)
{
	static const struct {
		const char *url, *says;
		enum err_code code;
	} cases[] = {{"file:///tmp",
			 "package index 'file:///tmp' is no http or https address: set "
			 "PIP_INDEX_URL to one",
			 ERR_USAGE},
	    {"/tmp", "package index '/tmp' is no http or https address: set PIP_INDEX_URL to one",
		ERR_USAGE},
	    {"http://me:secret@127.0.0.1:1/simple",
		"'http://127.0.0.1:1/simple/torch/': Failed to connect to 127.0.0.1 port 1",
		ERR_NETWORK}};
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct index *x;
		struct index_files files;
		struct err err = {0};
		assert_int_equal(index_open(cases[i].url, &x, &err), 0);
		assert_int_equal(index_list(x, &a, "torch", &files, &err), -1);
		assert_int_equal(err.code, cases[i].code);
		assert_true(str_starts(err.msg, cases[i].says));
		index_close(x);
	}
	index_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_cache),
	    cmocka_unit_test(test_fetch_again),
	    cmocka_unit_test(test_interrupt),
	    cmocka_unit_test(test_no_server),
	};
	liar_start(&liar);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	liar_stop(&liar);
	return failed;
}
