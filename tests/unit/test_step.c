#include "unit.h"

#include "../../debbuild/make/step.h"

#define KEY_A "aa11111111111111111111111111111111111111111111111111111111111111"
#define KEY_B "aa22222222222222222222222222222222222222222222222222222222222222"

/* Runs a shell command as a step in the test's folder; each run that happens adds to "runs". */
static int step(
    struct unit *u, const char *key, const char *out, const char *command, struct step_cost *cost)
{
	const char *text = arena_printf(&u->a, "echo run >>runs; %s", command);
	char *argv[] = {"sh", "-c", (char *)text, NULL};
	_free_ char *cwd = getcwd(NULL, 0);
	assert_int_equal(chdir(u->dir), 0);
	*cost = (struct step_cost){.cpu_s = -1};
	int rc = step_run("cache", key, "a step", out, argv, cost, &u->err);
	assert_int_equal(chdir(cwd), 0);
	return rc;
}

static void must(struct unit *u, const char *key, const char *out, const char *command, bool cached,
    const char *text)
{
	struct step_cost cost;
	if (step(u, key, out, command, &cost) < 0)
		fail_msg("%s", u->err.msg);
	assert_int_equal(cost.cached, cached);
	assert_true(cost.cpu_s >= 0 && cost.max_rss > 0);
	assert_string_equal(unit_read(u, unit_path(u, out)), text);
}

static size_t runs(struct unit *u)
{
	return strlen(unit_read(u, unit_path(u, "runs"))) / strlen("run\n");
}

static void same_key_runs_once(void **state)
{
	struct unit *u = *state;
	must(u, KEY_A, "d/out", "echo one >d/out", false, "one\n");
	must(u, KEY_A, "d/out", "echo two >d/out", true, "one\n");
	must(u, KEY_A, "elsewhere/x.o", "exit 1", true, "one\n");
	assert_int_equal(runs(u), 1);
	/* In another folder with the same cache, as after a change of the work folder. */
	assert_string_equal(unit_sh(u, "stat -c %a d/out; ls -A d"), "644\nout");
}

static void keys_are_kept_apart(void **state)
{
	struct unit *u = *state;
	must(u, KEY_A, "out", "echo a >out", false, "a\n");
	must(u, KEY_B, "out", "echo b >out", false, "b\n");
	must(u, KEY_A, "out", "exit 1", true, "a\n");
	must(u, KEY_B, "out", "exit 1", true, "b\n");
	assert_int_equal(runs(u), 2);
}

static void bad_keys_touch_nothing(void **state)
{
	static const char *const bad[] = {"", "aa", "../../../../../../../../../../../../etc/x",
	    KEY_A "0", "AA11111111111111111111111111111111111111111111111111111111111111"};
	struct unit *u = *state;
	struct step_cost cost;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(step(u, bad[i], "out", "echo a >out", &cost), -1);
		assert_int_equal(u->err.code, ERR_USAGE);
	}
	assert_string_equal(unit_sh(u, "ls -A"), "");
}

/* Whatever is wrong with an entry, the command runs again and mends it. */
static void damaged_entries_are_not_used(void **state)
{
	static const char *const damage[] = {"echo x >>$f", "printf x | dd of=$f conv=notrunc 2>&1",
	    ": >$f", "rm $f", "rm $f.cost", ": >$f.cost", "echo junk >$f.cost",
	    "sed -i /Sha256/d $f.cost", "sed -i s/Max-Rss:.*/Max-Rss:\\ -1/ $f.cost",
	    "head -c 30 $f.cost >t; mv t $f.cost", "rm $f; ln -s nowhere $f",
	    "rm $f; mkdir -p $f/x", "rm $f.cost; mkdir -p $f.cost/x"};
	struct unit *u = *state;
	must(u, KEY_A, "out", "echo good >out", false, "good\n");
	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		unit_sh(u, arena_printf(&u->a, "f=cache/aa/" KEY_A "; %s", damage[i]));
		must(u, KEY_A, "out", "echo good >out", false, "good\n");
		must(u, KEY_A, "out", "exit 1", true, "good\n");
	}
	assert_int_equal(runs(u), 1 + ARRAY_SIZE(damage));
}

static void failing_command_leaves_no_output(void **state)
{
	struct unit *u = *state;
	struct step_cost cost;
	unit_put(u, "out", "of an earlier run");
	assert_int_equal(step(u, KEY_A, "out",
			     "echo half >out; echo a.c:1: error: bad; echo more; exit 2", &cost),
	    -1);
	unit_error(
	    u, ERR_TOOL, "step 'a step' failed: 'sh' ended with status 2: a.c:1: error: bad");
	assert_false(path_exists(unit_path(u, "out")));
	assert_false(path_exists(unit_path(u, "cache")));
	assert_int_equal(step(u, KEY_A, "out", "echo first >&2; echo last >&2; exit 1", &cost), -1);
	unit_error(u, ERR_TOOL, "step 'a step' failed: 'sh' ended with status 1: last");
	assert_int_equal(step(u, KEY_A, "out", "exit 1", &cost), -1);
	unit_error(u, ERR_TOOL, "step 'a step' failed: 'sh' ended with status 1: it said nothing");
	assert_int_equal(step(u, KEY_A, "out", "kill -9 $$", &cost), -1);
	unit_error(u, ERR_TOOL,
	    "step 'a step' failed: 'sh' ended with status 137: it said nothing "
	    "(killed, as when memory runs out: try fewer --jobs)");
	must(u, KEY_A, "out", "echo good >out", false, "good\n");
}

