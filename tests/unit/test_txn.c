#include "unit.h"

#include <sys/wait.h>

#include "../../lib/base/txn.h"

/*
 * The published names, by phase; publish() gives each of them its new text and removes "stale".
 */
static const struct {
	unsigned phase;
	const char *name;
} files[] = {{0, "pool/a/a_1.deb"}, {0, "pool/b/b_1.deb"}, {1, "dists/s/Packages"},
    {1, "dists/s/by-hash/x"}, {2, "dists/s/InRelease"}};

static int publish(const char *root, const char *text, struct err *err)
{
	struct txn *t = txn_new(root);
	int rc = 0;
	for (size_t i = 0; i < ARRAY_SIZE(files) && rc == 0; i++)
		rc = i == 1 ? txn_copy(t, files[i].phase, files[i].name, text, err)
			    : txn_put(t, files[i].phase, files[i].name, text, strlen(text), err);
	txn_remove(t, "stale");
	if (rc == 0)
		rc = txn_commit(t, err);
	txn_free(t);
	return rc;
}

/* The text of a published name; NULL if there is none. The copied one holds the file "new". */
static const char *text_of(struct unit *u, const char *root, size_t i)
{
	const char *path = arena_printf(&u->a, "%s/%s", root, files[i].name);
	return path_exists(path) ? unit_read(u, path) : NULL;
}

static const char *entries(struct unit *u, const char *dir)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	if (path_walk(dir, &v, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	_free_ char *all = strv_join(&v, " ");
	return arena_strdup(&u->a, all);
}

/*
 * Publishes text, the name of a file that holds its own name, in a child under a fault. Returns
 * its status: 0, 1 after an error of the system, whose text is in the file "said", 128 + signal.
 * The fault counter begins with the process, so this one must not have used a transaction yet.
 */
static int run_child(struct unit *u, const char *fault, const char *text)
{
	int status;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct err err = {0};
		setenv("DEBKIT_FAULT", fault, 1);
		int rc = chdir(u->dir) == 0 ? publish("r", text, &err) : 77;
		unit_put(u, "said", err.msg);
		_exit(rc < 0 ? (err.code == ERR_SYSTEM ? 1 : 4) : rc);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A repository as an earlier run leaves it, with "stale" in it. */
static void start_over(struct unit *u)
{
	struct err err = {0};
	assert_int_equal(path_remove_tree(unit_path(u, "r"), &err), 0);
	unit_put(u, "new", "new");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		unit_put(u, arena_printf(&u->a, "r/%s", files[i].name), "old");
	unit_put(u, "r/stale", "");
}

/* Each name is whole, and none of a later phase is new while one of an earlier phase is old. */
static void check_consistent(struct unit *u, const char *when)
{
	unsigned oldest = 99, newest = 0;
	bool some_new = false;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const char *text = text_of(u, unit_path(u, "r"), i);
		if (!text || (!str_eq(text, "old") && !str_eq(text, "new")))
			fail_msg("%s: '%s' holds '%s'", when, files[i].name, text ? text : "");
		if (str_eq(text, "old") && files[i].phase < oldest)
			oldest = files[i].phase;
		if (str_eq(text, "new") && files[i].phase >= newest) {
			newest = files[i].phase;
			some_new = true;
		}
	}
	if (some_new && newest > oldest)
		fail_msg("%s: phase %u is new while phase %u is old", when, newest, oldest);
	if (!path_exists(unit_path(u, "r/stale")) && oldest != 99)
		fail_msg("%s: 'stale' is gone before all is new", when);
}

static void check_all_new(struct unit *u)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		assert_string_equal(text_of(u, unit_path(u, "r"), i), "new");
	assert_string_equal(entries(u, unit_path(u, "r")),
	    "dists/s/InRelease dists/s/Packages dists/s/by-hash/x pool/a/a_1.deb pool/b/b_1.deb");
}

