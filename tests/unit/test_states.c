#include "unit.h"

#include "../../debbuild/data/states.h"

#define GOOD "State: gpu\nRecipe: r\nVersion: 1-1\nTorch: 2.10\nCuda: 12.8\nPython: 3.11\n"

static struct states load(struct unit *u, const char *text)
{
	struct states s;
	if (states_load(&u->a, unit_put(u, "states", text), &s, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	return s;
}

static void absent_file_holds_nothing(void **state)
{
	struct unit *u = *state;
	struct states s = {.n = 7};
	assert_int_equal(states_load(&u->a, unit_path(u, "none"), &s, &u->err), 0);
	assert_int_equal(s.n, 0);
}

static void facts_are_read(void **state)
{
	struct unit *u = *state;
	struct states s = load(u, "# note\n" GOOD "Note: on a test machine\n");
	assert_int_equal(s.n, 1);
	assert_string_equal(s.v[0].state, "gpu");
	assert_string_equal(s.v[0].torch, "2.10");
	assert_string_equal(s.v[0].note, "on a test machine");
}

static void wrong_lines_are_named(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
	    {GOOD "Nota: x\n", "7: found unknown field 'Nota', expected State, Recipe, Version, "
			       "Torch, Cuda, Python, Note"},
	    {"State: seen\nRecipe: r\nVersion: 1\nTorch: 2.1\nCuda: 12.8\nPython: 3.11\n",
		"1: State is 'seen', expected rebuilt, imported or gpu"},
	    {"State: gpu\nRecipe: r\nVersion: 1\nTorch: two\nCuda: 12.8\nPython: 3.11\n",
		"4: Torch is 'two', expected a version such as 12.8"},
	    {GOOD "\n" GOOD, "8: State is 'gpu' for this cell again, expected it once"},
	};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct states s;
		const char *path = unit_put(u, "states", cases[i].text);
		assert_int_equal(states_load(&u->a, path, &s, &u->err), -1);
		unit_error(u, ERR_FORMAT, arena_printf(&u->a, "%s:%s", path, cases[i].error));
	}
}

static struct state_fact fact(const char *state, const char *torch, const char *note)
{
	return (struct state_fact){.state = state,
	    .recipe = "r",
	    .version = "1-1",
	    .torch = torch,
	    .cuda = "12.8",
	    .python = "3.11",
	    .note = note};
}

static void record(struct unit *u, const char *path, struct state_fact f)
{
	if (states_record(path, &f, &u->err) < 0)
		fail_msg("%s", u->err.msg);
}

static void records_are_kept_in_order_and_once(void **state)
{
	struct unit *u = *state;
	const char *path = unit_path(u, "states");
	struct states s;
	record(u, path, fact("imported", "2.10", "first"));
	record(u, path, fact("gpu", "2.10", NULL));
	record(u, path, fact("imported", "2.9", NULL));
	record(u, path, fact("imported", "2.10", "second"));
	assert_int_equal(states_load(&u->a, path, &s, &u->err), 0);
	assert_int_equal(s.n, 3);
	assert_string_equal(s.v[0].torch, "2.9");
	assert_string_equal(s.v[1].state, "imported");
	assert_string_equal(s.v[1].note, "second");
	assert_string_equal(s.v[2].state, "gpu");
	assert_true(str_starts(unit_read(u, path), "# What real torches"));
}

static void what_is_no_fact_is_refused(void **state)
{
	struct unit *u = *state;
	const char *path = unit_path(u, "states");
	struct state_fact f = fact("seen", "2.10", NULL);
	assert_int_equal(states_record(path, &f, &u->err), -1);
	unit_error(u, ERR_USAGE, "unknown state 'seen': expected rebuilt, imported or gpu");
	f = fact("gpu", "2.10", "two\nlines");
	assert_int_equal(states_record(path, &f, &u->err), -1);
	unit_error(u, ERR_USAGE, "a note is one line of text");
	assert_false(path_exists(path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(absent_file_holds_nothing),
	    CASE(facts_are_read),
	    CASE(wrong_lines_are_named),
	    CASE(records_are_kept_in_order_and_once),
	    CASE(what_is_no_fact_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
