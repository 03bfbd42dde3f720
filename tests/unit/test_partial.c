#include "unit.h"

#include "../../debbuild/data/lockfile.h"
#include "../../debbuild/data/matrix.h"
#include "../../debbuild/make/ninja.h"
#include "../../debbuild/make/partial.h"
#include "../../debbuild/data/recipe.h"
#include "planhost.h"

#define TEMPLATES "tests/data/templates"

/* A plan of several bindings, and a run of it in which nothing failed. */
struct build {
	struct recipe recipe;
	struct matrix matrix;
	struct lockfile lock;
	struct host host;
	struct plan plan;
	struct ninja_result res;
	struct partial partial;
	struct strv warned;
};

static struct build *make_of(struct unit *u, const char *recipe, const char *lock)
{
	struct build *b = arena_alloc(&u->a, sizeof *b);
	struct selection sel = {.cuda = "12.8"};
	planhost_clang(&b->host);
	if (recipe_load(&u->a, TEMPLATES, recipe, &b->recipe, &u->err) < 0 ||
	    matrix_load(&u->a, TEMPLATES, &b->matrix, &u->err) < 0 ||
	    lockfile_load(&u->a, lock, &b->lock, &u->err) < 0 ||
	    plan_make(&u->a, &b->recipe, &b->matrix, &b->lock, &b->host, &sel, &b->plan, &u->err) <
		0)
		fail_msg("%s", u->err.msg);
	b->res.undone = arena_alloc(&u->a, b->plan.n_steps * sizeof *b->res.undone);
	b->res.log = "out/build.log";
	return b;
}

static struct build *make(struct unit *u)
{
	struct build *b = make_of(u, "demo-conv", TEMPLATES "/lock");
	assert_true(b->plan.n_bindings > 2);
	return b;
}

static void on_warn(void *arg, const char *text)
{
	strv_add(arg, text);
}

/* The step of that output failed, with what it said, or (NULL) for want of one that did. */
static void undo(struct unit *u, struct build *b, const char *out, const char *said)
{
	for (size_t i = 0; i < b->plan.n_steps; i++) {
		if (!str_eq(b->plan.steps[i].out, out))
			continue;
		b->res.undone[i] = true;
		b->res.n_undone++;
		if (said)
			strv_addf(
			    &b->res.reasons, "step '%s' failed: %s", b->plan.steps[i].name, said);
		return;
	}
	fail_msg("no step makes '%s'", out);
}

static const char *object_of(struct unit *u, const struct plan_binding *b, const char *name)
{
	return arena_printf(&u->a, "%.*s/%s", (int)(strlen(b->out) - strlen(".so")), b->out, name);
}

static int partial(struct unit *u, struct build *b)
{
	return partial_make(&u->a, &b->plan, &b->res, on_warn, &b->warned, &b->partial, &u->err);
}

static void done(struct build *b)
{
	strv_done(&b->warned);
	strv_done(&b->res.reasons);
}

static void nothing_failed(void **state)
{
	struct unit *u = *state;
	struct build *b = make(u);
	assert_int_equal(partial(u, b), 0);
	assert_int_equal(b->partial.n_left_out, 0);
	assert_int_equal(b->partial.plan.n_bindings, b->plan.n_bindings);
	assert_int_equal(b->partial.plan.n_steps, b->plan.n_steps);
	assert_int_equal(b->warned.n, 0);
	done(b);
}

static void one_binding_is_left_out(void **state)
{
	struct unit *u = *state;
	struct build *b = make(u);
	const struct plan_binding *bad = &b->plan.bindings[1];
	undo(u, b, object_of(u, bad, "demo.o"), "demo.cpp:1: error: no");
	undo(u, b, bad->out, NULL);
	assert_int_equal(partial(u, b), 0);
	assert_int_equal(b->partial.n_left_out, 1);
	assert_string_equal(b->partial.left_out, arena_printf(&u->a, "torch %s with Python %s",
						     bad->torch->minor, bad->python->version));
	assert_string_equal(b->partial.log, "out/build.log");
	assert_int_equal(b->warned.n, 1);
	assert_true(str_starts(b->warned.v[0], "left out: torch "));
	assert_true(str_ends(b->warned.v[0], "failed: demo.cpp:1: error: no"));
	const struct plan *p = &b->partial.plan;
	assert_int_equal(p->n_bindings, b->plan.n_bindings - 1);
	assert_int_equal(p->n_steps, b->plan.n_steps - 2);
	assert_ptr_equal(p->bindings[0].out, b->plan.bindings[0].out);
	for (size_t i = 0; i < p->n_bindings; i++)
		assert_string_not_equal(p->bindings[i].out, bad->out);
	for (size_t i = 0; i < p->n_steps; i++)
		assert_string_not_equal(p->steps[i].out, bad->out);
	done(b);
}

static void every_binding_failed(void **state)
{
	struct unit *u = *state;
	struct build *b = make(u);
	for (size_t i = 0; i < b->plan.n_bindings; i++)
		undo(u, b, b->plan.bindings[i].out, "no");
	assert_int_equal(partial(u, b), -1);
	unit_error(u, ERR_TOOL,
	    arena_printf(&u->a, "%s; the whole text is in 'out/build.log'", b->res.reasons.v[0]));
	done(b);
}

static void device_code_failed(void **state)
{
	struct unit *u = *state;
	struct build *b = make(u);
	undo(u, b, b->plan.steps[0].out, "no");
	assert_int_equal(partial(u, b), -1);
	assert_int_equal(u->err.code, ERR_TOOL);
	assert_int_equal(b->warned.n, 0);
	done(b);
}

static void a_triton_is_left_out(void **state)
{
	struct unit *u = *state;
	const char *lock = unit_put(u, "lock",
	    arena_printf(&u->a, "%s%s", unit_read(u, TEMPLATES "/lock"),
		unit_read(u, TEMPLATES "/demo-fla/lock")));
	struct build *b = make_of(u, "demo-fla", lock);
	undo(u, b, "triton-3.4.0/large-sm_90.kernels", "no such layout");
	undo(u, b, "triton-3.4.0/store.tar", NULL);
	assert_int_equal(partial(u, b), 0);
	assert_int_equal(b->partial.n_left_out, 1);
	assert_string_equal(b->partial.left_out, "Triton 3.4.0");
	assert_int_equal(b->partial.plan.n_tritons, 1);
	assert_int_equal(b->warned.n, 1);
	assert_string_equal(b->warned.v[0],
	    "left out: Triton 3.4.0: step 'kernels large sm_90, Triton 3.4.0' failed: no such "
	    "layout");
	undo(u, b, "triton-3.6.0/store.tar", "disk full");
	assert_int_equal(partial(u, b), -1);
	assert_int_equal(u->err.code, ERR_TOOL);
	done(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(nothing_failed),
	    CASE(one_binding_is_left_out),
	    CASE(every_binding_failed),
	    CASE(device_code_failed),
	    CASE(a_triton_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
