/* Reading a machine's files below a root, and the small parsers that probes share. */
#include "unit.h"

#include <errno.h>

#include "../../doctor/finding.h"
#include "../../doctor/machine.h"
#include "../../doctor/probe.h"

static void start(struct unit *u, struct probe *p)
{
	probe_init(p, &u->a, u->dir);
	p->home = "/root";
}

static void what_is_opened_is_noted(void **state)
{
	struct unit *u = *state;
	struct probe p;
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	start(u, &p);
	unit_put(u, "etc/b", "two");
	unit_put(u, "etc/a", "one");
	assert_string_equal(probe_text(&p, "/etc/a", 16), "one");
	assert_int_equal(probe_list(&p, "/etc", &names), 0);
	assert_string_equal(names.v[0], "a");
	assert_null(probe_text(&p, "/etc/none", 16));
	assert_int_equal(errno, ENOENT);
	assert_true(probe_is_file(&p, "/etc/b"));
	assert_int_equal(p.seen.n, 2);
	assert_string_equal(p.seen.v[0], "/etc/a");
	assert_string_equal(p.seen.v[1], "/etc");
	probe_done(&p);
}

static void what_is_no_file_is_not_opened(void **state)
{
	struct unit *u = *state;
	struct probe p;
	start(u, &p);
	assert_int_equal(mkfifo(unit_path(u, "fifo"), 0600), 0);
	assert_null(probe_text(&p, "/fifo", 16));
	assert_int_equal(errno, EINVAL);
	unit_put(u, "large", "12345678");
	assert_null(probe_text(&p, "/large", 7));
	assert_int_equal(errno, EFBIG);
	assert_string_equal(probe_text(&p, "/large", 8), "12345678");
	probe_done(&p);
}

static void settings_lose_their_quotes(void **state)
{
	struct unit *u = *state;
	struct probe p;
	static const char text[] =
	    "# home = x\nhome = /usr/bin\r\nPRETTY_NAME=\"Debian 12\"\nA='b'\nE=\n";
	start(u, &p);
	assert_string_equal(probe_setting(&p, text, "home"), "/usr/bin");
	assert_string_equal(probe_setting(&p, text, "PRETTY_NAME"), "Debian 12");
	assert_string_equal(probe_setting(&p, text, "A"), "b");
	assert_string_equal(probe_setting(&p, text, "E"), "");
	assert_null(probe_setting(&p, text, "HOME"));
	probe_done(&p);
}

static void numbers_are_compared_as_numbers(void **state)
{
	static const struct {
		const char *a, *b;
		int order;
	} v[] = {{"525.60.13", "525.105.17", -1}, {"570.124.06", "570.124.6", 0},
	    {"2.9", "2.10", -1}, {"13", "12.8", 1}, {"12.8", "12.8.0", 0}, {"", "0", 0},
	    {"x", "1", -1}, {"2.10rc1", "2.10", 0}};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		assert_int_equal(probe_compare(v[i].a, v[i].b), v[i].order);
		assert_int_equal(probe_compare(v[i].b, v[i].a), -v[i].order);
	}
	assert_string_equal(probe_minor(&u->a, "2.10.0+cu128"), "2.10");
	assert_string_equal(probe_minor(&u->a, "2.10.0a0+git1.2"), "2.10");
	assert_string_equal(probe_minor(&u->a, "13"), "13");
	assert_string_equal(probe_minor(&u->a, "13+x.y"), "13");
}

static void findings_stand_worst_first_and_in_order(void **state)
{
	struct unit *u = *state;
	struct findings f = {.a = &u->a};
	finding_add(&f, FINDING_GOOD, "a.one", "-", "1");
	finding_add(&f, FINDING_BAD, "b.two", "-", "%d", 2);
	finding_type(&f, FINDING_HERE, "line");
	finding_add(&f, FINDING_WARNING, "c.three", "-", "3");
	finding_type(&f, FINDING_HERE, "line");
	finding_add(&f, FINDING_BAD, "d.four", "-", "4");
	findings_sort(&f);
	assert_string_equal(f.v[0].found, "2");
	assert_string_equal(f.v[0].type, "line");
	assert_string_equal(f.v[0].subject, "b");
	assert_string_equal(f.v[1].found, "4");
	assert_string_equal(f.v[2].found, "3");
	assert_null(f.v[2].type); /* it stands with the worse one */
	assert_int_equal(findings_count(&f, FINDING_BAD), 2);
}

