#include "unit.h"

#include "../../debbuild/plan/cost.h"
#include "../../debbuild/plan/plan.h"
#include "../../debbuild/plan/step_cost.h"

/*
 * Schedules by hand. Steps a (3 s), b (2 s), c (2 s), d of a and b (4 s), e of c (1 s), f of d and
 *e (1 s): 1 core	 a b c d e f			     13 s
 *	2 cores	 a 0-3, b 0-2, c 2-4, d 3-7, e 4-5, f 7-8 8 s
 *	3 cores	 a 0-3, b 0-2, c 0-2, e 2-3, d 3-7, f 7-8 8 s, the longest path
 */
static char *no_in[] = {NULL};
static char *ab[] = {"a", "b", NULL}, *c_only[] = {"c", NULL}, *de[] = {"d", "e", "other", NULL};
static struct plan_step steps[] = {
    {.name = "a", .out = "a", .in = no_in, .key = "ka"},
    {.name = "b", .out = "b", .in = no_in, .key = "kb"},
    {.name = "c", .out = "c", .in = no_in, .key = "kc"},
    {.name = "d", .out = "d", .in = ab, .key = "kd"},
    {.name = "e", .out = "e", .in = c_only, .key = "ke"},
    {.name = "f", .out = "f", .in = de, .key = "kf"},
};
static const double seconds[] = {3, 2, 2, 4, 1, 1};
static const struct plan graph = {.steps = steps, .n_steps = ARRAY_SIZE(steps)};

static void longest_path_is_that_of_the_graph(void **state)
{
	size_t path[ARRAY_SIZE(steps)], n;
	const size_t want[] = {0, 3, 5};
	assert_true(cost_longest_path(&graph, seconds, path, &n) == 8);
	assert_int_equal(n, ARRAY_SIZE(want));
	assert_memory_equal(path, want, sizeof want);
	struct plan none = {.steps = steps};
	assert_true(cost_longest_path(&none, seconds, path, &n) == 0);
	assert_int_equal(n, 0);
}

static void schedules_are_those_made_by_hand(void **state)
{
	static const struct {
		unsigned cores;
		double wall;
		double starts[ARRAY_SIZE(steps)];
	} cases[] = {{1, 13, {0, 3, 5, 7, 11, 12}}, {2, 8, {0, 0, 2, 3, 4, 7}},
	    {3, 8, {0, 0, 0, 3, 2, 7}}, {1000, 8, {0, 0, 0, 3, 2, 7}}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double starts[ARRAY_SIZE(steps)];
		assert_true(
		    cost_schedule(&graph, seconds, cases[i].cores, starts) == cases[i].wall);
		assert_memory_equal(starts, cases[i].starts, sizeof starts);
	}
}

/* Steps without duration free what needs them at the same instant. */
static void steps_of_no_time_do_not_stop_it(void **state)
{
	static const double some[] = {0, 0, 2, 0, 0, 3}, none[ARRAY_SIZE(steps)] = {0};
	double starts[ARRAY_SIZE(steps)];
	const double want[] = {0, 0, 0, 2, 2, 2};
	assert_true(cost_schedule(&graph, some, 1, starts) == 5);
	assert_memory_equal(starts, want, sizeof want);
	assert_true(cost_schedule(&graph, none, 2, NULL) == 0);
	struct plan empty = {.steps = steps};
	assert_true(cost_schedule(&empty, some, 2, NULL) == 0);
}

/* A long step that comes late in the plan: a list schedule is not the best one, and says so. */
static void order_is_that_of_the_plan(void **state)
{
	static struct plan_step loose[] = {{.name = "x", .out = "x", .in = no_in},
	    {.name = "y", .out = "y", .in = no_in}, {.name = "z", .out = "z", .in = no_in}};
	static const double late[] = {1, 1, 3};
	struct plan p = {.steps = loose, .n_steps = 3};
	assert_true(cost_schedule(&p, late, 2, NULL) == 4);
}

static void clusters_are_read(void **state)
{
	struct unit *u = *state;
	struct cost_cluster c;
	assert_int_equal(cost_parse_cluster("10x16", &c, &u->err), 0);
	assert_true(c.nodes == 10 && c.cores == 16);
	static const char *const bad[] = {
	    "", "x", "10", "10x", "x16", "0x4", "4x0", "2x2x2", "-1x2"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(cost_parse_cluster(bad[i], &c, &u->err), -1);
		assert_int_equal(u->err.code, ERR_USAGE);
	}
}

static void record(
    struct unit *u, const char *key, const char *name, double cpu, unsigned rss, unsigned bytes)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(4096);
	step_record_write(
	    &(struct step_record){
		.name = name, .sha256 = "00", .cpu_s = cpu, .max_rss = rss, .bytes = bytes},
	    &b);
	const char *file = arena_printf(&u->a, "%s/objects/%.2s/%s.cost", u->dir, key, key);
	assert_int_equal(path_mkdirs_for(file, &u->err), 0);
	FILE *f = fopen(file, "we");
	assert_non_null(f);
	fputs(buf_str(&b), f);
	fclose(f);
}

static void estimates_come_from_the_table(void **state)
{
	struct unit *u = *state;
	static struct plan_step s[] = {{.name = "binding torch 2.10 Python 3.13t, x.cpp",
					   .in = no_in,
					   .key = "aa1",
					   .cpu_s = 9},
	    {.name = "binding torch 2.9 Python 3.11, x.cpp", .in = no_in, .key = "aa2", .cpu_s = 9},
	    {.name = "link it", .in = no_in, .key = "bb3", .cpu_s = 0.5},
	    {.name = "nvcc y.cu",
		.kind = STEP_NVCC,
		.in = no_in,
		.key = "cc4",
		.cpu_s = 70,
		.heavy = true}};
	struct plan p = {.steps = s, .n_steps = ARRAY_SIZE(s), .heavy_bytes = 4000};
	struct step_estimate *e;
	record(u, "aa2", s[1].name, 21, 500, 30);
	record(u, "ee5", "binding torch 2.8 Python 3.12, x.cpp", 25, 400, 40);
	record(u, "ee6", "binding torch 2.8 Python 3.12, z.cpp", 99, 999, 99);
	record(u, "ee7", "nvcc y.cu", 500, 1, 1);
	assert_int_equal(cost_estimate(&u->a, &p, unit_path(u, "objects"), &e, &u->err), 0);
	assert_true(e[0].source == COST_ALIKE && e[0].cpu_s == 25 && e[0].max_rss == 500 &&
		    e[0].bytes == 40);
	assert_true(e[1].source == COST_MEASURED && e[1].cpu_s == 21 && e[1].bytes == 30);
	assert_true(e[2].source == COST_TYPICAL && e[2].cpu_s == 0.5);
	assert_true(e[3].source == COST_TYPICAL && e[3].cpu_s == 70 && e[3].max_rss == 4000);
	assert_int_equal(cost_estimate(&u->a, &p, unit_path(u, "absent"), &e, &u->err), 0);
	assert_true(e[1].source == COST_TYPICAL && e[1].cpu_s == 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(longest_path_is_that_of_the_graph),
	    CASE(schedules_are_those_made_by_hand),
	    CASE(steps_of_no_time_do_not_stop_it),
	    CASE(order_is_that_of_the_plan),
	    CASE(clusters_are_read),
	    CASE(estimates_come_from_the_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
