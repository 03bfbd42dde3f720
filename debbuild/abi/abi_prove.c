#include "abi_prove.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/elf.h"
#include "abi.h"
#include "demangle.h"
#include "exports.h"
#include "../wheel/pyindexes.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "../plan/plan.h"

/* A torch of the plan's CUDA, and what its libraries export. */
struct candidate {
	const struct torch_release *torch;
	struct exports exports;
};

struct prover {
	struct arena *arena; /* for what is handed back */
	const struct plan *plan;
	const struct matrix *matrix;
	const struct lockfile *lock;
	const struct abi_paths *paths;
	struct abi_data data;
	struct exports cudart;
	struct elf_info kernels;
	struct indexes indexes;
	struct abi_proof *proofs;
};

static void prover_done(struct prover *p)
{
	indexes_done(&p->indexes);
}

static int load(struct prover *p, struct arena *a, const struct lock_entry *e, struct exports *out,
    struct err *err)
{
	struct index *x;
	struct exports_cost cost;
	if (indexes_get(&p->indexes, e->index, &x, err) < 0 ||
	    exports_load(a, x, e, p->paths->cache, out, &cost, err) < 0)
		return -1;
	if (!cost.requests || !p->paths->note)
		return 0;
	_free_ char *text = exports_cost_text(e, &cost);
	p->paths->note(p->paths->arg, text);
	return 0;
}

/* Every torch of that CUDA whose wheel for the Python is pinned, with its exports. */
static int load_candidates(struct prover *p, struct arena *a, const char *python,
    struct candidate *v, size_t *n, struct err *err)
{
	*n = 0;
	for (size_t i = 0; i < p->matrix->n_torches; i++) {
		const struct torch_release *t = &p->matrix->torches[i];
		if (strcmp(t->cuda, p->plan->cuda))
			continue;
		const struct lock_entry *e = lockfile_torch(p->lock, t, python);
		if (!e || !e->exports_sha256)
			continue;
		if (intr_check(err) < 0 || load(p, a, e, &v[*n].exports, err) < 0)
			return -1;
		v[(*n)++].torch = t;
	}
	return 0;
}

/* What one binding is judged with: itself, the kernel library, and each candidate. */
struct judging {
	struct prover *prover;
	const struct plan_binding *binding;
	struct elf_info elf;
	const struct abi_python *python;
	const struct candidate *candidates;
	size_t n;
};

static void judge(const struct judging *j, struct arena *a, const struct elf_info *elf,
    const struct exports *torch, struct abi_verdict *out)
{
	const struct elf_info *beside[] = {&j->elf, &j->prover->kernels};
	struct abi_world w = {.data = &j->prover->data,
	    .python = j->python,
	    .torch = torch,
	    .cudart = &j->prover->cudart,
	    .beside = beside,
	    .n_beside = ARRAY_SIZE(beside)};
	abi_judge(a, elf, &w, out);
}

static bool lacks(const struct abi_verdict *v, const char *name)
{
	for (size_t i = 0; i < v->n_missing; i++)
		if (!strcmp(v->missing[i].name, name))
			return true;
	return false;
}

/* The error for a binding, or the kernel library, that lacks symbols on the binding's own torch. */
static int refuse(const struct judging *j, struct arena *a, const struct elf_info *elf,
    const char *file, const struct abi_verdict *v, struct err *err)
{
	_cleanup_(strv_done) struct strv torches = STRV_INIT;
	const char *name = v->n_missing ? v->missing[0].name : NULL, *shown = name, *home = NULL;
	if (!name)
		return err_set(err, ERR_FORMAT,
		    "'%s' has %zu symbols that '%s' may define, which is not judged: link it with "
		    "libraries that are",
		    file, v->n_unjudged, v->n_outside ? v->outside[0] : "another library");
	for (size_t i = 0; i < j->n; i++) {
		const struct exports *torch = &j->candidates[i].exports;
		const struct exports_library *library;
		struct abi_verdict other;
		judge(j, a, elf, torch, &other);
		if (lacks(&other, name))
			strv_add(&torches, j->candidates[i].torch->minor);
		else if (!home && (library = exports_find(torch, name)))
			home = library->name;
	}
	demangle(a, &name, 1, &shown);
	_free_ char *list = strv_join(&torches, " ");
	return err_set(err, ERR_FORMAT,
	    "'%s' is not complete on torch %s for CUDA %s, which it was built for: it lacks %s of "
	    "%s (%zu in all), which is missing from torch %s",
	    file, j->binding->torch->version, j->prover->plan->cuda, shown,
	    home ? home : v->missing[0].library, v->n_missing, list);
}

