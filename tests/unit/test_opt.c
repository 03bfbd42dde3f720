#include "unit.h"

#include <limits.h>

#include "../../lib/base/opt.h"

static bool force, help;
static const char *out;
static unsigned jobs;
static struct strv archs, operands;

static const struct opt opts[] = {{"out", 'o', OPT_STRING, "DIR", "where the packages go", &out},
    {"jobs", 'j', OPT_UINT, "N", "compile jobs at once", &jobs},
    {"arch", 0, OPT_LIST, "CC[,CC...]", "GPU archs, such as 9.0,12.0", &archs},
    {"force", 'f', OPT_FLAG, NULL, "'yes' to all; a \\ stays", &force},
    {"a-name-that-is-longer-than-the-column", 0, OPT_FLAG, NULL, ".hidden files too", &force},
    {NULL, 0, OPT_END, NULL, NULL, NULL}};

/* Parses the words of line, which are parted by single spaces; "" for an empty word is '~'. */
static int parse(struct unit *u, const char *line)
{
	static struct strv words;
	strv_done(&words);
	strv_done(&archs);
	strv_done(&operands);
	force = help = false;
	out = NULL;
	jobs = 99;
	strv_add(&words, "build");
	strv_split(&words, line, " ");
	for (size_t i = 0; i < words.n; i++)
		if (str_eq(words.v[i], "~"))
			words.v[i][0] = '\0';
	return opt_parse(opts, (int)words.n, words.v, &operands, &help, &u->err);
}

static const char *joined(struct unit *u, const struct strv *v)
{
	_free_ char *s = strv_join(v, "|");
	return arena_strdup(&u->a, s);
}

static void forms_of_values(void **state)
{
	static const char *const lines[] = {"--out d --jobs 4", "--out=d --jobs=4", "-o d -j 4",
	    "-od -j4", "--jobs 9 -j 4 --out=x -o d"};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_int_equal(parse(u, lines[i]), 0);
		assert_string_equal(out, "d");
		assert_int_equal(jobs, 4);
		assert_int_equal(operands.n, 0);
		assert_false(force || help);
	}
	assert_int_equal(parse(u, "--out=a=b --jobs 2147483647 --force"), 0);
	assert_string_equal(out, "a=b");
	assert_int_equal(jobs, INT_MAX);
	assert_true(force);
}

static void lists_are_split_and_added_up(void **state)
{
	struct unit *u = *state;
	assert_int_equal(parse(u, "--arch 9.0,,12.0 x --arch=8.0"), 0);
	assert_string_equal(joined(u, &archs), "9.0|12.0|8.0");
	assert_string_equal(joined(u, &operands), "x");
}

static void operands_and_options_mix(void **state)
{
	struct unit *u = *state;
	assert_int_equal(parse(u, "a -f - b ~ -- -f --jobs --"), 0);
	assert_string_equal(joined(u, &operands), "a|-|b||-f|--jobs|--");
	assert_true(force);
	assert_int_equal(parse(u, "-o -f -j 1"), 0);
	assert_string_equal(out, "-f");
	assert_false(force);
}

static void help_ends_the_parsing(void **state)
{
	struct unit *u = *state;
	assert_int_equal(parse(u, "a --help --nonsense"), 0);
	assert_true(help);
	assert_int_equal(parse(u, "-h"), 0);
	assert_true(help);
	assert_int_equal(parse(u, "-- --help"), 0);
	assert_false(help);
}

static void wrong_use_is_explained(void **state)
{
	static const char *const cases[][2] = {
	    {"--bad", "unknown option '--bad'; see debkit build --help"},
	    {"-x", "unknown option '-x'; see debkit build --help"},
	    {"--=d", "unknown option '--=d'; see debkit build --help"},
	    {"--ou d", "unknown option '--ou'; see debkit build --help"},
	    {"--outs d", "unknown option '--outs'; see debkit build --help"},
	    {"--out", "option --out needs DIR"}, {"-o", "option --out needs DIR"},
	    {"--out ~", "option --out needs a DIR that is not empty"},
	    {"--out=", "option --out needs a DIR that is not empty"},
	    {"--jobs x", "option --jobs: 'x' is not a whole number from 0 to 2147483647"},
	    {"--jobs=", "option --jobs: '' is not a whole number from 0 to 2147483647"},
	    {"-j -1", "option --jobs: '-1' is not a whole number from 0 to 2147483647"},
	    {"-j 2147483648",
		"option --jobs: '2147483648' is not a whole number from 0 to 2147483647"},
	    {"--arch ,", "option --arch needs CC[,CC...], not ','"},
	    {"--force=yes", "option --force takes no value"},
	    {"-fx", "option --force takes no value"}};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(u, cases[i][0]), -1);
		unit_error(u, ERR_USAGE, cases[i][1]);
	}
}

static void help_and_man_page_come_from_the_table(void **state)
{
	struct unit *u = *state;
	_cleanup_(buf_done) struct buf text = BUF_INIT(1 << 16), man = BUF_INIT(1 << 16);
	opt_help(opts, &text);
	buf_puts(&text, "\n");
	opt_synopsis(opts, &text);
	buf_puts(&text, "\n");
	unit_golden(u, "opt.help", &text);
	opt_man(opts, &man);
	unit_golden(u, "opt.man", &man);
	/* groff is the judge: every word of the help is on the page, and nothing is warned of. */
	unit_put(u, "page", arena_printf(&u->a, ".TH X 1\n.SH OPTIONS\n%s", buf_str(&man)));
	const char *page = unit_sh(u, "man --warnings -E ascii -l page 2>&1 | col -bx");
	for (const struct opt *o = opts; o->name; o++) {
		assert_non_null(strstr(page, arena_printf(&u->a, "--%s", o->name)));
		assert_non_null(strstr(page, o->help));
	}
	assert_null(strstr(page, "warning"));
}

static int release(void **state)
{
	return parse(*state, "") + unit_teardown(state);
}

#define OPT_CASE(fn) cmocka_unit_test_setup_teardown(fn, unit_setup, release)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    OPT_CASE(forms_of_values),
	    OPT_CASE(lists_are_split_and_added_up),
	    OPT_CASE(operands_and_options_mix),
	    OPT_CASE(help_ends_the_parsing),
	    OPT_CASE(wrong_use_is_explained),
	    OPT_CASE(help_and_man_page_come_from_the_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