static void command_must_make_its_output(void **state)
{
	struct unit *u = *state;
	struct step_cost cost;
	unit_put(u, "out", "of an earlier run");
	assert_int_equal(step(u, KEY_A, "out", ":", &cost), -1);
	unit_error(u, ERR_TOOL, "step 'a step': 'sh' ended well but made no 'out'");
	assert_false(path_exists(unit_path(u, "out")));
	assert_int_equal(step(u, KEY_A, "out", ": >out", &cost), -1);
	unit_error(u, ERR_TOOL, "step 'a step': 'sh' ended well but made no 'out'");
	assert_false(path_exists(unit_path(u, "out")));
}

static void output_in_the_way(void **state)
{
	struct unit *u = *state;
	struct step_cost cost;
	assert_int_equal(path_mkdirs(unit_path(u, "out"), &u->err), 0);
	assert_int_equal(step(u, KEY_A, "out", ":", &cost), -1);
	unit_error(u, ERR_SYSTEM, "cannot replace 'out': Is a directory");
	unit_put(u, "file", "");
	assert_int_equal(step(u, KEY_A, "file/out", ":", &cost), -1);
	assert_int_equal(u->err.code, ERR_SYSTEM);
}

/* The cache only helps: a step whose output cannot be stored has still succeeded. */
static void cache_that_cannot_be_written(void **state)
{
	struct unit *u = *state;
	unit_put(u, "cache", "no folder");
	must(u, KEY_A, "out", "echo a >out", false, "a\n");
	must(u, KEY_A, "out", "echo b >out", false, "b\n");
}

static void running_step_leaves_its_name(void **state)
{
	struct unit *u = *state;
	struct step_cost cost;
	assert_int_equal(path_mkdirs(unit_path(u, STEP_RUNNING_DIR), &u->err), 0);
	must(u, KEY_A, "out", "ls " STEP_RUNNING_DIR " >out", false, "a step\n");
	assert_int_equal(step(u, KEY_B, "out", "exit 1", &cost), -1);
	assert_string_equal(unit_sh(u, "ls -A " STEP_RUNNING_DIR), "");
}

static void made_by_key_and_bytes(void **state)
{
	struct unit *u = *state;
	assert_false(step_is_made(u->dir, "d/out", KEY_A));
	must(u, KEY_A, "d/out", "echo a >d/out", false, "a\n");
	assert_true(step_is_made(u->dir, "d/out", KEY_A));
	assert_false(step_is_made(u->dir, "d/out", KEY_B));
	assert_false(step_is_made(u->dir, "d/other", KEY_A));
	unit_put(u, "d/out", "b\n");
	assert_false(step_is_made(u->dir, "d/out", KEY_A));
	unit_put(u, "d/out", "a\n");
	assert_true(step_is_made(u->dir, "d/out", KEY_A));
	unlink(unit_path(u, "d/out"));
	assert_false(step_is_made(u->dir, "d/out", KEY_A));
	must(u, KEY_A, "d/out", "exit 1", true, "a\n");
	assert_true(step_is_made(u->dir, "d/out", KEY_A));
	struct step_cost cost;
	assert_int_equal(step(u, KEY_B, "d/out", "exit 1", &cost), -1);
	assert_false(step_is_made(u->dir, "d/out", KEY_A));
}

/* The same words must give the same bytes in any environment. */
static void commands_run_without_hidden_flags(void **state)
{
	static const char *const names[] = {
	    "CPATH", "LIBRARY_PATH", "NVCC_APPEND_FLAGS", "CCC_OVERRIDE_OPTIONS", "LD_RUN_PATH"};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		setenv(names[i], "hidden", 1);
	must(u, KEY_A, "out", "env | grep -c hidden >out; true", false, "0\n");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unsetenv(names[i]);
}

/* Compilers answer in the user's language and note the zone unless told otherwise. */
static void commands_run_without_locale_and_zone(void **state)
{
	struct unit *u = *state;
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	must(u, KEY_A, "out", "echo $LC_ALL $TZ >out", false, "C UTC0\n");
	unsetenv("LC_ALL");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(same_key_runs_once),
	    CASE(keys_are_kept_apart),
	    CASE(bad_keys_touch_nothing),
	    CASE(damaged_entries_are_not_used),
	    CASE(failing_command_leaves_no_output),
	    CASE(command_must_make_its_output),
	    CASE(output_in_the_way),
	    CASE(cache_that_cannot_be_written),
	    CASE(running_step_leaves_its_name),
	    CASE(made_by_key_and_bytes),
	    CASE(commands_run_without_hidden_flags),
	    CASE(commands_run_without_locale_and_zone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
