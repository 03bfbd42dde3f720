#include "partial.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../data/matrix.h"
#include "ninja.h"

/* What the binding's compiler said, from the reasons of all failed steps. */
static const char *reason_for(
    const struct plan *p, const struct plan_binding *b, const struct ninja_result *res)
{
	_free_ char *dir = xasprintf("%.*s/", (int)(strlen(b->out) - strlen(".so")), b->out);
	for (size_t i = 0; i < p->n_steps; i++) {
		const struct plan_step *s = &p->steps[i];
		if (!res->undone[i] || !(str_starts(s->out, dir) || !strcmp(s->out, b->out)))
			continue;
		_free_ char *named = xasprintf("step '%s'", s->name);
		for (size_t k = 0; k < res->reasons.n; k++)
			if (str_starts(res->reasons.v[k], named))
				return res->reasons.v[k];
	}
	return "a step of it failed";
}

static bool is_kept(const struct plan *kept, const struct plan_binding *b)
{
	for (size_t i = 0; i < kept->n_bindings; i++)
		if (!strcmp(kept->bindings[i].out, b->out))
			return true;
	return false;
}

static bool has_triton(const struct plan *p, const char *version)
{
	for (size_t i = 0; i < p->n_tritons; i++)
		if (!strcmp(p->tritons[i].version, version))
			return true;
	return false;
}

static void leave_out_triton(const struct plan *p, const struct plan_triton *t,
    const struct ninja_result *res, struct strv *names, void (*warn)(void *arg, const char *text),
    void *arg)
{
	_free_ char *name = xasprintf("Triton %s", t->version);
	const char *why = "a step of it failed";
	for (size_t k = 0; k < res->reasons.n; k++)
		if (strstr(res->reasons.v[k], name))
			why = res->reasons.v[k];
	_free_ char *text = xasprintf("left out: %s: %s", name, why);
	warn(arg, text);
	strv_add(names, name);
}

int partial_make(struct arena *a, const struct plan *p, const struct ninja_result *res,
    void (*warn)(void *arg, const char *text), void *arg, struct partial *out, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	*out = (struct partial){0};
	if (!plan_without(a, p, res->undone, &out->plan))
		return err_set(
		    err, ERR_TOOL, "%s; the whole text is in '%s'", res->reasons.v[0], res->log);
	for (size_t i = 0; i < p->n_bindings; i++) {
		const struct plan_binding *b = &p->bindings[i];
		if (is_kept(&out->plan, b))
			continue;
		strv_addf(&names, "torch %s with Python %s", b->torch->minor, b->python->version);
		_free_ char *text =
		    xasprintf("left out: %s: %s", names.v[names.n - 1], reason_for(p, b, res));
		warn(arg, text);
	}
	for (size_t i = 0; i < p->n_tritons; i++)
		if (!has_triton(&out->plan, p->tritons[i].version))
			leave_out_triton(p, &p->tritons[i], res, &names, warn, arg);
	_free_ char *list = strv_join(&names, ", ");
	out->n_left_out = names.n;
	out->left_out = arena_strdup(a, list);
	out->log = res->log ? arena_strdup(a, res->log) : NULL;
	return 0;
}
