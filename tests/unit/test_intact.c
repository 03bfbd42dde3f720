#include "unit.h"

#include "../../debbuild/wheel/intact.h"

static void is_there(struct unit *u, const char *dir, bool there, bool damaged)
{
	bool t, d;
	if (intact_check(dir, &t, &d, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	assert_int_equal(t, there);
	assert_int_equal(d, damaged);
}

static void missing_is_no_damage(void **state)
{
	struct unit *u = *state;
	is_there(u, unit_path(u, "none"), false, false);
	assert_string_equal(unit_sh(u, "ls -A"), "");
}

/* Each change makes the folder go; put there again it is noted anew. */
static void changes_are_seen(void **state)
{
	static const char *const changes[] = {"rm d/a/b", ": >d/a/b", "echo more >>d/c",
	    "rm -r d/a", "echo x >d/new", "mv d/c d/e", "chmod +x d/c", "ln -sf a/b d/l",
	    "rm -r d; echo >d", "rm -r d; ln -s nowhere d", ": >d.files", "echo junk >d.files",
	    "rm d.files; mkdir -p d.files/x"};
	struct unit *u = *state;
	const char *dir = unit_path(u, "d");
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		unit_sh(u, "mkdir -p d/a; echo b >d/a/b; echo c >d/c; ln -s c d/l");
		is_there(u, dir, true, false);
		is_there(u, dir, true, false);
		unit_sh(u, changes[i]);
		is_there(u, dir, false, true);
		assert_string_equal(unit_sh(u, "ls -A"), "");
	}
}

/* Times, owners and other modes differ between copies of a cache. */
static void copies_are_whole(void **state)
{
	struct unit *u = *state;
	unit_sh(u, "mkdir -p d/a; echo b >d/a/b");
	is_there(u, unit_path(u, "d"), true, false);
	unit_sh(u, "cp -r d e; cp d.files e.files; touch -d @1 d/a/b; chmod 600 d/a/b");
	is_there(u, unit_path(u, "d"), true, false);
	is_there(u, unit_path(u, "e"), true, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(missing_is_no_damage),
	    CASE(changes_are_seen),
	    CASE(copies_are_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
