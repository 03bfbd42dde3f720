#include "unit.h"

#include <fcntl.h>

#include "../../lib/base/parallel.h"
#include "../../lib/base/txn.h"

static struct txn *begin(struct unit *u)
{
	unit_put(u, "from", "the file\n");
	return txn_new(unit_path(u, "r"));
}

static void place(struct unit *u, struct txn *t, const char *name, bool link)
{
	if (txn_place(t, 0, name, unit_path(u, "from"), link, &u->err) < 0)
		fail_msg("%s", u->err.msg);
}

static void a_placed_file_goes_without_a_commit(void **state)
{
	struct unit *u = *state;
	struct txn *t = begin(u);
	unit_put(u, "r/pool/other", "");
	place(u, t, "pool/a/x", false);
	assert_string_equal(unit_read(u, unit_path(u, "r/pool/a/x")), "the file\n");
	txn_free(t);
	assert_string_equal(unit_sh(u, "cd r && find . | sort"), ".\n./pool\n./pool/other");
}

static void a_placed_file_stays_after_a_commit(void **state)
{
	struct unit *u = *state;
	struct txn *t = begin(u);
	place(u, t, "pool/a/x", false);
	place(u, t, "pool/a/y", true);
	assert_int_equal(txn_commit(t, &u->err), 0);
	txn_free(t);
	assert_string_equal(
	    unit_sh(
		u, "cat r/pool/a/x; test r/pool/a/y -ef from && stat -c %a r/pool/a/x; ls -A r"),
	    "the file\n644\npool");
}

static void a_taken_name_changes_at_the_commit(void **state)
{
	struct unit *u = *state;
	struct txn *t = begin(u);
	unit_put(u, "r/pool/x", "old");
	place(u, t, "pool/x", false);
	assert_string_equal(unit_read(u, unit_path(u, "r/pool/x")), "old");
	assert_int_equal(txn_commit(t, &u->err), 0);
	txn_free(t);
	assert_string_equal(unit_read(u, unit_path(u, "r/pool/x")), "the file\n");
}

static void what_is_taken_back_is_not_there(void **state)
{
	struct unit *u = *state;
	struct txn *t = begin(u);
	place(u, t, "pool/a/x", false);
	place(u, t, "pool/b/y", false);
	assert_int_equal(txn_put(t, 1, "z", "z", 1, &u->err), 0);
	assert_int_equal(txn_put(t, 1, "keep", "k", 1, &u->err), 0);
	txn_unstage(t, "pool/a/x");
	txn_unstage(t, "z");
	txn_unstage(t, "never");
	assert_int_equal(txn_commit(t, &u->err), 0);
	txn_free(t);
	assert_string_equal(unit_sh(u, "cd r && find . -type f | sort"), "./keep\n./pool/b/y");
}

static void a_name_outside_is_refused(void **state)
{
	struct unit *u = *state;
	struct txn *t = begin(u);
	assert_int_equal(txn_place(t, 0, "../x", unit_path(u, "from"), false, &u->err), -1);
	assert_int_equal(u->err.code, ERR_FORMAT);
	err_clear(&u->err);
	assert_int_equal(txn_place(t, 0, "x", unit_path(u, "nosuch"), false, &u->err), -1);
	txn_free(t);
}

static void further_names_are_the_same_file(void **state)
{
	struct unit *u = *state;
	struct txn *t = begin(u);
	unit_put(u, "r/there", "here\n");
	assert_int_equal(txn_put(t, 1, "x", "text\n", 5, &u->err), 0);
	assert_int_equal(txn_link_staged(t, 0, "by-hash/x", "x", &u->err), 0);
	assert_int_equal(txn_link(t, 0, "more", "there", &u->err), 0);
	assert_int_equal(txn_link_staged(t, 0, "y", "nosuch", &u->err), -1);
	assert_int_equal(txn_commit(t, &u->err), 0);
	txn_free(t);
	assert_string_equal(unit_sh(u, "cd r && cat x more; test x -ef by-hash/x && "
				       "test more -ef there && ls -A | tr '\\n' ' '"),
	    "text\nhere\nby-hash more there x ");
}

static void a_range_is_copied(void **state)
{
	struct unit *u = *state;
	static const size_t sizes[] = {0, 1, 65536, 65537, 300000};
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct txn *t = begin(u);
		unit_sh(u, "head -c 300010 /dev/urandom >big");
		int in = open(unit_path(u, "big"), O_RDONLY | O_CLOEXEC);
		int fd = txn_create(t, 0, "x", &u->err);
		assert_int_equal(txn_write(fd, "..", 2, "x", &u->err), 0);
		assert_int_equal(txn_write_range(fd, in, 5, sizes[i], "x", &u->err), 0);
		assert_int_equal(txn_write_range(fd, in, 300000, 11, "x", &u->err), -1);
		err_clear(&u->err);
		close(fd);
		close(in);
		assert_int_equal(txn_commit(t, &u->err), 0);
		txn_free(t);
		const char *same = arena_printf(&u->a,
		    "tail -c +3 r/x | head -c %zu | cmp - <(tail -c +6 big | head -c %zu) && "
		    "echo same",
		    sizes[i], sizes[i]);
		assert_string_equal(unit_sh(u, arena_printf(&u->a, "bash -c '%s'", same)), "same");
	}
}

struct many {
	const char *from;
	struct txn *t;
	int rc[200];
};

static void put_one(void *arg, size_t i)
{
	struct many *m = arg;
	struct err err;
	char name[20];
	snprintf(name, sizeof name, "f%zu", i);
	m->rc[i] = i % 2 ? txn_put(m->t, 0, name, name, strlen(name), &err)
			 : txn_place(m->t, 0, name, m->from, false, &err);
}

static void threads_stage_together(void **state)
{
	struct unit *u = *state;
	struct many m = {.t = begin(u), .from = unit_path(u, "from")};
	parallel_run(1, put_one, &m);
	parallel_run(ARRAY_SIZE(m.rc), put_one, &m);
	for (size_t i = 0; i < ARRAY_SIZE(m.rc); i++)
		assert_int_equal(m.rc[i], 0);
	assert_int_equal(txn_commit(m.t, &u->err), 0);
	txn_free(m.t);
	assert_string_equal(unit_sh(u, "ls r | wc -l; cat r/f7; cat r/f8"), "200\nf7the file");
	assert_true(txn_waited().n > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(a_placed_file_goes_without_a_commit),
	    CASE(a_placed_file_stays_after_a_commit),
	    CASE(a_taken_name_changes_at_the_commit),
	    CASE(what_is_taken_back_is_not_there),
	    CASE(a_name_outside_is_refused),
	    CASE(further_names_are_the_same_file),
	    CASE(a_range_is_copied),
	    CASE(threads_stage_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
