#include "unit.h"

#include "../../repo/change/retention.h"
#include "../../repo/change/withdraw.h"
#include "../../lib/deb/stanza.h"

static void no_file_keeps_all(void **state)
{
	struct unit *u = *state;
	struct retention r = {.frozen = true};
	assert_int_equal(retention_load(u->dir, "stable", &r, &u->err), 0);
	assert_false(r.frozen);
	assert_int_equal(r.snapshot_days, 0);
}

static void each_suite_has_its_rule(void **state)
{
	struct unit *u = *state;
	struct retention r;
	unit_put(u, "retention",
	    "# promises\nSuite: testing\nKeep-Snapshots-Days: 90\n\nSuite: lts\nFrozen: yes\n");
	assert_int_equal(retention_load(u->dir, "testing", &r, &u->err), 0);
	assert_int_equal(r.snapshot_days, 90);
	assert_int_equal(retention_check(u->dir, "testing", &u->err), 0);
	assert_int_equal(retention_check(u->dir, "lts", &u->err), -1);
	assert_int_equal(u->err.code, ERR_CONFLICT);
	assert_non_null(strstr(u->err.msg, "suite 'lts' is frozen"));
}

static void wrong_lines_are_named(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
	    {"Frozen: yes\n", ":1: expected a field Suite"},
	    {"Suite: a\nFrozen: perhaps\n", ":2: Frozen is 'perhaps', expected yes or no"},
	    {"Suite: a\nKeep-Snapshots-Days: 0\n",
		":2: Keep-Snapshots-Days is '0', expected a number of days from 1 to 36500"},
	};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct retention r;
		const char *path = unit_put(u, "retention", cases[i].text);
		assert_int_equal(retention_load(u->dir, "b", &r, &u->err), -1);
		unit_error(u, ERR_USAGE, arena_printf(&u->a, "%s%s", path, cases[i].error));
	}
	unit_put(u, "retention", "Suite: a\nKeep: all\n");
	struct retention r;
	assert_int_equal(retention_load(u->dir, "a", &r, &u->err), -1);
}

static void withdrawn_packages_are_found(void **state)
{
	struct unit *u = *state;
	struct stanza_list list = {0};
	assert_int_equal(withdraw_load(&u->a, u->dir, &list, &u->err), 0);
	assert_int_equal(list.n, 0);
	unit_put(u, "withdrawn", "Package: a\nVersion: 1\nReason: bad\n\nPackage: b\nVersion: 2\n");
	assert_int_equal(withdraw_load(&u->a, u->dir, &list, &u->err), 0);
	assert_string_equal(stanza_get(withdraw_find(&list, "a", "1"), "Reason"), "bad");
	assert_null(withdraw_find(&list, "a", "2"));
	assert_non_null(withdraw_find(&list, "b", "2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {CASE(no_file_keeps_all), CASE(each_suite_has_its_rule),
	    CASE(wrong_lines_are_named), CASE(withdrawn_packages_are_found)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
