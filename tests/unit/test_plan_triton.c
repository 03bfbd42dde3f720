/* Plans of Triton kernels: which keys follow what goes in, and what is left when a step fails. */
#include "planinputs.h"

static struct inputs *load(struct unit *u)
{
	struct inputs *in = arena_alloc(&u->a, sizeof *in);
	const char *lock = unit_put(u, "lock",
	    arena_printf(&u->a, "%s%s", unit_read(u, TEMPLATES "/lock"),
		unit_read(u, TEMPLATES "/demo-fla/lock")));
	if (recipe_load(&u->a, TEMPLATES, "demo-fla", &in->recipe, &u->err) < 0 ||
	    matrix_load(&u->a, TEMPLATES, &in->matrix, &u->err) < 0 ||
	    lockfile_load(&u->a, lock, &in->lock, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	planhost_clang(&in->host);
	in->sel.cuda = "12.8";
	return in;
}

static struct host_python other_pythons[ARRAY_SIZE(planhost_pythons)];

/* Each changes one thing and says which keys follow. */
static const char *change(struct inputs *in, unsigned what)
{
	memcpy(other_pythons, planhost_pythons, sizeof other_pythons);
	switch (what) {
	case 0: /* the machine, and the Python and torch with which it compiles */
		in->host.memory = in->host.cpus = in->sel.jobs = 1;
		in->host.compiler = "another";
		in->host.python = "3.12";
		in->recipe.torch = "2.10.0";
		return "";
	case 1:
		in->host.kernels_id = "other";
		return "kernels 8, store 2";
	case 2:
		in->recipe.profile_ids[0] = "other";
		return "kernels 4, store 2";
	case 3:
		set_hash(in, "demo_fla-");
		return "kernels 8, store 2";
	case 4:
		set_hash(in, "demo_layers-");
		return "";
	case 5:
		set_hash(in, "demo_helper-");
		return "";
	case 6:
		set_hash(in, "triton-3.6.0-");
		return "kernels 4, store 1";
	case 7:
		set_hash(in, "triton-3.4.0-cp312");
		return "store 1";
	case 8:
		other_pythons[1].id = "other";
		in->host.pythons = other_pythons;
		return "store 2";
	case 9:
		in->host.cxx_id = "g++ 13";
		return "stub 1, store 2";
	case 10: /* where Python.h lies */
		other_pythons[1].include = "/elsewhere";
		in->host.pythons = other_pythons;
		return "";
	case 11: /* the program that makes stores */
		in->host.support_id = "other";
		return "store 2";
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

/* Triton brings its own ptxas: kernels are compiled once for all CUDAs, Pythons and profiles. */
static void kernels_are_shared(void **state)
{
	struct unit *u = *state;
	_cleanup_(strv_done) struct strv python = STRV_INIT, profile = STRV_INIT, arch = STRV_INIT;
	struct inputs *in = load(u);
	struct plan all = make(u, in);
	in->sel.cuda = "13.0";
	struct plan other = make(u, in);
	assert_non_null(step_of(&other, "triton-3.6.0/large-sm_90.kernels"));
	assert_string_equal(difference(u, &all, &other), "store 1"); /* of fewer Pythons */
	in->sel.cuda = "12.8";
	strv_add(&python, "3.11");
	in->sel.pythons = &python;
	struct plan narrow = make(u, in);
	assert_string_equal(difference(u, &narrow, &other), "");
	strv_add(&profile, "large");
	strv_add(&arch, "9.0");
	in->sel.profiles = &profile;
	in->sel.archs = &arch;
	struct plan one = make(u, in);
	assert_int_equal(one.n_steps, 5);
	assert_string_equal(difference(u, &one, &narrow), "store 2");
}

static void steps_come_after_what_they_need(void **state)
{
	struct unit *u = *state;
	struct plan p = make(u, load(u));
	for (size_t i = 0; i < p.n_steps; i++) {
		const struct plan_step *s = &p.steps[i];
		assert_int_equal(strlen(s->key), SHA256_HEX - 1);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(p.steps[k].key, s->key);
		for (char **need = s->in; *need; need++) {
			const struct plan_step *maker = step_of(&p, *need);
			assert_true(maker && maker < s);
		}
	}
}

static void undo(const struct plan *p, bool *undone, const char *out)
{
	for (size_t i = 0; i < p->n_steps; i++)
		undone[i] |= str_eq(p->steps[i].out, out);
}

static void failed_triton_is_left_out(void **state)
{
	struct unit *u = *state;
	struct plan p = make(u, load(u)), rest;
	bool undone[32] = {false};
	undo(&p, undone, "triton-3.4.0/small-sm_80.kernels");
	undo(&p, undone, "triton-3.4.0/store.tar");
	assert_true(plan_without(&u->a, &p, undone, &rest));
	assert_int_equal(rest.n_tritons, 1);
	assert_string_equal(rest.tritons[0].version, "3.6.0");
	undo(&p, undone, "triton-3.6.0/store.tar");
	assert_false(plan_without(&u->a, &p, undone, &rest));
}

/* The recipe that ships is good, and both of its CUDAs have a plan. */
static void shipped_recipe_gives_plans(void **state)
{
	static const char *const cudas[] = {"12.8", "13.0"};
	struct unit *u = *state;
	struct inputs in = {.sel = {.cuda = ""}};
	if (recipe_load(&u->a, "templates", "flash-linear-attention", &in.recipe, &u->err) < 0 ||
	    matrix_load(&u->a, "templates", &in.matrix, &u->err) < 0 ||
	    lockfile_load(&u->a, "templates/lock", &in.lock, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	planhost_clang(&in.host);
	for (size_t i = 0; i < ARRAY_SIZE(cudas); i++) {
		in.sel.cuda = cudas[i];
		struct plan p = make(u, &in);
		assert_true(p.n_tritons > 0 && p.n_archs > 0 && p.profiles[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(keys_follow_what_goes_in),
	    CASE(kernels_are_shared),
	    CASE(steps_come_after_what_they_need),
	    CASE(failed_triton_is_left_out),
	    CASE(shipped_recipe_gives_plans),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
