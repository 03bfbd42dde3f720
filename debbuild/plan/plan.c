#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "plan_int.h"
#include "plan_steps.h"
#include "../data/recipe.h"

/* A slow device source needs up to this much memory (3.4 GB measured with nvcc 13.0). */
#define HEAVY_BYTES ((uint64_t)3500 << 20)
/* Another step, up to this much (200 MB measured). */
#define LIGHT_BYTES ((uint64_t)256 << 20)

static char *known_torches(const struct matrix *m, const char *cuda)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	for (size_t i = 0; i < m->n_torches; i++)
		if (!strcmp(m->torches[i].cuda, cuda))
			strv_add(&v, m->torches[i].minor);
	return strv_join(&v, " ");
}

bool plan_wanted(const struct strv *list, const char *a, const char *b)
{
	return !list || !list->n || strv_has(list, a) || strv_has(list, b);
}

/* Any Python's wheel will do: their headers are the same. */
static const struct lock_entry *torch_wheel(
    const struct lockfile *lock, const struct torch_release *t)
{
	const struct lock_entry *wheel = NULL;
	for (char **py = t->pythons; *py && !wheel; py++)
		wheel = lockfile_torch(lock, t, *py);
	return wheel;
}

int plan_check_torches(
    const struct matrix *m, const struct selection *sel, const struct plan *p, struct err *err)
{
	for (size_t i = 0; sel->torches && i < sel->torches->n; i++) {
		if (matrix_torch(m, sel->torches->v[i], p->cuda))
			continue;
		_free_ char *known = known_torches(m, p->cuda);
		const char *word = sel->torches->v[i];
		bool number = *word && strspn(word, "0123456789.") == strlen(word);
		const struct torch_gap *gap = number ? matrix_gap(m, word, p->cuda) : NULL;
		return err_set(err, ERR_USAGE, "no torch '%s' for CUDA %s%s%s; known are: %s", word,
		    p->cuda, gap ? ": " : "", gap ? gap->reason : "", known);
	}
	return 0;
}

static int choose_torches(struct arena *a, const struct matrix *m, const struct selection *sel,
    const struct lockfile *lock, struct plan *p, struct err *err)
{
	if (plan_check_torches(m, sel, p, err) < 0)
		return -1;
	p->torches = arena_alloc(a, (m->n_torches + 1) * sizeof *p->torches);
	p->wheels = arena_alloc(a, (m->n_torches + 1) * sizeof *p->wheels);
	bool named = sel->torches && sel->torches->n;
	for (size_t i = 0; i < m->n_torches; i++) {
		const struct torch_release *t = &m->torches[i];
		if (strcmp(t->cuda, p->cuda) || !plan_wanted(sel->torches, t->version, t->minor))
			continue;
		const struct lock_entry *wheel = torch_wheel(lock, t);
		if (!wheel && named)
			return err_set(err, ERR_TRUST,
			    "no wheel of torch %s for CUDA %s stands in '%s': it is not pinned, so "
			    "it is "
			    "not built",
			    t->version, t->cuda, lock->source);
		if (!wheel)
			continue;
		p->torches[p->n_torches] = t;
		p->wheels[p->n_torches++] = wheel;
	}
	if (!p->n_torches)
		return err_set(err, ERR_TRUST, "no torch for CUDA %s is pinned in '%s'", p->cuda,
		    lock->source);
	return 0;
}

const struct host_python *plan_find_python(const struct host *h, const char *version)
{
	for (size_t i = 0; i < h->n_pythons; i++)
		if (!strcmp(h->pythons[i].version, version))
			return &h->pythons[i];
	return NULL;
}

static bool torch_has_python(const struct torch_release *t, const char *version)
{
	for (char **v = t->pythons; *v; v++)
		if (!strcmp(*v, version))
			return true;
	return false;
}

static int check_pythons(const struct selection *sel, const struct plan *p, struct err *err)
{
	for (size_t i = 0; sel->pythons && i < sel->pythons->n; i++) {
		const char *v = sel->pythons->v[i];
		bool some = false;
		for (size_t t = 0; t < p->n_torches; t++)
			some |= torch_has_python(p->torches[t], v);
		if (!some)
			return err_set(err, ERR_USAGE,
			    "no selected torch for CUDA %s has a wheel for Python '%s'", p->cuda,
			    v);
		if (!plan_find_python(p->host, v))
			return err_set(err, ERR_TOOL,
			    "the headers of Python %s are not on this machine and apt offers no "
			    "libpython%s-dev: add an apt source that has it, or put a Python %s "
			    "with "
			    "its headers in PATH",
			    v, v, v);
	}
	return 0;
}

