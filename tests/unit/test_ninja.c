#include "unit.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../../lib/base/digest.h"
#include "../../lib/base/intr.h"
#include "../../debbuild/make/ninja.h"
#include "../../debbuild/make/partial.h"
#include "../../debbuild/plan/plan.h"
#include "../../debbuild/make/step.h"

#define STEPS_MAX 10

/* A plan of shell commands, and what its runs told. */
struct graph {
	struct unit u;
	struct plan plan;
	struct plan_step steps[STEPS_MAX];
	const char *work, *program, *cache, *launcher;
	unsigned calls;
	size_t done, total;
	bool went_back;
	double least_left;
	struct strv shown;
	struct ninja_result res;
};

static int graph_setup(void **state)
{
	struct graph *g = xcalloc(1, sizeof *g);
	void *u;
	if (unit_setup(&u) < 0)
		return -1;
	memcpy(&g->u, u, sizeof g->u);
	free(u);
	g->plan = (struct plan){.steps = g->steps, .jobs = 4, .heavy_jobs = 1};
	g->work = unit_path(&g->u, "work");
	g->cache = unit_path(&g->u, "cache");
	g->program = "/proc/self/exe";
	*state = g;
	return 0;
}

static int graph_teardown(void **state)
{
	struct graph *g = *state;
	struct unit *u = xmalloc(sizeof *u);
	strv_done(&g->shown);
	ninja_result_done(&g->res);
	memcpy(u, &g->u, sizeof *u);
	free(g);
	*state = u;
	return unit_teardown(state);
}

/* Gives a step its command, sh -c TEXT OUT IN..., and the key of that command and of n. */
static void set_command(struct graph *g, size_t n, const char *text)
{
	struct plan_step *s = &g->steps[n];
	size_t n_in = 0;
	while (s->in[n_in])
		n_in++;
	s->argv = arena_alloc(&g->u.a, (n_in + 5) * sizeof *s->argv);
	s->argv[0] = "sh";
	s->argv[1] = "-c";
	s->argv[2] = arena_strdup(&g->u.a, text);
	s->argv[3] = (char *)s->out;
	memcpy(s->argv + 4, s->in, n_in * sizeof *s->in);
	char hex[DIGEST_HEX_MAX];
	const char *id = arena_printf(&g->u.a, "%zu %s", n, text);
	digest_hex(DIGEST_SHA256, id, strlen(id), hex);
	memcpy(s->key, hex, sizeof s->key);
}

/* Adds a step that makes out from in (names, NULL at the end) by that shell command. */
static void add(struct graph *g, const char *name, const char *out, char **in, const char *text)
{
	size_t n = g->plan.n_steps++;
	g->steps[n] = (struct plan_step){.name = name, .out = out, .in = in, .cpu_s = 1};
	set_command(g, n, text);
}

static char *no_input[] = {NULL};

static void on_progress(void *arg, size_t done, size_t total, const char *what, double left_s)
{
	struct graph *g = arg;
	g->calls++;
	g->went_back |= done < g->done;
	g->done = done;
	g->total = total;
	if (left_s < g->least_left)
		g->least_left = left_s;
	strv_add(&g->shown, what);
}

static int run(struct graph *g)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(1 << 20);
	struct ninja_progress progress = {.progress = on_progress, .arg = g};
	struct ninja_launch launch = {.words = g->launcher};
	char self[4096] = "";
	if (str_eq(g->program, "/proc/self/exe")) {
		assert_true(readlink(g->program, self, sizeof self - 1) > 0);
		g->program = arena_strdup(&g->u.a, self);
	}
	ninja_write(&g->plan, g->program, g->cache, &launch, &text);
	assert_false(text.failed);
	FILE *f;
	if (path_mkdirs(g->work, &g->u.err) < 0)
		fail_msg("%s", g->u.err.msg);
	const char *file = arena_printf(&g->u.a, "%s/build.ninja", g->work);
	_cleanup_(buf_done) struct buf old = BUF_INIT(1 << 20);
	if (path_read(file, &old, NULL) < 0 || strcmp(buf_str(&old), buf_str(&text)) != 0) {
		f = fopen(file, "we");
		assert_non_null(f);
		fputs(buf_str(&text), f);
		fclose(f);
	}
	g->calls = 0;
	g->done = g->total = 0;
	g->went_back = false;
	g->least_left = 0;
	strv_done(&g->shown);
	ninja_result_done(&g->res);
	g->res = (struct ninja_result)NINJA_RESULT_INIT;
	if (ninja_run(&g->plan, &launch, g->work, &progress, &g->res, &g->u.err) < 0)
		return -1;
	/* These plans have no binding that could be left out. */
	struct partial partial;
	return g->res.n_undone
		   ? partial_make(&g->u.a, &g->plan, &g->res, NULL, NULL, &partial, &g->u.err)
		   : 0;
}

