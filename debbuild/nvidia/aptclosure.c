#include "aptclosure.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/relation.h"
#include "../../lib/deb/version.h"
#include "aptpackages.h"

struct search {
	struct arena *a;
	const struct apt_packages *all;
	const char *suffix;
	struct apt_closure *out;
	struct strv system;
};

static void search_done(struct search *s)
{
	strv_done(&s->system);
}

static bool fits(const struct relation *r, const char *version)
{
	if (!r->op)
		return true;
	int c = version_compare(version, r->version);
	switch (r->op[0]) {
	case '<':
		return r->op[1] == '<' ? c < 0 : c <= 0;
	case '>':
		return r->op[1] == '>' ? c > 0 : c >= 0;
	default:
		return c == 0;
	}
}

static const struct apt_package *newest(const struct search *s, const struct relation *r)
{
	const struct apt_package *best = NULL;
	for (size_t i = 0; i < s->all->n; i++) {
		const struct apt_package *p = &s->all->v[i];
		if (!p->fault && !strcmp(p->name, r->package) && fits(r, p->version) &&
		    (!best || version_compare(p->version, best->version) > 0))
			best = p;
	}
	return best;
}

static const struct apt_package *chosen(const struct search *s, const char *name)
{
	for (size_t i = 0; i < s->out->n; i++)
		if (!strcmp(s->out->v[i]->name, name))
			return s->out->v[i];
	return NULL;
}

static const char *relation_text(struct arena *a, const struct relation *r)
{
	if (!r->op)
		return r->package;
	return arena_printf(a, "%s (%s %s)", r->package, r->op, r->version);
}

/* "version 12.8.61-1 alone", what is wrong with the stanza, or "no such package". */
static const char *what_there_is(const struct search *s, const char *name)
{
	const struct relation any = {.package = name};
	const struct apt_package *p = newest(s, &any);
	if (p)
		return arena_printf(s->a, "its newest there is %s", p->version);
	for (size_t i = 0; i < s->all->n; i++)
		if (!strcmp(s->all->v[i].name, name))
			return arena_printf(
			    s->a, "its entry cannot be used: %s", s->all->v[i].fault);
	return "it is not there";
}

static void choose(struct search *s, const struct apt_package *p)
{
	s->out->v[s->out->n++] = p;
	s->out->size += p->size;
	s->out->installed += p->installed;
}

static bool is_own(const struct search *s, const char *name)
{
	return str_starts(name, "cuda-") || str_ends(name, s->suffix);
}

/* One of the alternatives l[from..to) for the package by. */
static int resolve(struct search *s, const struct apt_package *by, const struct relation *l,
    size_t n, struct err *err)
{
	const struct relation *own = NULL;
	const struct apt_package *p;
	for (size_t i = 0; i < n; i++)
		if ((p = chosen(s, l[i].package)) && fits(&l[i], p->version))
			return 0;
	for (size_t i = 0; i < n; i++) {
		own = !own && is_own(s, l[i].package) ? &l[i] : own;
		if (!(p = newest(s, &l[i])))
			continue;
		const struct apt_package *other = chosen(s, p->name);
		if (other)
			return err_set(err, ERR_FORMAT,
			    "%s %s needs %s, and %s %s was chosen for another package", by->name,
			    by->version, relation_text(s->a, &l[i]), other->name, other->version);
		choose(s, p);
		return 0;
	}
	if (own)
		return err_set(err, ERR_FORMAT, "%s %s needs %s, but %s", by->name, by->version,
		    relation_text(s->a, own), what_there_is(s, own->package));
	const char *text = relation_text(s->a, l);
	if (!strv_has(&s->system, text))
		strv_add(&s->system, text);
	return 0;
}

static int resolve_all(struct search *s, const struct apt_package *by, struct err *err)
{
	struct relation_list l;
	if (relation_parse(s->a, by->depends, &l, err) < 0)
		return err_wrap(err, "the dependencies of %s %s", by->name, by->version);
	for (size_t from = 0, to = 0; from < l.n; from = to) {
		while (to < l.n && l.v[to].group == l.v[from].group)
			to++;
		if (resolve(s, by, &l.v[from], to - from, err) < 0)
			return -1;
	}
	return 0;
}

/* "cuda-nvcc-12-6 cuda-nvcc-13-0" for cuda-nvcc-12-8. */
static char *of_its_kind(const struct search *s, const char *root)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	size_t stem = strlen(root) - strlen(s->suffix);
	for (size_t i = 0; i < s->all->n; i++)
		if (!strncmp(s->all->v[i].name, root, stem + 1) && !s->all->v[i].fault)
			strv_add(&names, s->all->v[i].name);
	strv_sort(&names);
	strv_uniq(&names);
	return strv_join(&names, " ");
}

static int take_root(struct search *s, const char *root, struct err *err)
{
	const struct relation any = {.package = root};
	const struct apt_package *p = newest(s, &any);
	if (p) {
		if (!chosen(s, root))
			choose(s, p);
		return 0;
	}
	_free_ char *others = of_its_kind(s, root);
	return err_set(err, ERR_FORMAT, "%s: %s (of its kind there %s %s)", root,
	    what_there_is(s, root), *others ? "are" : "is", *others ? others : "nothing");
}

int aptclosure_make(struct arena *a, const struct apt_packages *all, const char *const *roots,
    const char *suffix, struct apt_closure *out, struct err *err)
{
	_cleanup_(search_done) struct search s = {
	    .a = a, .all = all, .suffix = suffix, .out = out, .system = STRV_INIT};
	*out = (struct apt_closure){.v = arena_alloc(a, (all->n + 1) * sizeof *out->v)};
	for (; *roots; roots++)
		if (take_root(&s, *roots, err) < 0)
			return -1;
	for (size_t i = 0; i < out->n; i++)
		if (resolve_all(&s, out->v[i], err) < 0)
			return -1;
	out->system = arena_alloc(a, (s.system.n + 1) * sizeof *out->system);
	for (size_t i = 0; i < s.system.n; i++)
		out->system[out->n_system++] = arena_strdup(a, s.system.v[i]);
	return 0;
}
