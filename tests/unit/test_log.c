#include "unit.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include "../../lib/base/log.h"

#define END "<end>"

/* What fn writes to standard error, which is to while it runs; from is its other end. */
static const char *said(struct unit *u, int to, int from, void (*fn)(void))
{
	int saved = dup(2);
	assert_true(saved >= 0 && dup2(to, 2) == 2);
	fn();
	fputs(END, stderr);
	fflush(stderr);
	assert_int_equal(dup2(saved, 2), 2);
	close(saved);
	/* A terminal hands its text on in its own time. */
	char text[8192] = "";
	size_t len = 0;
	while (!str_ends(text, END)) {
		ssize_t n = read(from, text + len, sizeof text - 1 - len);
		assert_true(n > 0);
		len += (size_t)n;
		text[len] = '\0';
	}
	return arena_strndup(&u->a, text, len - strlen(END));
}

static const char *said_to_log(struct unit *u, void (*fn)(void))
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	const char *text = said(u, ends[1], ends[0], fn);
	close(ends[0]);
	close(ends[1]);
	return text;
}

/* On a terminal of that many columns. */
static const char *said_to_terminal(struct unit *u, unsigned short columns, void (*fn)(void))
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	struct winsize ws = {.ws_row = 25, .ws_col = columns};
	assert_int_equal(ioctl(slave, TIOCSWINSZ, &ws), 0);
	const char *text = said(u, slave, master, fn);
	close(slave);
	close(master);
	return text;
}

static void say_all(void)
{
	struct err err = {0};
	err_set(&err, ERR_FORMAT, "it broke: %d", 7);
	log_note("note %d", 1);
	log_detail("detail");
	log_warn("careful: %s", "x");
	log_error(&err);
}

static void lines_by_level(void **state)
{
	struct unit *u = *state;
	assert_string_equal(said_to_log(u, say_all),
	    "debkit: note 1\ndebkit: warning: careful: x\ndebkit: error: it broke: 7\n");
	log_set_verbose(true);
	assert_string_equal(said_to_log(u, say_all),
	    "debkit: note 1\ndebkit: detail\ndebkit: warning: careful: x\n"
	    "debkit: error: it broke: 7\n");
	log_set_verbose(false);
	log_set_quiet(true);
	assert_string_equal(
	    said_to_log(u, say_all), "debkit: warning: careful: x\ndebkit: error: it broke: 7\n");
	log_set_quiet(false);
}

static void make_progress(void)
{
	log_progress(0, 3, "one", -1);
	log_progress(1, 3, "two", 75);
	log_progress(2, 3, "three", 600);
	log_progress(3, 3, "all", 0);
	log_progress_end();
	log_note("done");
}

/* In a log the first and the last line come at once, those between seldom. */
static void progress_in_a_log_is_sparse(void **state)
{
	struct unit *u = *state;
	assert_string_equal(said_to_log(u, make_progress),
	    "debkit: [0/3] one\ndebkit: [3/3, about 1 s left] all\ndebkit: done\n");
	log_set_quiet(true);
	assert_string_equal(said_to_log(u, make_progress), "");
	log_set_quiet(false);
}

static void progress_on_a_terminal_is_one_line(void **state)
{
	struct unit *u = *state;
	/* The terminal itself turns \n into \r\n. */
	assert_string_equal(said_to_terminal(u, 80, make_progress),
	    "\r[0/3] one\033[K\r[1/3, about 75 s left] two\033[K"
	    "\r[2/3, about 10 min left] three\033[K\r[3/3, about 1 s left] all\033[K"
	    "\r\033[Kdebkit: done\r\n");
}

static void note_in_the_middle(void)
{
	log_progress(1, 2, "a long name of a step", -1);
	log_note("note");
	log_progress_end();
}

static void progress_fits_the_terminal(void **state)
{
	struct unit *u = *state;
	assert_string_equal(said_to_terminal(u, 20, note_in_the_middle),
	    "\r[1/2] a long name o\033[K\r\033[Kdebkit: note\r\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(lines_by_level),
	    CASE(progress_in_a_log_is_sparse),
	    CASE(progress_on_a_terminal_is_one_line),
	    CASE(progress_fits_the_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