static void must_run(struct graph *g)
{
	if (run(g) < 0)
		fail_msg("%s", g->u.err.msg);
}

static const char *in_work(struct graph *g, const char *name)
{
	return arena_printf(&g->u.a, "%s/%s", g->work, name);
}

static const char *log_name(struct graph *g)
{
	return in_work(g, "build.log");
}

/* How often commands ran, each of which adds a letter. */
#define COUNT "printf x >>runs; "

static size_t runs(struct graph *g)
{
	return strlen(unit_read(&g->u, in_work(g, "runs")));
}

static void second_run_does_nothing(void **state)
{
	struct graph *g = *state;
	char *ab[] = {"d/a", "d/b", NULL};
	add(g, "make a", "d/a", no_input, COUNT "echo a >$0");
	add(g, "make b", "d/b", no_input, COUNT "echo b >$0");
	add(g, "join", "d/ab", ab, COUNT "cat \"$@\" >$0");
	must_run(g);
	assert_string_equal(unit_read(&g->u, in_work(g, "d/ab")), "a\nb\n");
	assert_int_equal(runs(g), 3);
	assert_true(g->done == 3 && g->total == 3 && !g->went_back && g->least_left == 0);
	assert_true(strv_has(&g->shown, "join"));
	must_run(g);
	assert_int_equal(g->calls, 0);
	assert_int_equal(runs(g), 3);
}

static void changed_command_runs_again(void **state)
{
	struct graph *g = *state;
	char *a[] = {"a", NULL};
	add(g, "make a", "a", no_input, COUNT "echo a >$0");
	add(g, "make b", "b", no_input, COUNT "echo b >$0");
	add(g, "copy a", "c", a, COUNT "cat $1 >$0");
	must_run(g);
	set_command(g, 0, COUNT "echo A >$0");
	set_command(g, 2, COUNT "cat $1 $1 >$0");
	must_run(g);
	assert_int_equal(g->total, 2);
	assert_int_equal(runs(g), 5);
	assert_string_equal(unit_read(&g->u, in_work(g, "c")), "A\nA\n");
	/* A lost work folder comes back from the object cache, and no command runs. */
	assert_int_equal(path_remove_tree(g->work, &g->u.err), 0);
	must_run(g);
	assert_string_equal(unit_read(&g->u, in_work(g, "c")), "A\nA\n");
	assert_false(path_exists(in_work(g, "runs")));
}

/* Names that mean something to sh or ninja, of files, folders, steps and words. */
static void hostile_names_are_only_names(void **state)
{
	static const char *const names[] = {"d/a b", "d/it's", "d/$x", "d/a:b", "d/\"q\"",
	    "d/a;b&c", "d/* `id` \\", "d/$$ #", "é %"};
	struct graph *g = *state;
	char *all[ARRAY_SIZE(names) + 1] = {NULL};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		add(g, names[i], names[i], no_input, "printf '%s\\n' \"$0\" '$HOME' >\"$0\"");
		all[i] = (char *)names[i];
	}
	add(g, "join $x 'y'", "out", all, "cat \"$@\" >\"$0\"; [ $# = 9 ]");
	g->work = unit_path(&g->u, "w o'r$k");
	g->cache = unit_path(&g->u, "c ac'h$e");
	g->program = unit_path(&g->u, "pr o'g$m");
	char self[4096] = "";
	assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
	assert_int_equal(symlink(self, g->program), 0);
	must_run(g);
	_cleanup_(buf_done) struct buf want = BUF_INIT(4096);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		buf_printf(&want, "%s\n$HOME\n", names[i]);
	assert_string_equal(unit_read(&g->u, in_work(g, "out")), buf_str(&want));
	assert_true(strv_has(&g->shown, "join $x 'y'"));
	assert_true(g->least_left == 0);
	must_run(g);
	assert_int_equal(g->calls, 0);
}

