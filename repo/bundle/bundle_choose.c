#include "bundle_choose.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/relation.h"
#include "../../lib/deb/version.h"

#define TEXT_MAX ((size_t)1 << 16)

static const char *get(const struct bundle_pkg *p, const char *field)
{
	const char *v = stanza_get(&p->s, field);
	return v ? v : "";
}

static bool has_word(const char *list, const char *word)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	strv_split(&v, list, " ");
	return strv_has(&v, word);
}

/* A library of Triton kernels belongs to the Triton that the torch of its CUDA pins. */
static bool has_triton(const struct bundle_pkg *p, const struct bundle_want *w)
{
	const char *flavour = strrchr(get(p, "Package"), '-');
	for (size_t i = 0; flavour && i < w->n_tritons; i++)
		if (!strcmp(flavour + 1, w->tritons[i].flavour) &&
		    has_word(get(p, "Debkit-Triton"), w->tritons[i].version))
			return true;
	return false;
}

static bool fits(const struct bundle_pkg *p, const struct bundle_want *w)
{
	return (has_word(get(p, "Debkit-Torch"), w->torch) || has_triton(p, w)) &&
	       has_word(get(p, "Debkit-Python"), w->python) &&
	       bundle_runs_on(get(p, "Debkit-Cuda-Archs"), w->cc);
}

/* "causal-conv1d" of the flavour package python3-causal-conv1d-cu128, in the arena; else NULL. */
static const char *recipe_of(struct arena *a, const struct bundle_pkg *p)
{
	static const char prefix[] = "python3-";
	const char *name = get(p, "Package"), *end = strrchr(name, '-');
	if (!str_starts(name, prefix) || !end || !str_starts(end, "-cu") ||
	    end < name + strlen(prefix) || (!*get(p, "Debkit-Torch") && !*get(p, "Debkit-Triton")))
		return NULL;
	return arena_strndup(a, name + strlen(prefix), (size_t)(end - name) - strlen(prefix));
}

static bool holds(const char *version, const struct relation *r)
{
	if (!r->op)
		return true;
	int c = version_compare(version, r->version);
	return !strcmp(r->op, "=")    ? c == 0
	       : !strcmp(r->op, ">=") ? c >= 0
	       : !strcmp(r->op, "<=") ? c <= 0
	       : !strcmp(r->op, ">>") ? c > 0
				      : c < 0;
}

static int parse(struct arena *a, const struct bundle_pkg *p, const char *field,
    struct relation_list *out, struct err *err)
{
	*out = (struct relation_list){0};
	if (relation_parse(a, get(p, field), out, err) == 0)
		return 0;
	return err_wrap(err, "%s of %s %s", field, get(p, "Package"), get(p, "Version"));
}

static bool provides(struct arena *a, const struct bundle_pkg *p, const struct relation *r)
{
	struct relation_list l;
	if (parse(a, p, "Provides", &l, NULL) < 0)
		return false;
	for (size_t i = 0; i < l.n; i++)
		if (!strcmp(l.v[i].package, r->package) &&
		    (!r->op || (l.v[i].version && holds(l.v[i].version, r))))
			return true;
	return false;
}

/* The newest package that satisfies the relation: by its name, else as what it provides. */
static struct bundle_pkg *find(struct arena *a, struct bundle_list *list, const struct relation *r)
{
	struct bundle_pkg *best = NULL;
	for (int by_name = 1; by_name >= 0 && !best; by_name--)
		for (size_t i = 0; i < list->n; i++) {
			struct bundle_pkg *p = &list->v[i];
			bool is = by_name ? !strcmp(get(p, "Package"), r->package) &&
						holds(get(p, "Version"), r)
					  : provides(a, p, r);
			if (is &&
			    (!best || version_compare(get(p, "Version"), get(best, "Version")) > 0))
				best = p;
		}
	return best;
}

static int check_glibc(const struct bundle_pkg *p, const struct relation *r,
    const struct bundle_want *w, const char *glibc, struct err *err)
{
	if (strcmp(r->package, "libc6") || !r->op || holds(glibc, r))
		return 0;
	return err_set(err, ERR_USAGE, "%s %s needs libc6 (%s %s), and %s has %s",
	    get(p, "Package"), get(p, "Version"), r->op, r->version, w->system, glibc);
}