/* Named ones are errors; the others are left out, and the user is told. */
static void note_missing(struct arena *a, const struct selection *sel, struct plan *p)
{
	_cleanup_(strv_done) struct strv missing = STRV_INIT;
	for (size_t t = 0; t < p->n_torches; t++)
		for (char **py = p->torches[t]->pythons; *py; py++)
			if (plan_wanted(sel->pythons, *py, *py) && !plan_find_python(p->host, *py))
				strv_add(&missing, *py);
	strv_uniq(&missing);
	p->missing_pythons = arena_alloc(a, (missing.n + 1) * sizeof *p->missing_pythons);
	for (size_t i = 0; i < missing.n; i++)
		p->missing_pythons[i] = arena_strdup(a, missing.v[i]);
}

static int choose_bindings(
    struct arena *a, const struct selection *sel, struct plan *p, struct err *err)
{
	if (check_pythons(sel, p, err) < 0)
		return -1;
	note_missing(a, sel, p);
	p->bindings = arena_alloc(a, (p->n_torches * p->host->n_pythons + 1) * sizeof *p->bindings);
	for (size_t t = 0; t < p->n_torches; t++) {
		const struct torch_release *torch = p->torches[t];
		for (char **py = torch->pythons; *py; py++) {
			const struct host_python *python = plan_find_python(p->host, *py);
			if (!python || !plan_wanted(sel->pythons, *py, *py))
				continue;
			const char *dot = strchr(*py, '.');
			char *file = arena_printf(
			    a, "torch%s-cp%.*s%s.so", torch->minor, (int)(dot - *py), *py, dot + 1);
			p->bindings[p->n_bindings++] = (struct plan_binding){.torch = torch,
			    .python = python,
			    .file = file,
			    .out = arena_printf(a, "%s/%s", p->flavour, file)};
		}
	}
	if (!p->n_bindings)
		return err_set(err, ERR_TOOL,
		    "no Python with headers is on this machine, nor offered by apt, that torch "
		    "for CUDA %s has a wheel for: install python3-dev",
		    p->cuda);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct gpu_arch *const *x = a, *const *y = b;
	return matrix_compare((*x)->cc, (*y)->cc);
}

static bool is_default(const struct gpu_arch *g, const char *cuda)
{
	for (char **d = g->defaults; *d; d++)
		if (!strcmp(*d, cuda))
			return true;
	return false;
}

int plan_choose_archs(struct arena *a, const struct matrix *m, const struct selection *sel,
    const struct gpu_arch **defaults, size_t n_defaults, struct plan *p, struct err *err)
{
	size_t named = sel->archs ? sel->archs->n : 0;
	p->archs = arena_alloc(a, (n_defaults + named + 1) * sizeof *p->archs);
	for (size_t i = 0; i < named; i++) {
		const struct gpu_arch *g;
		if (matrix_arch(m, sel->archs->v[i], p->cuda, &g, err) < 0)
			return -1;
		bool twice = false;
		for (size_t k = 0; k < p->n_archs; k++)
			twice |= p->archs[k] == g;
		if (!twice)
			p->archs[p->n_archs++] = g;
	}
	for (size_t i = 0; !named && i < n_defaults; i++)
		p->archs[p->n_archs++] = defaults[i];
	if (!p->n_archs)
		return err_set(err, ERR_USAGE,
		    "no GPU arch is the default for CUDA %s: name some with --arch", p->cuda);
	qsort(p->archs, p->n_archs, sizeof *p->archs, by_number);
	return 0;
}

static int choose_archs(struct arena *a, const struct matrix *m, const struct selection *sel,
    struct plan *p, struct err *err)
{
	const struct gpu_arch **defaults = arena_alloc(a, (m->n_archs + 1) * sizeof *defaults);
	size_t n = 0;
	for (size_t i = 0; i < m->n_archs; i++)
		if (is_default(&m->archs[i], p->cuda))
			defaults[n++] = &m->archs[i];
	return plan_choose_archs(a, m, sel, defaults, n, p, err);
}

