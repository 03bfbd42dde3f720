#include "unit.h"

#include "../../repo/bundle/bundle.h"

static void machines_are_parsed(void **state)
{
	struct unit *u = *state;
	struct bundle_want w;
	assert_int_equal(
	    bundle_parse(&u->a, "ubuntu24.04,torch2.10,py3.12,sm_120", &w, &u->err), 0);
	assert_string_equal(w.system, "Ubuntu 24.04");
	assert_string_equal(w.torch, "2.10");
	assert_string_equal(w.python, "3.12");
	assert_string_equal(w.cc, "12.0");
	assert_int_equal(bundle_parse(&u->a, "sm_90, py3.11 torch2.8,debian12", &w, &u->err), 0);
	assert_string_equal(w.cc, "9.0");
	assert_string_equal(w.system, "Debian 12");
}

static void other_words_are_refused(void **state)
{
	static const char *const cases[] = {"", "ubuntu24.04", "fedora40,torch2.10,py3.12,sm_90",
	    "debian12,torch2,py3.12,sm_90", "debian12,torch2.10,py3.12,sm_9",
	    "debian12,torch2.10,py3.12,sm_9x", "debian12,torch../x,py3.12,sm_90"};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bundle_want w;
		assert_int_equal(bundle_parse(&u->a, cases[i], &w, &u->err), -1);
		assert_int_equal(u->err.code, ERR_USAGE);
		assert_non_null(strstr(u->err.msg, "ubuntu24.04,torch2.10,py3.12,sm_120"));
	}
}

/* A cubin runs on the same major version from its minor on, PTX on all that is newer. */
static void code_runs_where_nvidia_says(void **state)
{
	static const struct {
		const char *archs, *cc;
		bool runs;
	} cases[] = {{"9.0", "9.0", true}, {"8.0", "8.6", true}, {"8.6", "8.0", false},
	    {"9.0", "12.0", false}, {"9.0 9.0+PTX", "12.0", true}, {"12.0+PTX", "9.0", false},
	    {"9.0a", "9.0", false}, {"", "9.0", false}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(bundle_runs_on(cases[i].archs, cases[i].cc), cases[i].runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {CASE(machines_are_parsed), CASE(other_words_are_refused),
	    CASE(code_runs_where_nvidia_says)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