/* After any fault a sweep and the same run again give what a run without it gives. */
static void recover(struct unit *u)
{
	struct err err = {0};
	if (txn_sweep(unit_path(u, "r"), &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(run_child(u, "0", "new"), 0);
	check_all_new(u);
}

/* Faults at each call in turn, until a run needs fewer; returns how many there are. */
static unsigned try_each(struct unit *u, const char *how, int status)
{
	for (unsigned n = 1;; n++) {
		const char *fault = arena_printf(&u->a, "%u:%s", n, how);
		start_over(u);
		int rc = run_child(u, fault, "new");
		check_consistent(u, fault);
		if (rc == 0) {
			check_all_new(u);
			return n - 1;
		}
		if (rc != status)
			fail_msg("%s: the run ended with status %d", fault, rc);
		if (status == 1 && strstr(entries(u, unit_path(u, "r")), ".debkit-txn-"))
			fail_msg("%s: staged files are left behind", fault);
		recover(u);
	}
}

/* 5 files opened and written, made durable and renamed, 1 staging folder, 1 file removed. */
#define LEAST_CALLS 22

static void kill_at_any_call_leaves_old_or_new(void **state)
{
	assert_true(try_each(*state, "kill", 128 + 9) >= LEAST_CALLS);
}

static void full_disk_at_any_call_leaves_old_or_new(void **state)
{
	assert_true(try_each(*state, "ENOSPC", 1) >= LEAST_CALLS);
}

static void fault_is_reported_with_its_reason(void **state)
{
	struct unit *u = *state;
	unit_put(u, "new", "new");
	assert_int_equal(run_child(u, "3:ENOSPC", "new"), 1);
	assert_string_equal(unit_read(u, unit_path(u, "said")),
	    "cannot write 'pool/a/a_1.deb': No space left on device");
	assert_int_equal(run_child(u, "3:EIO", "new"), 1);
	assert_string_equal(unit_read(u, unit_path(u, "said")),
	    "cannot write 'pool/a/a_1.deb': Input/output error");
	assert_string_equal(entries(u, unit_path(u, "r")), "");
}

static void names_stay_inside_the_root(void **state)
{
	static const char *const bad[] = {"../x", "/x", "a/../../x", "", "a//b", "a\nb"};
	struct unit *u = *state;
	const char *root = unit_path(u, "r"), *victim = unit_put(u, "x", "kept");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct txn *t = txn_new(root);
		assert_int_equal(txn_put(t, 0, bad[i], "x", 1, &u->err), -1);
		assert_int_equal(u->err.code, ERR_FORMAT);
		assert_int_equal(txn_copy(t, 0, bad[i], victim, &u->err), -1);
		txn_free(t);
		t = txn_new(root);
		assert_int_equal(txn_put(t, 0, "good", "x", 1, &u->err), 0);
		txn_remove(t, bad[i]);
		assert_int_equal(txn_commit(t, &u->err), -1);
		assert_int_equal(u->err.code, ERR_FORMAT);
		txn_free(t);
	}
	assert_string_equal(unit_read(u, victim), "kept");
	assert_string_equal(entries(u, root), "");
}

static void uncommitted_changes_leave_nothing(void **state)
{
	struct unit *u = *state;
	const char *root = unit_path(u, "r");
	struct txn *t = txn_new(root);
	assert_int_equal(txn_put(t, 0, "a/b", "x", 1, &u->err), 0);
	assert_int_equal(txn_copy(t, 0, "c", unit_path(u, "none"), &u->err), -1);
	unit_error(u, ERR_SYSTEM,
	    arena_printf(&u->a, "cannot read '%s/none': No such file or directory", u->dir));
	txn_free(t);
	txn_free(NULL);
	assert_string_equal(entries(u, root), "");
	t = txn_new(unit_path(u, "never"));
	assert_int_equal(txn_commit(t, &u->err), 0);
	txn_free(t);
	assert_false(path_exists(unit_path(u, "never")));
}

/* More files than are made durable one by one, in folders of their own; a copy of many blocks. */
static void many_files_and_large_ones(void **state)
{
	struct unit *u = *state;
	const char *root = unit_path(u, "r");
	char *text = xmalloc(300001);
	memset(text, 'y', 300000);
	text[300000] = '\0';
	const char *large = unit_put(u, "large", text);
	free(text);
	struct txn *t = txn_new(root);
	mode_t old = umask(0077);
	for (int i = 0; i < 40; i++) {
		const char *name = arena_printf(&u->a, "d%d/f", i), *body = name;
		assert_int_equal(txn_put(t, 0, name, body, strlen(body), &u->err), 0);
	}
	assert_int_equal(txn_copy(t, 7, "large", large, &u->err), 0);
	assert_int_equal(txn_commit(t, &u->err), 0);
	umask(old);
	txn_free(t);
	assert_string_equal(unit_read(u, unit_path(u, "r/d39/f")), "d39/f");
	assert_string_equal(
	    unit_sh(u, "cmp large r/large && stat -c %a r/large r/d0/f r/d0"), "644\n644\n755");
}

static void sweep_takes_only_its_own(void **state)
{
	struct unit *u = *state;
	const char *root = unit_path(u, "r");
	assert_int_equal(txn_sweep(root, &u->err), 0);
	unit_put(u, "r/.debkit-txn-abc/0", "");
	unit_put(u, "r/.debkit/state", "");
	unit_put(u, "r/pool/.debkit-txn-abc", "");
	assert_int_equal(txn_sweep(root, &u->err), 0);
	assert_string_equal(entries(u, root), ".debkit/state pool/.debkit-txn-abc");
}

#define TXN_CASE(fn) cmocka_unit_test_setup_teardown(fn, unit_setup_memory, unit_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    /* These first: see run_child. */
	    TXN_CASE(kill_at_any_call_leaves_old_or_new),
	    TXN_CASE(full_disk_at_any_call_leaves_old_or_new),
	    TXN_CASE(fault_is_reported_with_its_reason),
	    TXN_CASE(names_stay_inside_the_root),
	    TXN_CASE(uncommitted_changes_leave_nothing),
	    TXN_CASE(many_files_and_large_ones),
	    TXN_CASE(sweep_takes_only_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
