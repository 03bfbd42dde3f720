#include "unit.h"

#include "../../debbuild/cells/built.h"
#include "../../debbuild/cells/cells.h"
#include "../../debbuild/data/lockfile.h"
#include "../../debbuild/data/matrix.h"
#include "../../debbuild/data/recipe.h"
#include "../../debbuild/data/states.h"

/* The made-up templates with a gap, a package for CUDA 12.8, and what was seen of it. */
struct world {
	struct recipe recipe;
	struct matrix matrix;
	struct lockfile lock;
	struct states states;
	struct built built;
	struct cells_data data;
};

static char *proved_210[] = {"2.10", "2.11", NULL};
static char *proved_28[] = {"2.8", NULL};
static struct built_binding bindings[] = {
    {.file = "torch2.8-cp311.so", .python = "3.11", .torch = "2.8", .proved = proved_28},
    {.file = "torch2.10-cp311.so", .python = "3.11", .torch = "2.10", .proved = proved_210},
    {.file = "torch2.10-cp312.so", .python = "3.12", .torch = "2.10", .proved = proved_210}};
static struct built_package packages[] = {{.path = "out/demo_cu128.deb",
    .cuda = "12.8",
    .archs = "9.0 9.0+PTX",
    .v = bindings,
    .n = ARRAY_SIZE(bindings)}};

#define FACT(s, v, t, p, text)                                                                     \
	{                                                                                          \
		.state = s, .recipe = "demo-conv", .version = v, .torch = t, .cuda = "12.8",       \
		.python = p, .note = text                                                          \
	}
static struct state_fact facts[] = {FACT("imported", "1.2.3-1", "2.10", "3.11", NULL),
    FACT("gpu", "1.2.3-1", "2.8", "3.11", "H200, <forward> & backward"),
    FACT("imported", "1.2.2-1", "2.10", "3.12", "an older package")};

static struct world *make(struct unit *u)
{
	struct world *w = arena_alloc(&u->a, sizeof *w);
	_free_ char *cwd = getcwd(NULL, 0);
	const char *t = unit_path(u, "t");
	unit_sh(u, arena_printf(&u->a,
		       "cp -r '%s/tests/data/templates' t && printf '\\nGap: 12.8\\nTorch-From: "
		       "2.12\\nReason: no such build\\n' >>t/matrix",
		       cwd));
	if (recipe_load(&u->a, t, "demo-conv", &w->recipe, &u->err) < 0 ||
	    matrix_load(&u->a, t, &w->matrix, &u->err) < 0 ||
	    lockfile_load(&u->a, arena_printf(&u->a, "%s/lock", t), &w->lock, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	w->built = (struct built){packages, ARRAY_SIZE(packages)};
	w->states = (struct states){facts, ARRAY_SIZE(facts)};
	w->data = (struct cells_data){&w->recipe, &w->matrix, &w->lock, &w->states, &w->built};
	return w;
}

static void printed_forms(void **state)
{
	static const struct {
		const char *golden;
		void (*print)(const struct cells *c, struct buf *out);
	} forms[] = {{"matrix.txt", cells_print}, {"matrix.json", cells_print_json},
	    {"matrix.html", cells_print_html}};
	struct unit *u = *state;
	struct world *w = make(u);
	struct cells c;
	cells_make(&u->a, &w->data, NULL, &c);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		_cleanup_(buf_done) struct buf out = BUF_INIT(UNIT_FILE_MAX);
		forms[i].print(&c, &out);
		unit_golden(u, forms[i].golden, &out);
	}
}

static void for_the_pages_of_a_repository(void **state)
{
	struct unit *u = *state;
	struct world *w = make(u);
	struct cells c;
	_cleanup_(buf_done) struct buf tables = BUF_INIT(UNIT_FILE_MAX);
	_cleanup_(buf_done) struct buf choice = BUF_INIT(UNIT_FILE_MAX);
	cells_make(&u->a, &w->data, NULL, &c);
	cells_print_tables(&c, &w->matrix, &tables);
	cells_print_choice(&u->a, &c, 1, NULL, &w->matrix, &choice);
	unit_golden(u, "matrix-tables.html", &tables);
	unit_golden(u, "matrix-choice.json", &choice);
	unit_put(u, "choice.json", buf_str(&choice));
	assert_string_equal(
	    unit_sh(u, "python3 -c 'import json; d = json.load(open(\"choice.json\")); "
		       "c = d[\"choices\"][0]; print(len(c[\"cells\"]), c[\"packages\"])'"),
	    arena_printf(&u->a, "%zu {'12.8': 'demo'}", c.n));
}

/* A library of Triton kernels, a metapackage over it and another, and one from another suite. */
static void kernels_beside_bindings(void **state)
{
	struct unit *u = *state;
	struct world *w = make(u);
	struct cells both[2], *c = &both[1];
	_cleanup_(buf_done) struct buf out = BUF_INIT(UNIT_FILE_MAX);
	_cleanup_(strv_done) struct strv cudas = STRV_INIT;
	char *tritons[] = {"3.6.0", NULL}, *pythons[] = {"3.11", "3.12", NULL};
	struct built_package kernels = {.path = "python3-fla-cu128_1-1_amd64.deb",
	    .cuda = "12.8",
	    .archs = "9.0",
	    .version = "1-1",
	    .tritons = tritons,
	    .pythons = pythons,
	    .suite = "testing"};
	struct built bindings_too = w->built;
	struct cells_data other = w->data;
	other.built = &bindings_too;
	cells_make(&u->a, &other, NULL, &both[0]);
	w->built = (struct built){&kernels, 1};
	/* Facts are of the package's version, whatever the recipe would build. */
	struct state_fact fact = {"rebuilt", "demo-conv", "1-1", "2.10", "12.8", "3.11", NULL};
	w->states = (struct states){&fact, 1};
	cells_make(&u->a, &w->data, NULL, c);
	for (size_t i = 0; i < c->n; i++) {
		const struct cell *x = &c->v[i];
		bool there = !strcmp(x->cuda, "12.8") &&
			     ((!strcmp(x->torch, "2.10") &&
				  strv_has(&(struct strv){pythons, 2}, x->python)) ||
				 (!strcmp(x->torch, "2.11") && !strcmp(x->python, "3.11")));
		bool again = there && !strcmp(x->torch, "2.10") && !strcmp(x->python, "3.11");
		assert_int_equal(x->facts != 0, there);
		assert_int_equal((x->facts & CELL_REBUILT) != 0, again);
	}
	strv_add(&cudas, "12.8");
	struct cells_meta meta = {"both", &cudas};
	cells_print_choice(&u->a, both, 2, &meta, &w->matrix, &out);
	unit_put(u, "choice.json", buf_str(&out));
	assert_string_equal(
	    unit_sh(u, "python3 -c 'import json; c = json.load(open(\"choice.json\"))"
		       "[\"choices\"]; print(len(c), c[1][\"suites\"], c[2][\"needs\"], "
		       "c[2][\"packages\"])'"),
	    "3 {'12.8': 'testing'} [0, 1] {'12.8': 'python3-both-cu128'}");
}

static void one_cuda_alone(void **state)
{
	struct unit *u = *state;
	struct world *w = make(u);
	struct cells c;
	cells_make(&u->a, &w->data, "13.0", &c);
	assert_string_equal(c.cudas[0], "13.0");
	assert_null(c.cudas[1]);
	for (size_t i = 0; i < c.n; i++)
		assert_string_equal(c.v[i].cuda, "13.0");
	/* Every torch and Python of the matrix all the same. */
	assert_int_equal(c.n, 5 * 5);
}

static void every_state_and_reason(void **state)
{
	static const struct {
		const char *torch, *cuda, *python, *state, *why, *binding;
	} want[] = {{"2.8", "12.8", "3.11", "gpu", "", "torch2.8-cp311.so"},
	    {"2.10", "12.8", "3.11", "imported", "", "torch2.10-cp311.so"},
	    {"2.10", "12.8", "3.12", "proved", "", "torch2.10-cp312.so"},
	    {"2.11", "12.8", "3.11", "proved", "", "torch2.10-cp311.so"},
	    {"2.8", "12.8", "3.10", "empty", "not-built", NULL},
	    {"2.8", "12.8", "3.13", "empty", "no-python", NULL},
	    {"2.10", "12.8", "3.13", "empty", "not-pinned", NULL},
	    {"2.12", "12.8", "3.11", "empty", "no-pair", NULL},
	    {"2.10", "13.0", "3.11", "empty", "no-pair", NULL}};
	struct unit *u = *state;
	struct world *w = make(u);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		struct cell c =
		    cells_one(&u->a, &w->data, want[i].torch, want[i].cuda, want[i].python);
		assert_string_equal(cell_state(&c), want[i].state);
		assert_string_equal(cell_why_name(c.why), want[i].why);
		assert_true(str_eq(c.binding, want[i].binding));
		assert_int_equal(c.facts == 0, *c.reason != '\0');
	}
}

