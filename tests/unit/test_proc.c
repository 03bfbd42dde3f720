#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../../lib/base/intr.h"

/* argv of a shell that runs text. */
#define SH(text)                                                                                   \
	(char *[])                                                                                 \
	{                                                                                          \
		"sh", "-c", (char *)(text), NULL                                                   \
	}

static struct proc_result run(struct unit *u, const struct proc_spec *spec)
{
	struct proc_result r = {0};
	if (proc_run(spec, &r, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	return r;
}

static void status_is_that_of_the_program(void **state)
{
	struct unit *u = *state;
	assert_int_equal(run(u, &(struct proc_spec){.argv = SH("exit 0")}).status, 0);
	assert_int_equal(run(u, &(struct proc_spec){.argv = SH("exit 41")}).status, 41);
	assert_int_equal(run(u, &(struct proc_spec){.argv = SH("kill -9 $$")}).status, 137);
	struct proc_result r = run(u, &(struct proc_spec){.argv = SH("kill -SEGV $$")});
	assert_int_equal(r.status, 139);
	assert_true(r.cpu_s >= 0 && r.max_rss > 0);
}

static void output_is_collected_apart_or_together(void **state)
{
	static const char text[] = "echo a; echo b >&2; echo c; printf d";
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(64), errout = BUF_INIT(64),
				       both = BUF_INIT(64);
	run(u, &(struct proc_spec){.argv = SH(text), .out = &out, .errout = &errout});
	assert_string_equal(buf_str(&out), "a\nc\nd");
	assert_string_equal(buf_str(&errout), "b\n");
	run(u, &(struct proc_spec){.argv = SH(text), .out = &both, .errout = &both});
	assert_string_equal(buf_str(&both), "a\nb\nc\nd");
}

static void output_may_go_to_standard_error(void **state)
{
	struct unit *u = *state;
	int saved = dup(2), fd = open(unit_path(u, "f"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(saved >= 0 && fd >= 0 && dup2(fd, 2) == 2);
	struct proc_result r = {0};
	int rc = proc_run(
	    &(struct proc_spec){.argv = SH("echo a; echo b >&2"), .out_to_stderr = true}, &r, NULL);
	dup2(saved, 2);
	close(saved);
	close(fd);
	assert_int_equal(rc, 0);
	assert_string_equal(unit_read(u, unit_path(u, "f")), "a\nb\n");
}

/* More than a pipe holds, both ways at once: a program that is fed must also be drained. */
static void large_input_comes_back_whole(void **state)
{
	struct unit *u = *state;
	size_t n = 3 << 20;
	_free_ char *in = xmalloc(n);
	for (size_t i = 0; i < n; i++)
		in[i] = (char)(i * i >> 7);
	_cleanup_(buf_done) struct buf out = BUF_INIT(n);
	char *argv[] = {"cat", NULL};
	struct proc_spec spec = {.argv = argv, .in = in, .in_len = n, .out = &out};
	assert_int_equal(run(u, &spec).status, 0);
	assert_int_equal(out.len, n);
	assert_memory_equal(out.data, in, n);
}

/* One that reads a line, writes much for it, and only then reads on: c++filt does. */
static void little_reading_and_much_writing_does_not_hang(void **state)
{
	struct unit *u = *state;
	size_t n = 1 << 20;
	_free_ char *in = xmalloc(n);
	memset(in, 'x', n);
	_cleanup_(buf_done) struct buf out = BUF_INIT(4 << 20);
	struct proc_spec spec = {.argv = SH("dd bs=20000 count=1 iflag=fullblock 2>/dev/null; head "
					    "-c 500000 /dev/zero; cat >/dev/null"),
	    .in = in,
	    .in_len = n,
	    .out = &out,
	    .timeout_s = 60};
	assert_int_equal(run(u, &spec).status, 0);
	assert_int_equal(out.len, 520000);
}

static void input_may_be_empty_or_unread(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(64), none = BUF_INIT(64);
	char *argv[] = {"cat", NULL};
	run(u, &(struct proc_spec){.argv = argv, .in = "", .in_len = 0, .out = &out});
	run(u, &(struct proc_spec){.argv = argv, .out = &none});
	assert_int_equal(out.len + none.len, 0);
	_free_ char *in = xcalloc(1 << 20, 1);
	struct proc_spec deaf = {.argv = SH("exit 3"), .in = in, .in_len = 1 << 20};
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(run(u, &deaf).status, 3);
	signal(SIGPIPE, SIG_DFL);
}

static void add_line(void *arg, const char *line)
{
	strv_add(arg, line);
}

static void lines_come_one_by_one(void **state)
{
	struct unit *u = *state;
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	struct proc_spec spec = {
	    .argv = SH("printf 'a\\n\\nb'; printf 'c\\nlast'"), .line = add_line, .arg = &v};
	run(u, &spec);
	_free_ char *all = strv_join(&v, "|");
	assert_string_equal(all, "a||bc|last");
}

/* A line without an end must not fill the memory. */
static void endless_line_comes_in_pieces(void **state)
{
	struct unit *u = *state;
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	struct proc_spec spec = {.argv = SH("head -c 1000000 /dev/zero | tr '\\0' x; echo; echo y"),
	    .line = add_line,
	    .arg = &v};
	run(u, &spec);
	size_t sum = 0;
	for (size_t i = 0; i + 1 < v.n; i++)
		sum += strlen(v.v[i]);
	assert_int_equal(sum, 1000000);
	assert_true(v.n > 2);
	assert_string_equal(v.v[v.n - 1], "y");
}

static void folder_and_environment_are_set(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(256);
	char *env[] = {"UNIT_A=x y", "UNIT_B", NULL};
	setenv("UNIT_B", "gone", 1);
	setenv("UNIT_C", "kept", 1);
	struct proc_spec spec = {.argv = SH("pwd; echo \"$UNIT_A ${UNIT_B-unset} $UNIT_C\""),
	    .dir = u->dir,
	    .env = env,
	    .out = &out};
	run(u, &spec);
	assert_string_equal(buf_str(&out), arena_printf(&u->a, "%s\nx y unset kept\n", u->dir));
	assert_null(getenv("UNIT_A"));
	assert_non_null(getenv("UNIT_B"));
}

/* argv goes to the program as it is: no shell reads it. */
static void words_are_not_read_by_a_shell(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(256);
	char *argv[] = {"printf", "%s|", "$HOME", "`id`", "a b", "", "'\"\\\n*", NULL};
	assert_int_equal(proc_capture(argv, &out, &u->err), 0);
	assert_string_equal(buf_str(&out), "$HOME|`id`|a b||'\"\\\n*|");
}

/* Beyond the standard three, a program has what was open here for it before, and no more. */
static void no_descriptor_leaks(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(256), errout = BUF_INIT(256),
				       want = BUF_INIT(256);
	for (int fd = 3; fd < 60; fd++)
		if (fcntl(fd, F_GETFD) == 0)
			buf_printf(&want, "%d\n", fd);
	const char *text = "for i in $(seq 3 59); do [ -e /proc/$$/fd/$i ] && echo $i; done; :";
	struct proc_spec spec = {.argv = SH(text), .out = &out, .errout = &errout};
	run(u, &spec);
	assert_string_equal(buf_str(&out), buf_str(&want));
}

static void what_cannot_start_is_a_tool_error(void **state)
{
	struct unit *u = *state;
	struct proc_result r;
	char *none[] = {"no-such-program", NULL};
	assert_int_equal(proc_run(&(struct proc_spec){.argv = none}, &r, &u->err), -1);
	unit_error(u, ERR_TOOL, "program 'no-such-program' not found in PATH");
	const char *path = unit_put(u, "tool", "no program\n");
	chmod(path, 0755);
	char *tool[] = {(char *)path, NULL};
	assert_int_equal(proc_run(&(struct proc_spec){.argv = tool}, &r, &u->err), -1);
	unit_error(u, ERR_TOOL, arena_printf(&u->a, "cannot start '%s': Exec format error", path));
	struct proc_spec lost = {.argv = SH("exit 0"), .dir = unit_path(u, "none")};
	assert_int_equal(proc_run(&lost, &r, &u->err), -1);
	assert_int_equal(u->err.code, ERR_TOOL);
	assert_true(str_ends(u->err.msg, ": No such file or directory"));
	assert_int_equal(proc_run(&lost, &r, NULL), -1);
}

static void check_quotes_the_last_line(void **state)
{
	struct unit *u = *state;
	struct proc_spec spec = {.argv = SH("echo first >&2; echo ' why ' >&2; echo >&2; exit 5")};
	assert_int_equal(proc_check(&spec, &u->err), -1);
	unit_error(u, ERR_TOOL, "'sh' failed with status 5:  why");
	spec.argv = SH("exit 1");
	assert_int_equal(proc_check(&spec, &u->err), -1);
	unit_error(u, ERR_TOOL, "'sh' failed with status 1: it said nothing");
	spec.argv = SH("echo noise >&2");
	assert_int_equal(proc_check(&spec, &u->err), 0);
}

static void capture_refuses_what_does_not_fit(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(10);
	assert_int_equal(proc_capture(SH("echo 12345"), &out, &u->err), 0);
	assert_string_equal(buf_str(&out), "12345\n");
	assert_int_equal(proc_capture(SH("echo 67890"), &out, &u->err), -1);
	unit_error(u, ERR_FORMAT, "what 'sh' wrote is larger than 10 bytes");
}

static void touch(void *arg)
{
	FILE *f = fopen(arg, "we");
	if (f)
		fclose(f);
}

/* The program ends by what the tick does, though no pipe leads to it. */
static void ticks_come_while_it_runs(void **state)
{
	struct unit *u = *state;
	struct proc_spec spec = {.argv = SH("for i in $(seq 600); do [ -e mark ] && exit 7; "
					    "sleep 0.05; done"),
	    .dir = u->dir,
	    .tick = touch,
	    .arg = (void *)unit_path(u, "mark")};
	assert_int_equal(run(u, &spec).status, 7);
}

/* In a child, which notes signals from then on: its status is 1 if the program saw SIGINT. */
static int interrupted(struct unit *u, bool piped)
{
	pid_t pid = fork();
	if (pid == 0) {
		_cleanup_(buf_done) struct buf out = BUF_INIT(64);
		struct proc_result r = {0};
		struct err err = {0};
		const char *text = arena_printf(&u->a,
		    "trap 'exit 9' INT; kill -TERM %d; for i in $(seq 600); do sleep 0.05; done",
		    (int)getpid());
		struct proc_spec spec = {.argv = SH(text), .out = piped ? &out : NULL};
		intr_install();
		bool before = intr_pending();
		int rc = proc_run(&spec, &r, &err);
		bool noted = intr_pending() && intr_check(&err) < 0 && err.code == ERR_INTERRUPT;
		_exit(!before && rc == 0 && r.status == 9 && noted);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void signal_is_passed_on(void **state)
{
	assert_int_equal(interrupted(*state, true), 1);
	assert_int_equal(interrupted(*state, false), 1);
}

/* What hangs is killed, and what it started, which holds the pipe open. */
static void what_hangs_is_killed(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(64);
	struct proc_result r;
	struct proc_spec spec = {
	    .argv = SH("trap '' INT TERM; sleep 600; echo no"), .out = &out, .timeout_s = 1};
	assert_int_equal(proc_run(&spec, &r, &u->err), -1);
	assert_int_equal(u->err.code, ERR_TOOL);
	assert_true(str_ends(u->err.msg, "sh' did not end within 1 seconds: it hangs"));
	err_clear(&u->err);
	spec.argv = SH("echo yes");
	assert_int_equal(run(u, &spec).status, 0);
	assert_string_equal(buf_str(&out), "yes\n");
}

static void stop_at_once(void *arg)
{
	*(bool *)arg = true;
}

/* A tick may end it, as a signal would. */
static void what_is_to_stop_stops(void **state)
{
	struct unit *u = *state;
	bool stop = false;
	struct proc_spec spec = {.argv = SH("sleep 600"),
	    .tick = stop_at_once,
	    .arg = &stop,
	    .stop = &stop,
	    .group = true};
	assert_int_equal(run(u, &spec).status, 128 + SIGINT);
}

/* What the program left running holds its output open, which nobody waits for. */
static void end_is_that_of_the_program(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf out = BUF_INIT(1 << 20);
	struct proc_spec spec = {
	    .argv = SH("head -c 300000 /dev/zero | tr '\\0' x; sleep 600 & echo $! >pid; exit 3"),
	    .dir = u->dir,
	    .out = &out};
	assert_int_equal(run(u, &spec).status, 3);
	assert_int_equal(out.len, 300000);
	kill((pid_t)atoi(unit_read(u, unit_path(u, "pid"))), SIGKILL);
}

/* In a child: what came ignored, as from nohup(1), stays so. */
static void ignored_signals_stay_ignored(void **state)
{
	pid_t pid = fork();
	int status = 0;
	if (pid == 0) {
		signal(SIGHUP, SIG_IGN);
		signal(SIGTERM, SIG_DFL);
		intr_install();
		raise(SIGHUP);
		bool ignored = !intr_pending();
		raise(SIGTERM);
		_exit(ignored && intr_pending() ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* The program tells its number and sleeps; then its parent is killed. */
static void no_program_outlives_us(void **state)
{
	struct unit *u = *state;
	int mine[2], status = 0, its = 0;
	assert_int_equal(pipe(mine), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(mine[1], STDOUT_FILENO);
		close(mine[1]);
		struct proc_result r;
		_exit(proc_run(
		    &(struct proc_spec){.argv = SH("echo $$; exec sleep 600")}, &r, &u->err));
	}
	close(mine[1]);
	FILE *f = fdopen(mine[0], "r");
	assert_int_equal(fscanf(f, "%d", &its), 1);
	fclose(f);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(waitpid(its, &status, 0), its);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(status_is_that_of_the_program),
	    CASE(output_is_collected_apart_or_together),
	    CASE(output_may_go_to_standard_error),
	    CASE(large_input_comes_back_whole),
	    CASE(little_reading_and_much_writing_does_not_hang),
	    CASE(input_may_be_empty_or_unread),
	    CASE(lines_come_one_by_one),
	    CASE(endless_line_comes_in_pieces),
	    CASE(folder_and_environment_are_set),
	    CASE(words_are_not_read_by_a_shell),
	    CASE(no_descriptor_leaks),
	    CASE(what_cannot_start_is_a_tool_error),
	    CASE(check_quotes_the_last_line),
	    CASE(capture_refuses_what_does_not_fit),
	    CASE(ticks_come_while_it_runs),
	    CASE(signal_is_passed_on),
	    CASE(what_hangs_is_killed),
	    CASE(what_is_to_stop_stops),
	    CASE(end_is_that_of_the_program),
	    CASE(ignored_signals_stay_ignored),
	    CASE(no_program_outlives_us),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