/* All that the stanza names, or headers and runtime alone where the compiler is installed. */
static char **choose_members(struct arena *a, const struct host *h, char **members)
{
	size_t n = 0;
	while (members[n])
		n++;
	char **out = arena_alloc(a, (n + 1) * sizeof *out);
	for (n = 0; *members; members++)
		if (!h->toolkit_root || !strcmp(*members, "include") || !strcmp(*members, "lib"))
			out[n++] = *members;
	return out;
}

static int choose_files(struct arena *a, const struct matrix *m, const struct lockfile *lock,
    struct plan *p, struct err *err)
{
	p->sdist = lockfile_find(lock, p->recipe->sdist);
	if (!p->sdist)
		return err_set(
		    err, ERR_TRUST, "'%s' does not stand in '%s'", p->recipe->sdist, lock->source);
	p->toolkit = matrix_toolkit(m, p->cuda);
	if (!p->toolkit)
		return err_set(err, ERR_USAGE,
		    "no toolkit is described for CUDA %s in templates/toolkits", p->cuda);
	p->runtime =
	    lockfile_wheel(lock, p->toolkit->runtime_project, p->toolkit->runtime_version, NULL);
	if (!p->runtime)
		return err_set(err, ERR_TRUST, "%s %s does not stand in '%s'",
		    p->toolkit->runtime_project, p->toolkit->runtime_version, lock->source);
	p->parts = arena_alloc(a, (p->toolkit->n_parts + 1) * sizeof *p->parts);
	p->part_members = arena_alloc(a, (p->toolkit->n_parts + 1) * sizeof *p->part_members);
	for (size_t i = 0; i < p->toolkit->n_parts; i++) {
		const struct toolkit_part *part = &p->toolkit->parts[i];
		p->part_members[i] = choose_members(a, p->host, part->members);
		if (!*p->part_members[i])
			continue;
		p->parts[i] = lockfile_wheel(lock, part->project, part->version, NULL);
		if (!p->parts[i])
			return err_set(err, ERR_TRUST, "%s %s does not stand in '%s'",
			    part->project, part->version, lock->source);
	}
	return 0;
}

static void choose_packages(struct arena *a, const struct selection *sel, struct plan *p)
{
	const struct recipe *r = p->recipe;
	const char *name = arena_printf(a, "python3-%s", r->name);
	p->packages = arena_alloc(a, 4 * sizeof *p->packages);
	p->packages[p->n_packages++] =
	    (struct plan_package){name, r->deb_version, "all", r->name, "python"};
	p->packages[p->n_packages++] =
	    (struct plan_package){arena_printf(a, "%s-%s", name, p->flavour), r->deb_version,
		p->host->deb_arch, r->name, "flavour"};
	p->packages[p->n_packages++] =
	    (struct plan_package){arena_printf(a, "debkit-cudart-%s", p->cuda_dashed),
		arena_printf(a, "%s-1", p->toolkit->runtime_version), p->host->deb_arch, "cudart",
		"cudart"};
	if (sel->keyring_version)
		p->packages[p->n_packages++] = (struct plan_package){"debkit-archive-keyring",
		    arena_strdup(a, sel->keyring_version), "all", "keyring", "keyring"};
}

void plan_choose_jobs(const struct selection *sel, uint64_t heavy_bytes, struct plan *p)
{
	uint64_t light = p->host->memory / LIGHT_BYTES;
	p->jobs = p->host->cpus;
	if (p->host->memory && light < p->jobs)
		p->jobs = light < 1 ? 1 : (unsigned)light;
	if (sel->jobs)
		p->jobs = sel->jobs;
	p->heavy_bytes = heavy_bytes;
	uint64_t fit = p->host->memory / heavy_bytes;
	p->heavy_jobs = fit < 1 ? 1 : fit < p->jobs ? (unsigned)fit : p->jobs;
}

/* causal-conv1d and cu128 to libcausal_conv1d_cu128.so.1 */
static const char *library_name(struct arena *a, const char *recipe, const char *flavour)
{
	char *s = arena_printf(a, "lib%s_%s.so.1", recipe, flavour);
	for (char *c = s; *c; c++)
		if (*c == '-')
			*c = '_';
	return s;
}

static bool is_done(const struct plan *p, const bool *undone, const char *out)
{
	for (size_t i = 0; i < p->n_steps; i++)
		if (!strcmp(p->steps[i].out, out))
			return !undone[i];
	return false;
}