static void index_that_was_not_reached(void **state)
{
	struct unit *u = *state;
	struct world *w = make(u);
	w->lock.n = 1;
	w->built.n = 0;
	struct cell c = cells_one(&u->a, &w->data, "2.11", "12.8", "3.11");
	assert_int_equal(c.why, CELL_NO_INDEX);
	assert_non_null(strstr(c.reason, "https://torch.example/whl/cu128"));
}

static void sentences(void **state)
{
	static const char *const pairs[][2] = {{"2.8", "12.8"}, {"2.10", "12.8"}, {"2.11", "12.8"},
	    {"2.12", "12.8"}, {"2.10", "13.0"}, {"2.12", "13.0"}, {"1.13", "11.1"}};
	static const char *const pythons[] = {"3.10", "3.11", "3.12", "3.13", "3.14"};
	struct unit *u = *state;
	struct world *w = make(u);
	_cleanup_(buf_done) struct buf out = BUF_INIT(UNIT_FILE_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct cell v[ARRAY_SIZE(pythons)];
		for (size_t k = 0; k < ARRAY_SIZE(pythons); k++)
			v[k] = cells_one(&u->a, &w->data, pairs[i][0], pairs[i][1], pythons[k]);
		cells_explain(&u->a, &w->data, v, ARRAY_SIZE(v), &out);
	}
	unit_golden(u, "why.txt", &out);
}

static void nearest_pairs(void **state)
{
	struct unit *u = *state;
	struct world *w = make(u);
	assert_string_equal(cells_nearest(&u->a, &w->matrix, "2.9", "12.8"),
	    "torch 2.8 for CUDA 12.8, torch 2.10 for CUDA 12.8");
	assert_string_equal(cells_nearest(&u->a, &w->matrix, "2.12", "12.8"),
	    "torch 2.11 for CUDA 12.8, torch 2.12 for CUDA 13.0");
	assert_string_equal(cells_nearest(&u->a, &w->matrix, "1.0", "9.0"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(printed_forms),
	    CASE(for_the_pages_of_a_repository),
	    CASE(kernels_beside_bindings),
	    CASE(one_cuda_alone),
	    CASE(every_state_and_reason),
	    CASE(index_that_was_not_reached),
	    CASE(sentences),
	    CASE(nearest_pairs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
