#include "unit.h"

#include "../../repo/index/index_plan.h"

/*
 * A plan as text: for each job "keep" or "make", its sequence number, how many old pieces and how
 * many additions go into it.
 */
static const char *plan(struct unit *u, const size_t *old_sizes, size_t n_old,
    const int64_t *removed, size_t n_removed, size_t add_size, size_t n_adds, bool stale)
{
	struct piece pieces[16] = {0};
	struct pkg adds[64] = {0};
	struct piece_removal removals[16] = {0};
	struct index_row row = {.stale = stale, .pieces = pieces, .n_pieces = n_old};
	struct index_change c = {
	    .adds = adds, .n_adds = n_adds, .removals = removals, .n_removals = n_removed};
	for (size_t i = 0; i < n_old; i++)
		pieces[i] = (struct piece){.seq = (int64_t)i + 1, .size = {old_sizes[i]}};
	for (size_t i = 0; i < n_removed; i++)
		removals[i].seq = removed[i];
	for (size_t i = 0; i < n_adds; i++)
		adds[i].text_len = add_size - 1;
	_cleanup_(buf_done) struct buf b = BUF_INIT(4096);
	size_t n;
	_free_ struct piece_job *jobs = index_plan(&row, &c, &n);
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s %d old %zu add %zu", i ? ", " : "",
		    jobs[i].keep ? "keep" : "make", (int)jobs[i].seq, jobs[i].n_old,
		    jobs[i].n_adds);
	return arena_strdup(&u->a, buf_str(&b));
}

#define KB ((size_t)1 << 10)

static void an_empty_index_has_one_piece(void **state)
{
	assert_string_equal(plan(*state, NULL, 0, NULL, 0, 0, 0, true), "make 1 old 0 add 0");
	assert_string_equal(plan(*state, NULL, 0, NULL, 0, 0, 0, false), "make 1 old 0 add 0");
}

static void a_first_publish_fills_pieces(void **state)
{
	assert_string_equal(plan(*state, NULL, 0, NULL, 0, 400 * KB, 5, true),
	    "make 1 old 0 add 2, make 2 old 0 add 2, make 3 old 0 add 1");
}

static void one_more_touches_the_last_piece_only(void **state)
{
	static const size_t old[] = {1000 * KB, 1000 * KB, 300 * KB};
	assert_string_equal(plan(*state, old, 3, NULL, 0, 1 * KB, 1, false),
	    "keep 1 old 1 add 0, keep 2 old 1 add 0, make 3 old 1 add 1");
}

static void a_full_piece_is_left_alone(void **state)
{
	static const size_t old[] = {1000 * KB, 1024 * KB};
	assert_string_equal(plan(*state, old, 2, NULL, 0, 1 * KB, 1, false),
	    "keep 1 old 1 add 0, keep 2 old 1 add 0, make 3 old 0 add 1");
}

static void a_removal_makes_its_piece_anew(void **state)
{
	static const size_t old[] = {1000 * KB, 1000 * KB, 1000 * KB};
	static const int64_t removed[] = {2};
	assert_string_equal(plan(*state, old, 3, removed, 1, 0, 0, false),
	    "keep 1 old 1 add 0, make 2 old 1 add 0, keep 3 old 1 add 0");
}

static void small_pieces_join_a_changed_neighbour(void **state)
{
	static const size_t old[] = {1000 * KB, 100 * KB, 200 * KB, 300 * KB, 1000 * KB};
	static const int64_t removed[] = {3};
	assert_string_equal(plan(*state, old, 5, removed, 1, 0, 0, false),
	    "keep 1 old 1 add 0, make 2 old 3 add 0, keep 5 old 1 add 0");
}

static void a_stale_index_begins_anew(void **state)
{
	static const size_t old[] = {1000 * KB};
	assert_string_equal(plan(*state, old, 1, NULL, 0, 10 * KB, 3, true), "make 1 old 0 add 3");
}

static void a_huge_stanza_has_a_piece_of_its_own(void **state)
{
	assert_string_equal(plan(*state, NULL, 0, NULL, 0, 3000 * KB, 2, true),
	    "make 1 old 0 add 1, make 2 old 0 add 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(an_empty_index_has_one_piece),
	    CASE(a_first_publish_fills_pieces),
	    CASE(one_more_touches_the_last_piece_only),
	    CASE(a_full_piece_is_left_alone),
	    CASE(a_removal_makes_its_piece_anew),
	    CASE(small_pieces_join_a_changed_neighbour),
	    CASE(a_stale_index_begins_anew),
	    CASE(a_huge_stanza_has_a_piece_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