static void failing_step_is_one_line(void **state)
{
	struct graph *g = *state;
	char *bad[] = {"bad", NULL};
	add(g, "compile it", "bad", no_input, "echo a.c:7: error: no; echo much more; exit 3");
	add(g, "link it", "late", bad, COUNT "echo late >$0");
	add(g, "other", "other", no_input, COUNT "echo other >$0");
	assert_int_equal(run(g), -1);
	unit_error(&g->u, ERR_TOOL,
	    arena_printf(&g->u.a,
		"step 'compile it' failed: 'sh' ended with status 3: a.c:7: error: no; the whole "
		"text is in '%s'",
		log_name(g)));
	assert_non_null(strstr(unit_read(&g->u, log_name(g)), "much more"));
	assert_int_equal(g->res.n_undone, 2);
	assert_true(g->res.undone[0] && g->res.undone[1] && !g->res.undone[2]);
	assert_int_equal(g->res.reasons.n, 1);
	/* What does not hang on it was made all the same; the next run takes the rest. */
	assert_string_equal(unit_read(&g->u, in_work(g, "other")), "other\n");
	assert_int_equal(runs(g), 1);
	set_command(g, 0, COUNT "echo good >$0");
	must_run(g);
	assert_int_equal(g->total, 2);
	assert_int_equal(runs(g), 3);
}

static void launcher_comes_before_each_command(void **state)
{
	struct graph *g = *state;
	add(g, "make a", "a", no_input, "echo $UNIT_X >$0");
	g->launcher = "env UNIT_X=$PWD";
	must_run(g);
	assert_string_equal(
	    unit_read(&g->u, in_work(g, "a")), arena_printf(&g->u.a, "%s\n", g->work));
	add(g, "make b", "b", no_input, "echo b >$0");
	g->launcher = "./no-such-launcher";
	assert_int_equal(run(g), -1);
	assert_int_equal(g->u.err.code, ERR_TOOL);
	assert_non_null(strstr(g->u.err.msg, "' could not be run: "));
	assert_non_null(strstr(g->u.err.msg, "./no-such-launcher: not found"));
	assert_true(str_ends(
	    g->u.err.msg, arena_printf(&g->u.a, "; the whole text is in '%s'", log_name(g))));
}

/* Ninja goes by times: what a crash or a hand left in an output is found by its bytes. */
static void changed_outputs_are_made_again(void **state)
{
	static const char *const damage[] = {": >a", "echo x >>a", "rm a", "rm a; mkdir -p a/b",
	    "ln -sf /dev/null a", "rm made/a", ": >made/a", "echo Key: no >made/a", "rm -r made",
	    "rm .ninja_log", "head -c 999 /dev/zero >.ninja_log",
	    "sed -i s/^Key.*/Key:\\ 0/ made/a"};
	struct graph *g = *state;
	char *a[] = {"a", NULL};
	add(g, "make a", "a", no_input, "echo a >$0");
	add(g, "copy a", "b", a, "cat $1 >$0");
	must_run(g);
	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		unit_sh(&g->u, arena_printf(&g->u.a, "cd work && %s", damage[i]));
		must_run(g);
		assert_string_equal(unit_read(&g->u, in_work(g, "a")), "a\n");
		assert_string_equal(unit_read(&g->u, in_work(g, "b")), "a\n");
		must_run(g);
		if (g->calls)
			fail_msg("runs again after: %s", damage[i]);
	}
}

/* The text without what tells of pools. */
static char *without_pools(const char *text)
{
	_cleanup_(strv_done) struct strv lines = STRV_INIT, kept = STRV_INIT;
	strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++)
		if (!strstr(lines.v[i], "pool") && !strstr(lines.v[i], "  depth = "))
			strv_add(&kept, lines.v[i]);
	return strv_join(&kept, "\n");
}