static void archs_run_where_nvidia_says(void **state)
{
	static const struct {
		const char *archs;
		int major, minor;
		bool runs;
	} v[] = {{"8.0 9.0", 8, 6, true}, {"8.6", 8, 0, false}, {"9.0 9.0+PTX", 12, 0, true},
	    {"9.0a", 9, 0, true}, {"9.0a", 10, 0, false}, {"12.0", 12, 1, true},
	    {"12.0", 10, 0, false}, {"8.0", 8, 7, false}, {"8.7", 8, 7, true}, {"8.7", 8, 9, false},
	    {"12.0+PTX", 9, 0, false}, {"", 9, 0, false}, {"x 9.0", 9, 0, true},
	    {"12.0f", 12, 1, true}, {"8.6+PTX", 8, 6, true}, {"8.6+PTX", 8, 5, false},
	    {"8.6+PTX", 8, 7, true}, {"8.6+PTX", 9, 0, true}, {"8.6+PTX", 7, 9, false}};
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		if (machine_arch_runs(v[i].archs, v[i].major, v[i].minor) != v[i].runs)
			fail_msg("%s on %d.%d", v[i].archs, v[i].major, v[i].minor);
}

static bool floor_is_bad(struct unit *u, const char *kernel)
{
	struct probe p;
	bool bad = false;
	start(u, &p);
	struct machine m = {.p = &p, .sudo = "", .gpu = {.kernel = kernel}};
	struct pyenv e = {.dir = "/venv",
	    .kind = "venv",
	    .exe = "/venv/bin/python",
	    .torch = {.version = "2.10.0+cu128", .cuda = "12.8"}};
	struct pyenv *envs[] = {&e};
	struct findings f = {.a = &u->a};
	check_driver(&m, envs, 1, &f);
	for (size_t i = 0; i < f.n; i++)
		bad |= !strcmp(f.v[i].id, "driver.floor");
	probe_done(&p);
	return bad;
}

/* The oldest driver that will do is not too old; the one before it is. */
static void a_floor_is_the_first_that_will_do(void **state)
{
	struct unit *u = *state;
	const char *floor = machine_driver_floor("12.8");
	assert_false(floor_is_bad(u, floor));
	assert_true(floor_is_bad(u, arena_printf(&u->a, "%d.999.99", atoi(floor) - 1)));
	assert_false(floor_is_bad(u, arena_printf(&u->a, "%d.1", atoi(floor) + 1)));
}

/* The shell itself is asked what it makes of a quoted word. */
static void quoted_words_stay_words(void **state)
{
	static const char *const words[] = {
	    "/opt/venv", "/my venv", "it's", "$(touch x)", "", "a\nb", "*"};
	struct unit *u = *state;
	struct probe p;
	start(u, &p);
	struct machine m = {.p = &p};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		assert_string_equal(unit_sh(u, arena_printf(&u->a, "printf '%%s.' %s",
						   machine_quote(&m, words[i]))),
		    arena_printf(&u->a, "%s.", words[i]));
	assert_string_equal(machine_flavour(&m, "12.8"), "cu128");
	assert_string_equal(machine_runtime(&m, "12.8"), "cuda-cudart-12-8");
	probe_done(&p);
}

static void a_mount_is_found_by_its_longest_name(void **state)
{
	static const char text[] = "22 1 0:20 / / rw,relatime - ext4 /dev/x rw\n"
				   "36 22 0:30 / /tmp rw,noexec shared:1 - tmpfs none rw\n"
				   "37 22 0:31 / /a\\040b rw,noexec - tmpfs none rw\n"
				   "38 36 0:32 / /tmp/in rw - tmpfs none rw\nshort line\n";
	struct unit *u = *state;
	assert_true(system_parse_noexec(&u->a, text, "/tmp"));
	assert_true(system_parse_noexec(&u->a, text, "/tmp/x/y"));
	assert_false(system_parse_noexec(&u->a, text, "/tmp/in/x"));
	assert_false(system_parse_noexec(&u->a, text, "/tmpfoo"));
	assert_true(system_parse_noexec(&u->a, text, "/a b/c"));
	assert_false(system_parse_noexec(&u->a, "", "/tmp"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(what_is_opened_is_noted),
	    CASE(what_is_no_file_is_not_opened),
	    CASE(settings_lose_their_quotes),
	    CASE(numbers_are_compared_as_numbers),
	    CASE(findings_stand_worst_first_and_in_order),
	    CASE(archs_run_where_nvidia_says),
	    CASE(a_floor_is_the_first_that_will_do),
	    CASE(quoted_words_stay_words),
	    CASE(a_mount_is_found_by_its_longest_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
