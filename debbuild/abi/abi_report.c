#include "abi_report.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "abi_objects.h"
#include "demangle.h"
#include "exports.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"

const char *const abi_floor_names[4] = {"GLIBC", "GLIBCXX", "CXXABI", "GCC"};

/* One report being made. */
struct maker {
	struct arena *arena;
	const struct abi_question *q;
	struct abi_sources *sources;
	const struct abi_object *object;
	struct abi_report *out;
};

void abi_sources_done(struct abi_sources *s)
{
	indexes_done(&s->indexes);
	free(s->v);
	s->v = NULL;
	s->n = 0;
}

static int load(
    struct maker *m, const struct lock_entry *e, const struct exports **out, struct err *err)
{
	struct abi_sources *s = m->sources;
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].entry == e) {
			*out = s->v[i].exports;
			return 0;
		}
	struct index *x;
	struct exports_cost cost;
	struct exports *exports = arena_alloc(m->arena, sizeof *exports);
	if (intr_check(err) < 0 || indexes_get(&s->indexes, e->index, &x, err) < 0 ||
	    exports_load(m->arena, x, e, m->q->cache, exports, &cost, err) < 0)
		return -1;
	if (cost.requests && m->q->note) {
		_free_ char *text = exports_cost_text(e, &cost);
		m->q->note(m->q->arg, text);
	}
	s->v = xreallocarray(s->v, s->n + 1, sizeof *s->v);
	s->v[s->n++] = (struct abi_source){e, exports};
	*out = exports;
	return 0;
}

/* The pinned wheel of that torch: for the Python that is asked about, else for its first. */
static const struct lock_entry *wheel_of(
    const struct maker *m, const struct torch_release *t, const char **python)
{
	*python = m->q->python ? m->q->python : m->object->python;
	const struct lock_entry *e = *python ? lockfile_torch(m->q->lock, t, *python) : NULL;
	for (char **v = t->pythons; !*python && *v && !e; v++) {
		e = lockfile_torch(m->q->lock, t, *v);
		if (e)
			*python = *v;
	}
	return e && e->exports_sha256 ? e : NULL;
}

static bool same_major(const char *cuda, const char *major)
{
	size_t n = strlen(major);
	return !strncmp(cuda, major, n) && (cuda[n] == '.' || !cuda[n]);
}

/* Does that release answer the word of the user, or every word if it is NULL? */
static bool answers(const struct maker *m, const struct torch_release *t, const char *word)
{
	return (!m->q->cuda || !strcmp(t->cuda, m->q->cuda)) &&
	       (!word || !strcmp(t->version, word) || !strcmp(t->minor, word));
}

static void add_cell(struct maker *m, const struct torch_release *t, bool named)
{
	struct abi_report *r = m->out;
	for (size_t i = 0; i < r->n_cells; i++)
		if (r->cells[i].torch == t)
			return;
	r->cells[r->n_cells++] = (struct abi_cell){.torch = t, .named = named};
}

/* The releases of one named torch; of several CUDAs those of the object's own major, if any. */
static int add_named(struct maker *m, const char *word, struct err *err)
{
	const struct matrix *x = m->q->matrix;
	const char *python;
	size_t known = 0, pinned = 0, own = 0;
	for (size_t i = 0; i < x->n_torches; i++) {
		const struct torch_release *t = &x->torches[i];
		if (!answers(m, t, word))
			continue;
		bool has = wheel_of(m, t, &python) != NULL;
		known++;
		pinned += has;
		own += has && m->object->cudart && same_major(t->cuda, m->object->cudart);
	}
	if (!known)
		return err_set(err, ERR_USAGE, "no torch '%s'%s%s stands in templates/matrix", word,
		    m->q->cuda ? " for CUDA " : "", m->q->cuda ? m->q->cuda : "");
	if (!pinned)
		return err_set(err, ERR_TRUST, "'%s' pins no exports of torch %s%s%s%s%s",
		    m->q->lock->source, word, m->q->cuda ? " for CUDA " : "",
		    m->q->cuda ? m->q->cuda : "", python ? " for Python " : "",
		    python ? python : "");
	for (size_t i = 0; i < x->n_torches; i++) {
		const struct torch_release *t = &x->torches[i];
		if (answers(m, t, word) && wheel_of(m, t, &python) &&
		    (!own || same_major(t->cuda, m->object->cudart)))
			add_cell(m, t, true);
	}
	return 0;
}

static bool uses_torch(const struct elf_info *e)
{
	for (size_t i = 0; i < e->n_needed; i++)
		if (abi_is_torch_library(e->needed[i]))
			return true;
	for (size_t i = 0; i < e->n_undefined; i++)
		if (!e->undefined[i].version && abi_is_torch_name(e->undefined[i].name))
			return true;
	return false;
}

static int choose_torches(struct maker *m, struct err *err)
{
	const struct matrix *x = m->q->matrix;
	const char *python;
	if (!uses_torch(&m->object->elf)) {
		add_cell(m, NULL, true);
		return 0;
	}
	for (size_t i = 0; i < m->q->torches->n; i++)
		if (add_named(m, m->q->torches->v[i], err) < 0)
			return -1;
	for (char **c = m->object->claims; !m->q->torches->n && c && *c; c++)
		if (add_named(m, *c, err) < 0)
			return -1;
	bool all = !m->out->n_cells;
	for (size_t i = 0; all && i < x->n_torches; i++)
		if (answers(m, &x->torches[i], NULL) && wheel_of(m, &x->torches[i], &python))
			add_cell(m, &x->torches[i], false);
	if (m->out->n_cells)
		return 0;
	return err_set(err, ERR_TRUST, "no torch%s%s is pinned in '%s' for Python %s",
	    m->q->cuda ? " for CUDA " : "", m->q->cuda ? m->q->cuda : "", m->q->lock->source,
	    m->q->python	? m->q->python
	    : m->object->python ? m->object->python
				: "any");
}