/* Of each group of alternatives the first that the suite has; what it has not is the system's. */
static int choose_depends(struct arena *a, const struct bundle_want *w, const char *glibc,
    struct bundle_list *list, struct bundle_pkg *p, bool *more, struct err *err)
{
	struct relation_list l;
	if (parse(a, p, "Depends", &l, err) < 0)
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		struct bundle_pkg *d = find(a, list, &l.v[i]);
		if (check_glibc(p, &l.v[i], w, glibc, err) < 0)
			return -1;
		if (!d)
			continue;
		*more |= !d->chosen;
		d->chosen = true;
		while (i + 1 < l.n && l.v[i + 1].group == l.v[i].group)
			i++;
	}
	return 0;
}

/* "; NAME VERSION is for ..." for each package of the recipe, or of all. */
static void put_offers(
    struct arena *a, const struct bundle_list *list, const char *recipe, struct buf *out)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct bundle_pkg *p = &list->v[i];
		const char *of = recipe_of(a, p), *torch = get(p, "Debkit-Torch");
		if (of && (!recipe || !strcmp(of, recipe)))
			buf_printf(out, "; %s %s is for %s %s, Python %s, GPU archs %s",
			    get(p, "Package"), get(p, "Version"), *torch ? "torch" : "Triton",
			    *torch ? torch : get(p, "Debkit-Triton"), get(p, "Debkit-Python"),
			    get(p, "Debkit-Cuda-Archs"));
	}
}

static int none_fits(struct arena *a, const struct bundle_want *w, const struct bundle_list *list,
    const char *recipe, struct err *err)
{
	_cleanup_(buf_done) struct buf have = BUF_INIT(TEXT_MAX);
	put_offers(a, list, recipe, &have);
	return err_set(err, ERR_USAGE,
	    "no package %s%sis for torch %s, Python %s and GPU arch %s%s", recipe ? "of " : "",
	    recipe ? arena_printf(a, "%s ", recipe) : "", w->torch, w->python, w->cc,
	    have.len ? buf_str(&have) : "; the suite has none at all");
}

static void mark(
    struct arena *a, const struct bundle_want *w, struct bundle_list *list, struct bundle_pkg *p)
{
	struct relation any = {.package = get(p, "Package")};
	struct bundle_pkg *newest = find(a, list, &any);
	newest = fits(newest, w) ? newest : p;
	newest->chosen = newest->asked = true;
}

/* Marks the flavours that fit; done gets their recipes, all those that the suite has. */
static void choose_flavours(struct arena *a, const struct bundle_want *w,
    const struct strv *recipes, struct bundle_list *list, struct strv *done, struct strv *all)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *recipe = recipe_of(a, &list->v[i]);
		bool fit = fits(&list->v[i], w);
		/* A package that fits may have a name of any form. */
		if (fit && !recipe)
			recipe = get(&list->v[i], "Package");
		if (!recipe || (recipes && recipes->n && !strv_has(recipes, recipe)))
			continue;
		if (!strv_has(all, recipe))
			strv_add(all, recipe);
		if (!fit)
			continue;
		mark(a, w, list, &list->v[i]);
		if (!strv_has(done, recipe))
			strv_add(done, recipe);
	}
}

int bundle_choose(struct arena *a, const struct bundle_want *w, const char *glibc,
    const struct strv *recipes, struct bundle_list *list, struct strv *left, struct err *err)
{
	_cleanup_(strv_done) struct strv done = STRV_INIT, all = STRV_INIT;
	choose_flavours(a, w, recipes, list, &done, &all);
	for (size_t i = 0; recipes && i < recipes->n; i++)
		if (!strv_has(&done, recipes->v[i]))
			return none_fits(a, w, list, recipes->v[i], err);
	if (!done.n)
		return none_fits(a, w, list, NULL, err);
	for (size_t i = 0; i < all.n; i++) {
		_cleanup_(buf_done) struct buf have = BUF_INIT(TEXT_MAX);
		put_offers(a, list, all.v[i], &have);
		if (!strv_has(&done, all.v[i]))
			strv_addf(
			    left, "nothing of %s is for that machine%s", all.v[i], buf_str(&have));
	}
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < list->n; i++)
			if (list->v[i].chosen &&
			    choose_depends(a, w, glibc, list, &list->v[i], &more, err) < 0)
				return -1;
	}
	return 0;
}
