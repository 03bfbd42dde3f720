/* What tests of plans share: everything that goes into one, and how two differ. */
#pragma once
#include "unit.h"

#include "../../debbuild/data/lockfile.h"
#include "../../debbuild/data/matrix.h"
#include "../../debbuild/plan/plan.h"
#include "../../debbuild/data/recipe.h"
#include "planhost.h"

#define TEMPLATES "tests/data/templates"

/* Everything that goes into a plan, so that a test can change one thing. */
struct inputs {
	struct recipe recipe;
	struct matrix matrix;
	struct lockfile lock;
	struct host host;
	struct selection sel;
};

static inline struct plan make(struct unit *u, const struct inputs *in)
{
	struct plan p;
	if (plan_make(
		&u->a, &in->recipe, &in->matrix, &in->lock, &in->host, &in->sel, &p, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	return p;
}

static inline const struct plan_step *step_of(const struct plan *p, const char *out)
{
	for (size_t i = 0; i < p->n_steps; i++)
		if (str_eq(p->steps[i].out, out))
			return &p->steps[i];
	return NULL;
}

/* "ptx 4, binding 2": the steps of both plans whose keys differ, by kind, in order of kinds. */
static inline const char *difference(struct unit *u, const struct plan *a, const struct plan *b)
{
	unsigned n[STEP_STORE + 1] = {0};
	for (size_t i = 0; i < a->n_steps; i++) {
		const struct plan_step *s = step_of(b, a->steps[i].out);
		if (s && !str_eq(s->key, a->steps[i].key))
			n[s->kind]++;
	}
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	for (size_t k = 0; k < ARRAY_SIZE(n); k++)
		if (n[k])
			strv_addf(&v, "%s %u", plan_kind_name((enum plan_step_kind)k), n[k]);
	_free_ char *all = strv_join(&v, ", ");
	return arena_strdup(&u->a, all);
}

/* Makes the files of the lock whose names begin so others. */
static inline void set_hash(struct inputs *in, const char *file)
{
	static const char other[] =
	    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
	for (size_t i = 0; i < in->lock.n; i++)
		if (str_starts(in->lock.v[i].file, file))
			in->lock.v[i].sha256 = in->lock.v[i].record_sha256 = other;
}
