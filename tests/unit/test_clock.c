#include "unit.h"

#include "../../lib/base/clock.h"

/* Days before and after leap days, turns of the year and the ends of what is supported. */
static const long long times[] = {0, 1, 951782399, 951782400, 951868800, 1078012800, 1709164800,
    1795993200, 1798761599, 1798761600, 2147483647, 2147483648, 4107542400, 253402300799};

static void dates_are_those_of_date(void **state)
{
	struct unit *u = *state;
	setenv("TZ", "America/St_Johns", 1);
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		char got[CLOCK_RFC_MAX];
		clock_format_release((time_t)times[i], got);
		assert_string_equal(got,
		    unit_sh(
			u, arena_printf(&u->a,
			       "LC_ALL=C date -u -d @%lld '+%%a, %%d %%b %%Y %%T UTC'", times[i])));
		clock_format_changelog((time_t)times[i], got);
		assert_string_equal(
		    got, unit_sh(u, arena_printf(&u->a, "LC_ALL=C date -u -R -d @%lld", times[i])));
	}
	unsetenv("TZ");
	unsetenv("LC_ALL");
}

static void dates_are_read_back(void **state)
{
	static const char *const zones[] = {"UTC", "GMT", "Z", "+0000"};
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		for (size_t k = 0; k < ARRAY_SIZE(zones); k++) {
			char text[CLOCK_RFC_MAX];
			time_t t = -1;
			clock_format_release((time_t)times[i], text);
			strcpy(strrchr(text, ' ') + 1, zones[k]);
			assert_int_equal(clock_parse_release(text, &t), 0);
			assert_int_equal(t, times[i]);
		}
}

static void other_text_is_no_date(void **state)
{
	static const char *const bad[] = {"", "now", "Mon, 30 Nov 2026 07:00:00",
	    "Mon, 30 Nov 2026 07:00:00 ", "Mon, 30 Nov 2026 07:00:00 UTC ",
	    "Mon, 30 Nov 2026 07:00:00 CET", "Mon, 30 Nov 2026 07:00:00 +0100",
	    "Tue, 30 Nov 2026 07:00:00 UTC", "Xyz, 30 Nov 2026 07:00:00 UTC",
	    "Mon, 31 Nov 2026 07:00:00 UTC", "Sun, 30 Feb 2025 07:00:00 UTC",
	    "Mon, 30 nov 2026 07:00:00 UTC", "Mon, 30 November 2026 07:00:00 UTC",
	    "Mon, 30 Nov 2026 24:00:00 UTC", "Mon, 30 Nov 2026 07:60:00 UTC",
	    "Mon, 30 Nov 2026 07:00:60 UTC", "Mon, 30 Nov 2026 -1:00:00 UTC",
	    "Mon, 30 Nov 2026 7:00:00 UTC", "Mon, 30 Nov 26 07:00:00 UTC",
	    "Mon, 30 Nov 12026 07:00:00 UTC", "Mon,30 Nov 2026 07:00:00 UTC",
	    " Mon, 30 Nov 2026 07:00:00 UTC", "Mon,  30 Nov 2026 07:00:00 UTC",
	    "Mon, 30 Nov 2026 07:00:00  UTC", "Tue, 31 Dec 1968 07:00:00 UTC",
	    "2026-11-30T07:00:00Z"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		time_t t = 77;
		if (clock_parse_release(bad[i], &t) == 0)
			fail_msg("'%s' was taken for a date", bad[i]);
		assert_int_equal(t, 77);
	}
}

static void source_date_is_a_plain_number(void **state)
{
	static const char *const bad[] = {
	    "yesterday", "-1", " 1", "1.5", "0x10", "253402300800", "99999999999999999999"};
	struct unit *u = *state;
	time_t t = 0;
	unsetenv("SOURCE_DATE_EPOCH");
	assert_int_equal(clock_source_date(1795993200, &t, &u->err), 0);
	assert_int_equal(t, 1795993200);
	setenv("SOURCE_DATE_EPOCH", "86400", 1);
	assert_int_equal(clock_source_date(1795993200, &t, &u->err), 0);
	assert_int_equal(t, 86400);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		setenv("SOURCE_DATE_EPOCH", bad[i], 1);
		assert_int_equal(clock_source_date(1, &t, &u->err), -1);
		unit_error(u, ERR_USAGE,
		    arena_printf(&u->a,
			"SOURCE_DATE_EPOCH is '%s': expected seconds since 1970 as a decimal "
			"number",
			bad[i]));
	}
	assert_int_equal(t, 86400);
	unsetenv("SOURCE_DATE_EPOCH");
}

static void now_can_be_set(void **state)
{
	setenv("DEBKIT_NOW", "1000", 1);
	assert_int_equal(clock_now(), 1000);
	unsetenv("DEBKIT_NOW");
	time_t before = time(NULL);
	assert_true(clock_now() >= before);
	double a = clock_monotonic();
	assert_true(clock_monotonic() >= a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(dates_are_those_of_date),
	    CASE(dates_are_read_back),
	    CASE(other_text_is_no_date),
	    CASE(source_date_is_a_plain_number),
	    CASE(now_can_be_set),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