bool plan_without(struct arena *a, const struct plan *p, const bool *undone, struct plan *out)
{
	*out = *p;
	out->steps = arena_alloc(a, (p->n_steps + 1) * sizeof *out->steps);
	out->bindings = arena_alloc(a, (p->n_bindings + 1) * sizeof *out->bindings);
	out->tritons = arena_alloc(a, (p->n_tritons + 1) * sizeof *out->tritons);
	out->n_steps = out->n_bindings = out->n_tritons = 0;
	for (size_t i = 0; i < p->n_steps; i++) {
		enum plan_step_kind kind = p->steps[i].kind;
		if (!undone[i])
			out->steps[out->n_steps++] = p->steps[i];
		else if (kind != STEP_BINDING && kind != STEP_LINK_BINDING &&
			 kind != STEP_KERNELS && kind != STEP_STORE)
			return false;
	}
	for (size_t i = 0; i < p->n_bindings; i++)
		if (is_done(p, undone, p->bindings[i].out))
			out->bindings[out->n_bindings++] = p->bindings[i];
	for (size_t i = 0; i < p->n_tritons; i++)
		if (is_done(p, undone, p->tritons[i].out))
			out->tritons[out->n_tritons++] = p->tritons[i];
	return out->n_bindings + out->n_tritons > 0;
}

static bool is_compiled(const struct plan_package *p)
{
	return !strcmp(p->kind, "flavour") || !strcmp(p->kind, "kernels");
}

/* Leaves the packages that are named, and the work that these need. */
static int narrow(const struct selection *sel, struct plan *p, struct err *err)
{
	_cleanup_(strv_done) struct strv known = STRV_INIT;
	size_t n = 0;
	bool compiled = false;
	if (!sel->packages || !sel->packages->n)
		return 0;
	for (size_t i = 0; i < p->n_packages; i++)
		strv_add(&known, p->packages[i].name);
	_free_ char *list = strv_join(&known, ", ");
	for (size_t i = 0; i < sel->packages->n; i++)
		if (!strv_has(&known, sel->packages->v[i]))
			return err_set(err, ERR_USAGE,
			    "no package '%s' in what recipe %s makes for CUDA %s: %s",
			    sel->packages->v[i], p->recipe->name, p->cuda, list);
	for (size_t i = 0; i < p->n_packages; i++)
		if (strv_has(sel->packages, p->packages[i].name)) {
			compiled |= is_compiled(&p->packages[i]);
			p->packages[n++] = p->packages[i];
		}
	p->n_packages = n;
	if (!compiled) {
		p->n_steps = p->n_bindings = p->n_torches = p->n_tritons = 0;
		*p->missing_pythons = NULL;
	}
	return 0;
}

int plan_make(struct arena *a, const struct recipe *r, const struct matrix *m,
    const struct lockfile *lock, const struct host *host, const struct selection *sel,
    struct plan *out, struct err *err)
{
	if (matrix_check_cuda(m, sel->cuda, err) < 0)
		return -1;
	size_t whole = strcspn(sel->cuda, ".");
	struct plan p = {.recipe = r,
	    .host = host,
	    .cuda = arena_strdup(a, sel->cuda),
	    .cuda_major = arena_strndup(a, sel->cuda, whole),
	    .flavour = arena_printf(a, "cu%.*s%s", (int)whole, sel->cuda, sel->cuda + whole + 1)};
	char *dashed = arena_strdup(a, p.cuda);
	for (char *c = dashed; *c; c++)
		if (*c == '.')
			*c = '-';
	p.cuda_dashed = dashed;
	if (r->kind == RECIPE_TRITON) {
		if (plan_make_triton(a, m, lock, sel, &p, err) < 0 || narrow(sel, &p, err) < 0)
			return -1;
		*out = p;
		return 0;
	}
	if (sel->profiles && sel->profiles->n)
		return err_set(err, ERR_USAGE,
		    "recipe '%s' has no profiles: leave out --profile, or name a recipe that has",
		    r->name);
	p.kernel_library = library_name(a, r->name, p.flavour);
	if (choose_torches(a, m, sel, lock, &p, err) < 0 || choose_bindings(a, sel, &p, err) < 0 ||
	    choose_archs(a, m, sel, &p, err) < 0 || choose_files(a, m, lock, &p, err) < 0)
		return -1;
	choose_packages(a, sel, &p);
	plan_choose_jobs(sel, HEAVY_BYTES, &p);
	plan_add_steps(a, &p);
	if (narrow(sel, &p, err) < 0)
		return -1;
	*out = p;
	return 0;
}
