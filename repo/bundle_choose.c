#include "bundle_choose.h"

#include <string.h>

#include "../debbuild/base/arena.h"
#include "../debbuild/base/buf.h"
#include "../debbuild/base/err.h"
#include "../debbuild/base/strv.h"
#include "../debbuild/deb/relation.h"
#include "../debbuild/deb/version.h"

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

static bool fits(const struct bundle_pkg *p, const struct bundle_want *w)
{
	return has_word(get(p, "Debkit-Torch"), w->torch) &&
	       has_word(get(p, "Debkit-Python"), w->python) &&
	       bundle_runs_on(get(p, "Debkit-Cuda-Archs"), w->cc);
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

static int none_fits(const struct bundle_want *w, const struct bundle_list *list, struct err *err)
{
	_cleanup_(buf_done) struct buf have = BUF_INIT(TEXT_MAX);
	for (size_t i = 0; i < list->n; i++) {
		const struct bundle_pkg *p = &list->v[i];
		if (*get(p, "Debkit-Torch"))
			buf_printf(&have, "; %s %s is for torch %s, Python %s, GPU archs %s",
			    get(p, "Package"), get(p, "Version"), get(p, "Debkit-Torch"),
			    get(p, "Debkit-Python"), get(p, "Debkit-Cuda-Archs"));
	}
	return err_set(err, ERR_USAGE, "no package is for torch %s, Python %s and GPU arch %s%s",
	    w->torch, w->python, w->cc, have.len ? buf_str(&have) : "; the suite has none at all");
}

int bundle_choose(struct arena *a, const struct bundle_want *w, const char *glibc,
    struct bundle_list *list, struct err *err)
{
	bool more = false;
	for (size_t i = 0; i < list->n; i++) {
		struct bundle_pkg *p = &list->v[i];
		if (!fits(p, w))
			continue;
		struct relation any = {.package = get(p, "Package")};
		struct bundle_pkg *newest = find(a, list, &any);
		newest = fits(newest, w) ? newest : p;
		newest->chosen = newest->asked = more = true;
	}
	if (!more)
		return none_fits(w, list, err);
	while (more) {
		more = false;
		for (size_t i = 0; i < list->n; i++)
			if (list->v[i].chosen &&
			    choose_depends(a, w, glibc, list, &list->v[i], &more, err) < 0)
				return -1;
	}
	return 0;
}