/* So a build may go from here to a cluster and back. */
static void cluster_changes_pools_alone(void **state)
{
	struct graph *g = *state;
	struct ninja_launch here = {0}, there = {.jobs = "jobs", .slots = 80, .heavy_slots = 30};
	_cleanup_(buf_done) struct buf a = BUF_INIT(1 << 20), b = BUF_INIT(1 << 20);
	add(g, "device", "a", no_input, "echo a >$0");
	g->steps[0].kind = STEP_CUBIN;
	g->steps[0].heavy = true;
	add(g, "link", "b", no_input, "echo b >$0");
	g->steps[1].kind = STEP_LINK_KERNELS;
	ninja_write(&g->plan, "debkit", "cache", &here, &a);
	ninja_write(&g->plan, "debkit", "cache", &there, &b);
	_free_ char *one = without_pools(buf_str(&a)), *other = without_pools(buf_str(&b));
	assert_string_equal(one, other);
	assert_non_null(strstr(buf_str(&a), "pool heavy\n  depth = 1\n"));
	assert_null(strstr(buf_str(&a), "pool here"));
	assert_non_null(strstr(buf_str(&b),
	    "pool heavy\n  depth = 30\npool jobs\n  depth = 80\npool here\n  depth = 4\n"));
	assert_non_null(strstr(strstr(buf_str(&b), "build a:"), "pool = heavy"));
	const char *link = strstr(buf_str(&b), "build b:");
	assert_non_null(strstr(link, "pool = here"));
	assert_null(strstr(link, "pool = heavy"));

	/* With memory for all, one pool holds every job. */
	buf_truncate(&b, 0);
	there.heavy_slots = 80;
	g->steps[1].kind = STEP_BINDING;
	ninja_write(&g->plan, "debkit", "cache", &there, &b);
	assert_null(strstr(buf_str(&b), "pool = heavy"));
	assert_non_null(strstr(strstr(buf_str(&b), "build a:"), "pool = jobs"));
	assert_non_null(strstr(strstr(buf_str(&b), "build b:"), "pool = jobs"));
}

/* A launcher, or a ninja, that says all is well and does nothing. */
static void a_word_is_not_enough(void **state)
{
	struct graph *g = *state;
	add(g, "make a", "a", no_input, "echo a >$0");
	g->launcher = "true";
	assert_int_equal(run(g), -1);
	unit_error(&g->u, ERR_TOOL,
	    "step 'make a' was not run, though ninja ended well: look at --launcher and at the "
	    "ninja in PATH");
	g->launcher = NULL;
	const char *path = getenv("PATH");
	const char *bin = unit_path(&g->u, "bin");
	unit_put(&g->u, "bin/ninja", "#!/bin/sh\nexit 0\n");
	assert_int_equal(chmod(unit_path(&g->u, "bin/ninja"), 0755), 0);
	path = arena_strdup(&g->u.a, path);
	setenv("PATH", arena_printf(&g->u.a, "%s:%s", bin, path), 1);
	int rc = run(g);
	setenv("PATH", path, 1);
	assert_int_equal(rc, -1);
	assert_int_equal(g->u.err.code, ERR_TOOL);
	err_clear(&g->u.err);
	must_run(g);
	assert_string_equal(unit_read(&g->u, in_work(g, "a")), "a\n");
}

