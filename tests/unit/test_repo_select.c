#include "unit.h"

#include "../../repo/change/select.h"

/* Which of three packages the words mean, as "x-x"; "!" after it if a word meant none. */
static const char *match(struct unit *u, const char *words)
{
	static const char *const pkgs[][3] = {
	    {"liba", "1.0", "amd64"}, {"liba", "1:2.0", "arm64"}, {"tool", "1.0", "all"}};
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	struct selection s;
	char out[5] = "---";
	strv_split(&names, words, " ");
	if (select_parse(&u->a, &names, &s, &u->err) < 0)
		return "error";
	for (size_t i = 0; i < ARRAY_SIZE(pkgs); i++)
		if (select_matches(&s, pkgs[i][0], pkgs[i][1], pkgs[i][2]))
			out[i] = 'x';
	if (select_check_all_matched(&s, "stable", &u->err) < 0)
		strcat(out, "!");
	err_clear(&u->err);
	return arena_strdup(&u->a, out);
}

static void words_mean_packages(void **state)
{
	struct unit *u = *state;
	assert_string_equal(match(u, ""), "xxx");
	assert_string_equal(match(u, "liba"), "xx-");
	assert_string_equal(match(u, "liba:arm64"), "-x-");
	assert_string_equal(match(u, "liba=1:2.0"), "-x-");
	assert_string_equal(match(u, "liba:amd64=1:2.0"), "---!");
	assert_string_equal(match(u, "tool liba=1.0"), "x-x");
	assert_string_equal(match(u, "*o*"), "--x");
	assert_string_equal(match(u, "liba nosuch"), "xx-!");
	assert_string_equal(match(u, "lib"), "---!");
	assert_string_equal(match(u, "=1"), "error");
	assert_string_equal(match(u, "a="), "error");
	assert_string_equal(match(u, "a:"), "error");
}

static void plain_names_are_listed_once(void **state)
{
	struct unit *u = *state;
	_cleanup_(strv_done) struct strv words = STRV_INIT, names = STRV_INIT;
	struct selection s;
	strv_split(&words, "b a:amd64 b=1", " ");
	assert_int_equal(select_parse(&u->a, &words, &s, &u->err), 0);
	assert_true(select_names(&s, &names));
	_free_ char *list = strv_join(&names, " ");
	assert_string_equal(list, "b a");
	strv_add(&words, "lib*");
	assert_int_equal(select_parse(&u->a, &words, &s, &u->err), 0);
	assert_false(select_names(&s, &names));
	s.n = 0;
	assert_false(select_names(&s, &names));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(words_mean_packages), CASE(plain_names_are_listed_once)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
