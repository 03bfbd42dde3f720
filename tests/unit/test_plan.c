#include "planinputs.h"

static struct inputs *load(struct unit *u)
{
	struct inputs *in = arena_alloc(&u->a, sizeof *in);
	if (recipe_load(&u->a, TEMPLATES, "demo-conv", &in->recipe, &u->err) < 0 ||
	    matrix_load(&u->a, TEMPLATES, &in->matrix, &u->err) < 0 ||
	    lockfile_load(&u->a, TEMPLATES "/lock", &in->lock, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	planhost_clang(&in->host);
	in->sel.cuda = "12.8";
	return in;
}

static void steps_come_after_what_they_need(void **state)
{
	struct unit *u = *state;
	struct inputs *in = load(u);
	for (int route = 0; route < 2; route++) {
		struct plan p = make(u, in);
		for (size_t i = 0; i < p.n_steps; i++) {
			const struct plan_step *s = &p.steps[i];
			assert_ptr_equal(step_of(&p, s->out), s);
			assert_int_equal(strlen(s->key), SHA256_HEX - 1);
			for (size_t k = 0; k < i; k++)
				assert_string_not_equal(p.steps[k].key, s->key);
			for (char **need = s->in; *need; need++) {
				const struct plan_step *maker = step_of(&p, *need);
				assert_true(maker && maker < s);
			}
		}
		planhost_nvcc(&in->host);
	}
}

#define DEVICE	 "ptx 4, cubin 4, fatbin 2, host 2, "
#define LINKS	 "link-kernels 1, link-binding 5"
#define BINDINGS "binding 10, "

static char *other_words[] = {"-fother", NULL};
static struct host_python other_pythons[ARRAY_SIZE(planhost_pythons)];

/* Each changes one thing and says which keys follow. */
static const char *change(struct inputs *in, unsigned what)
{
	memcpy(other_pythons, planhost_pythons, sizeof other_pythons);
	switch (what) {
	case 0:
		in->host.memory = in->host.cpus = in->sel.jobs = 1;
		return "";
	case 1:
		other_pythons[0].include = "/elsewhere";
		in->host.pythons = other_pythons;
		in->sel.keyring_version = "1";
		return "";
	case 2:
		in->host.compiler = "clang 23";
		return DEVICE LINKS;
	case 3:
		in->host.support_id = "other";
		return DEVICE BINDINGS LINKS;
	case 4:
		in->host.cxx_id = "g++ 13";
		return "stub 2, " BINDINGS LINKS;
	case 5:
		in->host.cxx_flags = other_words;
		return BINDINGS "link-binding 5";
	case 6:
		in->host.ld_flags = other_words;
		return LINKS;
	case 7:
		other_pythons[1].id = "other";
		in->host.pythons = other_pythons;
		return "binding 4, link-binding 2";
	case 8:
		in->recipe.clang_flags = other_words;
		return DEVICE LINKS;
	case 9:
		set_hash(in, "demo_conv-");
		return DEVICE BINDINGS LINKS;
	case 10:
		set_hash(in, "torch-2.10.0-");
		return "binding 4, link-binding 2";
	case 11:
		set_hash(in, "torch-2.11.0-"); /* the wheel for CUDA 13.0 */
		return "";
	case 12:
		set_hash(in, "demo_nvcc-13");
		return DEVICE LINKS;
	case 13:
		set_hash(in, "demo_runtime_cu12-");
		return DEVICE BINDINGS LINKS;
	default:
		return NULL;
	}
}

static void keys_follow_what_goes_in(void **state)
{
	struct unit *u = *state;
	struct plan before = make(u, load(u));
	const char *want;
	for (unsigned i = 0;; i++) {
		struct inputs *in = load(u);
		if (!(want = change(in, i)))
			break;
		struct plan after = make(u, in);
		print_message("change %u\n", i);
		assert_string_equal(difference(u, &before, &after), want);
	}
}

/* What the matrix is cheap by: another arch, torch or Python leaves what was there alone. */
static void widening_compiles_only_what_is_new(void **state)
{
	struct unit *u = *state;
	_cleanup_(strv_done) struct strv torch = STRV_INIT, python = STRV_INIT, archs = STRV_INIT;
	struct inputs *in = load(u);
	struct plan all = make(u, in);
	strv_add(&torch, "2.8");
	strv_add(&python, "3.11");
	in->sel.torches = &torch;
	in->sel.pythons = &python;
	struct plan one = make(u, in);
	assert_int_equal(one.n_bindings, 1);
	assert_string_equal(difference(u, &one, &all), "");
	strv_split(&archs, "8.0 9.0 10.0", " ");
	in->sel.archs = &archs;
	struct plan wide = make(u, in);
	assert_string_equal(
	    difference(u, &one, &wide), "fatbin 2, host 2, link-kernels 1, link-binding 1");
}

static void device_code_is_free_of_torch_and_python(void **state)
{
	struct unit *u = *state;
	struct plan p = make(u, load(u));
	for (size_t i = 0; i < p.n_steps; i++)
		for (char **w = p.steps[i].argv; p.steps[i].kind < STEP_BINDING && *w; w++)
			if (strstr(*w, "sdk/2.") || strstr(*w, "py/"))
				fail_msg("step '%s' has '%s'", p.steps[i].name, *w);
}

static void wheels_are_found_by_their_tags(void **state)
{
	static const char *const cases[][4] = {
	    {"torch", "2.8.0", "cp310", "torch-2.8.0-cp310-cp310"},
	    {"torch", "2.8.0", "cp311", "torch-2.8.0-cp311-cp311"},
	    {"torch", "2.8.0", "cp313t", "torch-2.8.0-cp313-cp313t"},
	    {"torch", "2.8.0", "cp313", NULL}, {"torch", "2.8.0", "cp3", NULL},
	    {"torch", "2.10.0", "cp312", "torch-2.10.0-3-cp312"}, {"torch", "2.10", "cp312", NULL},
	    {"torch", "2.11.0", "cp311", "torch-2.11.0-cp311"},
	    {"torch", "2.11.0+cu128", "cp311", "torch-2.11.0+cu128-cp311"},
	    {"torch", "3", "cp312", NULL}, {"demo-nvcc", "13.0.88", NULL, "demo_nvcc-13.0.88-py3"},
	    {"demo-nvcc", "13.0", NULL, NULL}, {"demo_nvcc", "13.0.88", NULL, NULL},
	    {"demo-conv", "1.2.3.tar.gz", NULL, NULL}};
	struct unit *u = *state;
	struct inputs *in = load(u);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct lock_entry *e =
		    lockfile_wheel(&in->lock, cases[i][0], cases[i][1], cases[i][2]);
		if (!cases[i][3])
			assert_null(e);
		else
			assert_true(e && str_starts(e->file, cases[i][3]));
	}
	const struct lock_entry *e = lockfile_find(&in->lock, "demo_conv-1.2.3.tar.gz");
	assert_true(e && e->size == 1022 && !e->record_sha256 && !e->index);
	assert_null(lockfile_find(&in->lock, "demo_conv"));
}

static void matrix_answers_by_version_or_minor(void **state)
{
	struct unit *u = *state;
	struct inputs *in = load(u);
	const struct torch_release *t = matrix_torch(&in->matrix, "2.10", "12.8");
	assert_ptr_equal(matrix_torch(&in->matrix, "2.10.0", "12.8"), t);
	assert_string_equal(t->minor, "2.10");
	assert_null(matrix_torch(&in->matrix, "2.1", "12.8"));
	assert_null(matrix_torch(&in->matrix, "2.10", "13.0"));
	assert_string_equal(matrix_torch(&in->matrix, "2.11", "13.0")->cxx, "20");
	assert_string_equal(matrix_toolkit(&in->matrix, "13.0")->route, "nvcc");
	assert_null(matrix_toolkit(&in->matrix, "12.9"));
	assert_true(matrix_compare("12.8", "12.10") < 0 && matrix_compare("9.0", "10.0") < 0);
	assert_true(matrix_compare("13.0", "12.8") > 0 && matrix_compare("12.8", "12.8") == 0);
	assert_true(recipe_is_slow(&in->recipe, "csrc/demo_bwd.cu"));
	assert_false(recipe_is_slow(&in->recipe, "csrc/demo_fwd.cu"));
	assert_string_equal(in->matrix.archs[3].sm, "100");
}

/* The templates that ship are good, and each of their pinned CUDAs has a plan. */
static void shipped_templates_give_plans(void **state)
{
	static const char *const cudas[] = {"12.8", "13.0", "13.2"};
	struct unit *u = *state;
	struct inputs in = {.sel = {.cuda = ""}};
	if (recipe_load(&u->a, "templates", "causal-conv1d", &in.recipe, &u->err) < 0 ||
	    matrix_load(&u->a, "templates", &in.matrix, &u->err) < 0 ||
	    lockfile_load(&u->a, "templates/lock", &in.lock, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	for (size_t i = 0; i < ARRAY_SIZE(cudas); i++) {
		planhost_clang(&in.host);
		if (str_eq(matrix_toolkit(&in.matrix, cudas[i])->route, "nvcc"))
			planhost_nvcc(&in.host);
		in.sel.cuda = cudas[i];
		struct plan p = make(u, &in);
		assert_true(p.n_bindings > 0 && p.n_archs > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(steps_come_after_what_they_need),
	    CASE(keys_follow_what_goes_in),
	    CASE(widening_compiles_only_what_is_new),
	    CASE(device_code_is_free_of_torch_and_python),
	    CASE(wheels_are_found_by_their_tags),
	    CASE(matrix_answers_by_version_or_minor),
	    CASE(shipped_templates_give_plans),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