static void what_ended_without_a_word(void **state)
{
	struct graph *g = *state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	/* The shell's parent is the step. */
	add(g, "make a", "a", no_input, "kill -9 $PPID; exec sleep 600");
	assert_int_equal(run(g), -1);
	assert_true(str_starts(g->u.err.msg, "step 'make a' could not be run"));
	set_command(g, 0, "echo $PPID >step; kill -9 $(ps -o ppid= -p $PPID); exec sleep 600");
	assert_int_equal(run(g), -1);
	assert_true(str_starts(g->u.err.msg, "ninja ended with status 137"));
	assert_int_equal(g->u.err.code, ERR_TOOL);
	/* The step ends too. */
	int step = atoi(unit_read(&g->u, in_work(g, "step")));
	for (unsigned i = 0; i < 600 && kill(step, 0) == 0; i++) {
		waitpid(step, NULL, WNOHANG);
		usleep(50000);
	}
	assert_int_not_equal(kill(step, 0), 0);
	set_command(g, 0, "echo a >$0");
	unit_sh(&g->u, "cd work && rm -f .ninja_log && mkdir .ninja_log");
	assert_int_equal(run(g), -1);
	if (!strstr(g->u.err.msg, "Is a directory"))
		fail_msg("%s", g->u.err.msg);
	unit_sh(&g->u, "rmdir work/.ninja_log");
	must_run(g);
}

static void large_steps_share_a_pool(void **state)
{
	struct graph *g = *state;
	for (size_t i = 0; i < 6; i++) {
		const char *out = arena_printf(&g->u.a, "o%zu", i);
		add(g, out, out, no_input, "mkdir one || exit 1; sleep 0.05; rmdir one; echo >$0");
		g->steps[i].heavy = true;
	}
	must_run(g);
	assert_int_equal(g->done, 6);
}

static void input_that_nobody_makes(void **state)
{
	struct graph *g = *state;
	char *in[] = {"nothing", NULL};
	add(g, "make a", "a", in, "echo a >$0");
	assert_int_equal(run(g), -1);
	unit_error(&g->u, ERR_TOOL,
	    "'ninja' failed with status 1: ninja: error: 'nothing', needed by 'a', missing and no "
	    "known rule to make it");
}

/* In a child, which notes signals: a step sends it one; then the same run goes on. */
static void signal_stops_and_the_next_run_goes_on(void **state)
{
	struct graph *g = *state;
	char *a[] = {"a", NULL};
	add(g, "make a", "a", no_input, COUNT "echo a >$0");
	add(g, "wait", "b", a, "");
	pid_t pid = fork();
	if (pid == 0) {
		intr_install();
		set_command(g, 1,
		    arena_printf(&g->u.a, "kill -TERM %d; for i in $(seq 600); do sleep 0.05; done",
			(int)getpid()));
		int rc = run(g);
		_exit(rc < 0 && g->u.err.code == ERR_INTERRUPT && !path_exists(in_work(g, "b")));
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_string_equal(unit_read(&g->u, in_work(g, "a")), "a\n");
	set_command(g, 1, COUNT "echo b >$0");
	must_run(g);
	assert_int_equal(g->total, 1);
	assert_int_equal(runs(g), 2);
}

/* As `debkit step`: --cache C --key K --name N --output O -- COMMAND... */
static int step_main(char **argv)
{
	struct err err = {0};
	struct step_cost cost;
	intr_install();
	proc_end_with_parent();
	if (step_run(argv[3], argv[5], argv[7], argv[9], argv + 11, &cost, &err) == 0)
		return 0;
	fflush(stdout);
	fprintf(stderr, "debkit: error: %s\n", err.msg);
	return 1;
}

#define GRAPH_CASE(fn) cmocka_unit_test_setup_teardown(fn, graph_setup, graph_teardown)

int main(int argc, char **argv)
{
	if (argc > 11 && !strcmp(argv[1], "step"))
		return step_main(argv);
	const struct CMUnitTest tests[] = {
	    GRAPH_CASE(second_run_does_nothing),
	    GRAPH_CASE(changed_command_runs_again),
	    GRAPH_CASE(hostile_names_are_only_names),
	    GRAPH_CASE(failing_step_is_one_line),
	    GRAPH_CASE(launcher_comes_before_each_command),
	    GRAPH_CASE(cluster_changes_pools_alone),
	    GRAPH_CASE(changed_outputs_are_made_again),
	    GRAPH_CASE(a_word_is_not_enough),
	    GRAPH_CASE(what_ended_without_a_word),
	    GRAPH_CASE(large_steps_share_a_pool),
	    GRAPH_CASE(input_that_nobody_makes),
	    GRAPH_CASE(signal_stops_and_the_next_run_goes_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
