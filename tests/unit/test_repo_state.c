#include "unit.h"

#include "../../repo/state/pool.h"
#include "../../repo/state/state_index.h"

static struct state *open_state(struct unit *u, bool want_fresh)
{
	struct state *s;
	bool fresh;
	if (state_open(unit_path(u, "state.db"), &s, &fresh, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	assert_int_equal(fresh, want_fresh);
	assert_int_equal(state_begin(s, &u->err), 0);
	return s;
}

static int64_t put_deb(struct unit *u, struct state *s, const char *name, const char *version)
{
	struct pkg p = {.name = name,
	    .version = version,
	    .arch = "amd64",
	    .path = arena_printf(&u->a, "pool/%s_%s", name, version),
	    .size = 5};
	int64_t id;
	memset(p.sha256, 'a', SHA256_HEX - 1);
	assert_int_equal(state_put_deb(s, &p, &id, &u->err), 0);
	return id;
}

static void what_is_committed_stays(void **state)
{
	struct unit *u = *state;
	struct deb_row row;
	struct state *s = open_state(u, true);
	int64_t id = put_deb(u, s, "a", "1");
	assert_int_equal(state_commit(s, &u->err), 0);
	assert_int_equal(state_begin(s, &u->err), 0);
	put_deb(u, s, "b", "1");
	state_close(s); /* without a commit */
	s = open_state(u, false);
	assert_int_equal(state_find_deb(s, &u->a, "a", "1", "amd64", &row, &u->err), 1);
	assert_int_equal(row.id, id);
	assert_string_equal(row.path, "pool/a_1");
	assert_int_equal(state_find_deb(s, &u->a, "b", "1", "amd64", &row, &u->err), 0);
	state_close(s);
}

static void rubbish_is_made_afresh(void **state)
{
	struct unit *u = *state;
	unit_put(u, "state.db", "this is no database, but long enough to be taken for one\n");
	state_close(open_state(u, true));
	state_close(open_state(u, false));
	unit_sh(
	    u, "printf x | dd of=state.db bs=1 seek=3 conv=notrunc 2>/dev/null; rm -f state.db-*");
	state_close(open_state(u, true));
}

static void the_same_package_keeps_its_row(void **state)
{
	struct unit *u = *state;
	struct state *s = open_state(u, true);
	struct deb_row row;
	int64_t a = put_deb(u, s, "a", "1"), b = put_deb(u, s, "a", "2");
	assert_int_not_equal(a, b);
	assert_int_equal(put_deb(u, s, "a", "1"), a);
	assert_int_equal(state_find_twin(s, &u->a, "a", "pool/a_2", &row, &u->err), 1);
	assert_int_equal(row.id, b);
	assert_int_equal(state_find_twin(s, &u->a, "a", "pool/x", &row, &u->err), 0);
	state_close(s);
}

static void a_source_is_known_by_all_of_its_identity(void **state)
{
	struct unit *u = *state;
	struct state *s = open_state(u, true);
	struct ident i = {.dev = 1, .ino = 2, .size = 3, .mtime = 4}, other = i;
	int64_t id = put_deb(u, s, "a", "1"), found = 0;
	assert_int_equal(state_put_source(s, &i, id, &u->err), 0);
	assert_int_equal(state_find_source(s, &i, &found, &u->err), 1);
	assert_int_equal(found, id);
	other.mtime++;
	assert_int_equal(state_find_source(s, &other, &found, &u->err), 0);
	other = i;
	other.size++;
	assert_int_equal(state_find_source(s, &other, &found, &u->err), 0);
	state_close(s);
}

static int count(void *arg, const char *component, const struct deb_row *row, struct err *err)
{
	++*(int *)arg;
	assert_string_equal(component, "main");
	return 0;
}

static int count_listed(void *arg, const struct deb_row *row, bool listed, struct err *err)
{
	*(int *)arg += listed;
	return 0;
}

static void members_follow_their_suite(void **state)
{
	struct unit *u = *state;
	struct state *s = open_state(u, true);
	struct suite_row suite = {.generation = 1}, copy = {.generation = 1};
	struct index_row row;
	int64_t index, seq, deb = put_deb(u, s, "a", "1");
	assert_int_equal(state_put_suite(s, "stable", &suite, &u->err), 0);
	assert_int_equal(state_add_index(s, suite.id, "main", "amd64", &index, &u->err), 0);
	assert_int_equal(state_put_member(s, index, deb, 3, &u->err), 0);
	assert_int_equal(state_move_members(s, index, 3, 4, &u->err), 0);
	assert_int_equal(state_find_member(s, index, deb, &seq, &u->err), 1);
	assert_int_equal(seq, 4);

	assert_int_equal(state_find_index(s, &u->a, suite.id, "main", "amd64", &row, &u->err), 1);
	assert_true(row.stale);
	struct piece pieces[2] = {{.seq = 1, .size = {10, 4, 3}}, {.seq = 4, .size = {20, 5, 6}}};
	row.pieces = pieces;
	row.n_pieces = 2;
	row.files[FILE_GZ] = (struct ident){.ino = 9, .size = 9, .mtime = 9};
	assert_int_equal(state_put_index(s, &row, 0, &u->err), 0);

	assert_int_equal(state_put_suite(s, "snap", &copy, &u->err), 0);
	assert_int_equal(state_copy_suite(s, suite.id, copy.id, &u->err), 0);
	assert_int_equal(state_drop_suite(s, "stable", &u->err), 0);
	assert_int_equal(state_find_index(s, &u->a, suite.id, "main", "amd64", &row, &u->err), 0);
	assert_int_equal(state_find_index(s, &u->a, copy.id, "main", "amd64", &row, &u->err), 1);
	assert_false(row.stale);
	assert_int_equal(row.n_pieces, 2);
	assert_int_equal(row.pieces[1].seq, 4);
	assert_int_equal(row.pieces[1].offset[FILE_GZ], 4);
	assert_int_equal(row.files[FILE_GZ].ino, 9);

	int n = 0, listed = 0;
	assert_int_equal(state_each_member(s, copy.id, NULL, NULL, count, &n, &u->err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(state_each_deb(s, count_listed, &listed, &u->err), 0);
	assert_int_equal(listed, 1);
	state_close(s);
}

static void retired_names_come_back_once(void **state)
{
	struct unit *u = *state;
	_cleanup_(strv_done) struct strv paths = STRV_INIT;
	struct state *s = open_state(u, true);
	assert_int_equal(state_retire(s, 1, "old", 1, 100, &u->err), 0);
	assert_int_equal(state_retire(s, 1, "young", 1, 900, &u->err), 0);
	assert_int_equal(state_retire(s, 1, "recent", 5, 100, &u->err), 0);
	assert_int_equal(state_retire(s, 1, "again", 1, 100, &u->err), 0);
	assert_int_equal(state_unretire(s, 1, "again", &u->err), 0);
	assert_int_equal(state_take_retired(s, 1, 2, 500, &paths, &u->err), 0);
	assert_int_equal(paths.n, 1);
	assert_string_equal(paths.v[0], "old");
	assert_int_equal(state_take_retired(s, 1, 2, 500, &paths, &u->err), 0);
	assert_int_equal(paths.n, 1);
	assert_int_equal(state_retired(s, 1, &paths, &u->err), 0);
	assert_int_equal(paths.n, 3);
	state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(what_is_committed_stays),
	    CASE(rubbish_is_made_afresh),
	    CASE(the_same_package_keeps_its_row),
	    CASE(a_source_is_known_by_all_of_its_identity),
	    CASE(members_follow_their_suite),
	    CASE(retired_names_come_back_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