static bool is_complete(const struct abi_verdict *v)
{
	return !v->n_missing && !v->n_unjudged;
}

static int prove_on(
    const struct judging *j, const struct candidate *c, struct abi_proof *proof, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct abi_verdict binding, kernels;
	bool own = c->torch == j->binding->torch;
	judge(j, &a, &j->elf, &c->exports, &binding);
	judge(j, &a, &j->prover->kernels, &c->exports, &kernels);
	if (own && !is_complete(&binding))
		return refuse(j, &a, &j->elf, j->binding->file, &binding, err);
	if (own && !is_complete(&kernels))
		return refuse(
		    j, &a, &j->prover->kernels, j->prover->plan->kernel_library, &kernels, err);
	if (is_complete(&binding) && is_complete(&kernels))
		proof->minors[proof->n++] = arena_strdup(j->prover->arena, c->torch->minor);
	return 0;
}

static int prove_binding(
    struct judging *j, struct arena *a, struct abi_proof *proof, struct err *err)
{
	_free_ char *path = path_join(j->prover->paths->work, j->binding->out);
	bool own = false;
	if (elf_read(a, path, &j->elf, err) < 0)
		return -1;
	proof->minors = arena_alloc(j->prover->arena, (j->n + 1) * sizeof *proof->minors);
	for (size_t i = 0; i < j->n; i++) {
		own |= j->candidates[i].torch == j->binding->torch;
		if (prove_on(j, &j->candidates[i], proof, err) < 0)
			return -1;
	}
	if (own)
		return 0;
	return err_set(err, ERR_TRUST,
	    "'%s' cannot be proved: the lock '%s' has no exports of torch %s for Python %s",
	    j->binding->file, j->prover->lock->source, j->binding->torch->version,
	    j->binding->python->version);
}

/* All bindings for one Python, with the exports of each torch in memory. */
static int prove_python(struct prover *p, const char *python, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct candidate *v = arena_alloc(&a, (p->matrix->n_torches + 1) * sizeof *v);
	struct judging j = {.prover = p, .candidates = v};
	j.python = abi_data_python(&p->data, python);
	if (!j.python)
		return err_set(err, ERR_FORMAT,
		    "templates/cpython does not tell what Python %s exports", python);
	if (load_candidates(p, &a, python, v, &j.n, err) < 0)
		return -1;
	for (size_t i = 0; i < p->plan->n_bindings; i++) {
		j.binding = &p->plan->bindings[i];
		if (!strcmp(j.binding->python->version, python) &&
		    prove_binding(&j, &a, &p->proofs[i], err) < 0)
			return -1;
	}
	return 0;
}

/* True if an earlier binding has the same Python. */
static bool is_done(const struct plan *p, size_t binding)
{
	for (size_t i = 0; i < binding; i++)
		if (!strcmp(p->bindings[i].python->version, p->bindings[binding].python->version))
			return true;
	return false;
}

int abi_prove(struct arena *a, const struct plan *p, const struct matrix *m,
    const struct lockfile *lock, const struct abi_paths *paths, struct abi_proof **proofs,
    struct err *err)
{
	_cleanup_(arena_done) struct arena here = ARENA_INIT;
	_cleanup_(prover_done) struct prover x = {
	    .arena = a, .plan = p, .matrix = m, .lock = lock, .paths = paths};
	_free_ char *kernels = xasprintf("%s/%s/%s", paths->work, p->flavour, p->kernel_library);
	x.proofs = arena_alloc(a, (p->n_bindings + 1) * sizeof *x.proofs);
	if (abi_data_load(&here, paths->templates, &x.data, err) < 0 ||
	    load(&x, &here, p->runtime, &x.cudart, err) < 0 ||
	    elf_read(&here, kernels, &x.kernels, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_bindings; i++)
		if (!is_done(p, i) && prove_python(&x, p->bindings[i].python->version, err) < 0)
			return -1;
	*proofs = x.proofs;
	return 0;
}