/* libcudart of the torch's CUDA, if the object needs that major, else of its own, oldest first. */
static int load_cudart(
    struct maker *m, const char *cuda, const struct exports **out, struct err *err)
{
	const struct matrix *x = m->q->matrix;
	const struct toolkit_recipe *best = NULL;
	*out = NULL;
	for (size_t i = 0; m->object->cudart && i < x->n_toolkits; i++) {
		const struct toolkit_recipe *t = &x->toolkits[i];
		if (same_major(t->cuda, m->object->cudart) && (!best || str_eq(t->cuda, cuda)))
			best = t;
	}
	const struct lock_entry *e =
	    best ? lockfile_wheel(m->q->lock, best->runtime_project, best->runtime_version, NULL)
		 : NULL;
	return e && e->exports_sha256 ? load(m, e, out, err) : 0;
}

static int judge(struct maker *m, struct abi_cell *c, struct err *err)
{
	struct abi_world w = {
	    .data = m->q->data, .beside = m->object->beside, .n_beside = m->object->n_beside};
	const struct lock_entry *e = c->torch ? wheel_of(m, c->torch, &c->python) : NULL;
	if (!e)
		c->python = m->q->python ? m->q->python : m->object->python;
	w.python = c->python ? abi_data_python(m->q->data, c->python) : NULL;
	if ((e && load(m, e, &w.torch, err) < 0) ||
	    load_cudart(m, e ? c->torch->cuda : m->q->cuda, &w.cudart, err) < 0)
		return -1;
	abi_judge(m->arena, &m->object->elf, &w, &c->verdict);
	return 0;
}

bool abi_cell_lacks(const struct abi_cell *c, const char *name)
{
	for (size_t i = 0; i < c->verdict.n_missing; i++)
		if (!strcmp(c->verdict.missing[i].name, name))
			return true;
	return false;
}

static const char *home_of(const struct exports *e, const char *name)
{
	const struct exports_library *l = exports_find(e, name);
	return l ? l->name : NULL;
}

/* Some torch may tell whose symbol it is: one that was read already, else one more is read. */
static int find_home(struct maker *m, struct abi_gap *g, struct err *err)
{
	const char *home = NULL, *python;
	for (size_t i = 0; i < m->sources->n && !home; i++)
		home = home_of(m->sources->v[i].exports, g->name);
	for (size_t i = 0; i < m->q->matrix->n_torches && !home && abi_is_torch_name(g->name);
	     i++) {
		const struct lock_entry *e = wheel_of(m, &m->q->matrix->torches[i], &python);
		const struct exports *exports;
		if (e && load(m, e, &exports, err) < 0)
			return -1;
		home = e ? home_of(exports, g->name) : NULL;
	}
	if (home)
		g->library = home;
	return 0;
}

static void add_gap(struct maker *m, const struct abi_missing *missing)
{
	struct abi_report *r = m->out;
	for (size_t i = 0; i < r->n_gaps; i++)
		if (!strcmp(r->gaps[i].name, missing->name))
			return;
	r->gaps[r->n_gaps++] = (struct abi_gap){.name = missing->name, .library = missing->library};
}

static int collect_gaps(struct maker *m, struct err *err)
{
	struct abi_report *r = m->out;
	r->gaps = arena_alloc(m->arena, (m->object->elf.n_undefined + 1) * sizeof *r->gaps);
	for (size_t i = 0; i < r->n_cells; i++)
		for (size_t k = 0; k < r->cells[i].verdict.n_missing; k++)
			add_gap(m, &r->cells[i].verdict.missing[k]);
	const char **names = arena_alloc(m->arena, (r->n_gaps + 1) * sizeof *names);
	for (size_t i = 0; i < r->n_gaps; i++) {
		names[i] = r->gaps[i].name;
		if (find_home(m, &r->gaps[i], err) < 0)
			return -1;
	}
	demangle(m->arena, names, r->n_gaps, names);
	for (size_t i = 0; i < r->n_gaps; i++)
		r->gaps[i].shown = names[i];
	return 0;
}

int abi_report_make(struct arena *a, const struct abi_question *q, struct abi_sources *s,
    const struct abi_object *o, struct abi_report *out, struct err *err)
{
	struct maker m = {.arena = a, .q = q, .sources = s, .object = o, .out = out};
	*out = (struct abi_report){.object = o};
	out->cells = arena_alloc(a, (q->matrix->n_torches + 1) * sizeof *out->cells);
	out->suites = arena_alloc(a, (q->data->n_suites + 1) * sizeof *out->suites);
	if (choose_torches(&m, err) < 0)
		return err_wrap(err, "%s", o->path);
	for (size_t i = 0; i < out->n_cells; i++)
		if (judge(&m, &out->cells[i], err) < 0)
			return err_wrap(err, "%s", o->path);
	if (collect_gaps(&m, err) < 0)
		return err_wrap(err, "%s", o->path);
	for (size_t i = 0; i < ARRAY_SIZE(abi_floor_names); i++)
		out->floors[i] = elf_floor(a, &o->elf, abi_floor_names[i]);
	out->n_suites = abi_suites(q->data, &o->elf, out->suites);
	return 0;
}

size_t abi_report_failures(const struct abi_report *r)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n_cells; i++)
		n += r->cells[i].named && r->cells[i].verdict.n_missing;
	return n;
}
