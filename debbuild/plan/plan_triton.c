#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "plan_command.h"
#include "plan_int.h"
#include "plan_steps.h"
#include "../data/recipe.h"
#include "../data/wheelname.h"

/* A compilation of kernels takes up to this much (1.5 GB measured). */
#define HEAVY_BYTES ((uint64_t)1536 << 20)

/* Typical CPU seconds of a profile for one GPU arch, and of a store. */
#define KERNELS_CPU_S 600
#define STORE_CPU_S   60

static bool has_word(char *const *words, const char *word)
{
	for (; *words; words++)
		if (!strcmp(*words, word))
			return true;
	return false;
}

static char **keep(struct arena *a, const struct strv *v)
{
	char **out = arena_alloc(a, (v->n + 1) * sizeof *out);
	for (size_t i = 0; i < v->n; i++)
		out[i] = arena_strdup(a, v->v[i]);
	return out;
}

static const struct lock_entry *pinned(const struct lockfile *lock, const char *project,
    const char *version, const char *abi, struct err *err)
{
	const struct lock_entry *e = lockfile_wheel(lock, project, version, abi);
	if (!e)
		err_set(err, ERR_TRUST,
		    "no wheel of %s %s%s%s stands in '%s': it is not pinned, so it is not used",
		    project, version, abi ? " for " : "", abi ? abi : "", lock->source);
	return e;
}

static int choose_library(
    struct arena *a, const struct lockfile *lock, struct plan *p, struct err *err)
{
	const struct recipe *r = p->recipe;
	p->library = arena_alloc(a, (r->n_wheels + 1) * sizeof *p->library);
	for (size_t i = 0; i < r->n_wheels; i++)
		if (!(p->library[i] =
			    pinned(lock, r->wheels[i].project, r->wheels[i].version, NULL, err)))
			return -1;
	return 0;
}

static int choose_profiles(
    struct arena *a, const struct selection *sel, struct plan *p, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	for (size_t i = 0; sel->profiles && i < sel->profiles->n; i++) {
		if (has_word(p->recipe->profiles, sel->profiles->v[i]))
			continue;
		for (char **known = p->recipe->profiles; *known; known++)
			strv_add(&names, *known);
		_free_ char *list = strv_join(&names, " ");
		return err_set(err, ERR_USAGE, "no profile '%s' in '%s/profiles'; known are: %s",
		    sel->profiles->v[i], p->recipe->dir, list);
	}
	for (char **name = p->recipe->profiles; *name; name++)
		if (plan_wanted(sel->profiles, *name, *name))
			strv_add(&names, *name);
	p->profiles = keep(a, &names);
	return 0;
}

static int choose_archs(struct arena *a, const struct matrix *m, const struct selection *sel,
    struct plan *p, struct err *err)
{
	size_t n = 0;
	while (p->recipe->archs[n])
		n++;
	const struct gpu_arch **defaults = arena_alloc(a, (n + 1) * sizeof *defaults);
	n = 0;
	for (char **cc = p->recipe->archs; *cc; cc++)
		if (matrix_arch(m, *cc, p->cuda, &defaults[n], NULL) == 0)
			n++;
	return plan_choose_archs(a, m, sel, defaults, n, p, err);
}

/* The environment: Triton, torch and the rest, for the Python that runs the build programs. */
static int choose_site(struct arena *a, const struct matrix *m, const struct lockfile *lock,
    const struct plan *p, struct plan_triton *t, struct err *err)
{
	const struct recipe *r = p->recipe;
	const char *abi = wheel_abi(a, p->host->python);
	const struct lock_entry **v = arena_alloc(a, (r->n_environment + 3) * sizeof *v);
	size_t n = 0;
	for (size_t i = 0; i < m->n_torches && !v[1]; i++)
		if (!strcmp(m->torches[i].version, r->torch) && !m->torches[i].index)
			v[1] = lockfile_torch(lock, &m->torches[i], p->host->python);
	v[0] = lockfile_wheel(lock, "triton", t->version, abi);
	if (!v[0] || !v[1])
		return err_set(err, ERR_TOOL,
		    "the kernels are compiled with Python, and this machine's python3 is %s, for "
		    "which '%s' pins no wheel of %s %s: put a python3 of another version first in "
		    "PATH",
		    p->host->python, lock->source, v[0] ? "torch" : "triton",
		    v[0] ? r->torch : t->version);
	for (n = 2; n < r->n_environment + 2; n++)
		if (!(v[n] = pinned(lock, r->environment[n - 2].project,
			  r->environment[n - 2].version, NULL, err)))
			return -1;
	t->site = v;
	return 0;
}

/* The Pythons of the torches of this CUDA that pin it, as far as they are wanted and here. */
static int choose_pythons(struct arena *a, const struct matrix *m, const struct lockfile *lock,
    const struct selection *sel, const struct plan *p, struct plan_triton *t, struct strv *missing,
    struct err *err)
{
	size_t most = p->host->n_pythons + 1;
	t->pythons = arena_alloc(a, most * sizeof *t->pythons);
	t->records = arena_alloc(a, most * sizeof *t->records);
	for (size_t i = 0; i < p->host->n_pythons; i++) {
		const struct host_python *py = &p->host->pythons[i];
		bool used = false;
		for (size_t k = 0; k < m->n_torches; k++)
			used |= !strcmp(m->torches[k].cuda, p->cuda) &&
				!strcmp(m->torches[k].triton, t->version) &&
				has_word(m->torches[k].pythons, py->version);
		if (!used || !plan_wanted(sel->pythons, py->version, py->version))
			continue;
		const struct lock_entry *e =
		    pinned(lock, "triton", t->version, wheel_abi(a, py->version), err);
		if (!e)
			return -1;
		t->pythons[t->n_pythons] = py;
		t->records[t->n_pythons++] = e;
	}
	for (size_t k = 0; k < m->n_torches; k++)
		for (char **py = m->torches[k].pythons; *py; py++)
			if (!strcmp(m->torches[k].cuda, p->cuda) &&
			    !strcmp(m->torches[k].triton, t->version) &&
			    plan_wanted(sel->pythons, *py, *py) && !plan_find_python(p->host, *py))
				strv_add(missing, *py);
	return 0;
}

static int add_triton(struct arena *a, const struct matrix *m, const struct lockfile *lock,
    const struct selection *sel, struct plan *p, const char *version, struct strv *missing,
    struct err *err)
{
	struct plan_triton *t = &p->tritons[p->n_tritons];
	_cleanup_(strv_done) struct strv torches = STRV_INIT;
	*t = (struct plan_triton){
	    .version = version, .out = arena_printf(a, "triton-%s/store.tar", version)};
	for (size_t i = 0; i < m->n_torches; i++)
		if (!strcmp(m->torches[i].cuda, p->cuda) &&
		    !strcmp(m->torches[i].triton, version) &&
		    plan_wanted(sel->torches, m->torches[i].version, m->torches[i].minor))
			strv_add(&torches, m->torches[i].minor);
	t->torches = keep(a, &torches);
	if (choose_site(a, m, lock, p, t, err) < 0 ||
	    choose_pythons(a, m, lock, sel, p, t, missing, err) < 0)
		return -1;
	p->n_tritons += t->n_pythons > 0;
	return 0;
}

/* Of the selected torches: the Tritons that the recipe knows, and the others, each once. */
static int choose_tritons(struct arena *a, const struct matrix *m, const struct lockfile *lock,
    const struct selection *sel, struct plan *p, struct err *err)
{
	_cleanup_(strv_done) struct strv known = STRV_INIT, unknown = STRV_INIT,
					 missing = STRV_INIT;
	for (size_t i = 0; i < m->n_torches; i++) {
		const struct torch_release *t = &m->torches[i];
		if (strcmp(t->cuda, p->cuda) || !plan_wanted(sel->torches, t->version, t->minor))
			continue;
		struct strv *to = has_word(p->recipe->tritons, t->triton) ? &known : &unknown;
		if (!strv_has(to, t->triton))
			strv_add(to, t->triton);
	}
	p->tritons = arena_alloc(a, (known.n + 1) * sizeof *p->tritons);
	for (size_t i = 0; i < known.n; i++)
		if (add_triton(a, m, lock, sel, p, arena_strdup(a, known.v[i]), &missing, err) < 0)
			return -1;
	strv_uniq(&missing);
	p->unknown_tritons = keep(a, &unknown);
	p->missing_pythons = keep(a, &missing);
	if (p->n_tritons)
		return 0;
	_free_ char *list = strv_join(&unknown, ", ");
	if (!known.n)
		return err_set(err, ERR_USAGE,
		    "the selected torches for CUDA %s pin Triton %s, for which recipe '%s' builds "
		    "no kernels",
		    p->cuda, list, p->recipe->name);
	return err_set(err, ERR_TOOL,
	    "no Python with headers is on this machine, nor offered by apt, that is wanted and "
	    "that torch for CUDA %s has a wheel for: install python3-dev",
	    p->cuda);
}

static const char *kernels_file(
    struct arena *a, const struct plan_triton *t, const struct gpu_arch *g, const char *profile)
{
	return arena_printf(a, "triton-%s/%s-sm_%s.kernels", t->version, profile, g->sm);
}

/* Words that both programs take. Which Python runs them and which torch is beside them does not
 * enter their outputs, and so no key. */
static void start(
    struct command *c, const struct plan_triton *t, const char *program, const char *program_id)
{
	/* No .pyc files beside the program, and nothing from the user's environment. */
	static const char *const fixed[] = {"python3", "-B", "-E", "-s"};
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_add(&c->argv, fixed[i]);
	strv_addf(&c->argv, "support/kernels/%s", program);
	strv_add(&c->argv, "--site");
	strv_addf(&c->argv, "site/%s", t->version);
	strv_add(&c->argv, "--triton");
	strv_add(&c->argv, t->version);
	strv_addf(&c->id, "support %s", program_id);
}

/* Upstream's wheels that are in the environment too, and Triton's for its first Python. */
static void add_site_id(
    struct command *c, const struct plan *p, const struct plan_triton *t, const char *triton)
{
	for (const struct lock_entry **e = p->library; *e; e++)
		for (const struct lock_entry **s = t->site; *s; s++)
			if (*s == *e)
				strv_addf(&c->id, "wheel %s", (*e)->sha256);
	strv_addf(&c->id, "triton %s", triton);
}

static void add_kernels(struct arena *a, struct plan *p, const struct plan_triton *t,
    const char *triton, const struct gpu_arch *g, size_t profile)
{
	struct command c = {.a = a};
	const char *name = p->recipe->profiles[profile], *out = kernels_file(a, t, g, name);
	start(&c, t, "compile.py", p->host->kernels_id);
	strv_add(&c.argv, "--arch");
	strv_add(&c.argv, g->sm);
	strv_add(&c.argv, "--profiles");
	strv_add(&c.argv, "support/profiles");
	strv_add(&c.argv, "--profile");
	strv_add(&c.argv, name);
	strv_add(&c.argv, "--work");
	strv_addf(&c.argv, "kept/%s", t->version);
	strv_add(&c.argv, "--out");
	strv_add(&c.argv, out);
	add_site_id(&c, p, t, triton);
	strv_addf(&c.id, "profile %s", p->recipe->profile_ids[profile]);
	struct plan_step *s = command_step(p, &c, STEP_KERNELS,
	    arena_printf(a, "kernels %s sm_%s, Triton %s", name, g->sm, t->version), out);
	s->heavy = true;
	s->cpu_s = KERNELS_CPU_S;
}

static void add_store(struct arena *a, struct plan *p, const struct plan_triton *t)
{
	struct command c = {.a = a};
	start(&c, t, "merge.py", p->host->support_id);
	for (size_t i = 0; i < t->n_pythons; i++) {
		const struct host_python *py = t->pythons[i];
		strv_add(&c.argv, "--record");
		strv_addf(&c.argv, "%s=record/%s/%s", py->version, t->version, py->version);
		strv_add(&c.argv, "--include");
		strv_addf(&c.argv, "%s=py/%s", py->version, py->version);
		strv_addf(&c.id, "record %s %s", py->version, t->records[i]->record_sha256);
		strv_addf(&c.id, "python %s", py->id);
	}
	strv_addf(&c.id, "host compiler %s", p->host->cxx_id);
	strv_add(&c.argv, "--out");
	strv_add(&c.argv, t->out);
	for (char **name = p->profiles; *name; name++)
		for (size_t i = 0; i < p->n_archs; i++)
			command_input(&c, kernels_file(a, t, p->archs[i], *name));
	struct plan_step *s = command_step(
	    p, &c, STEP_STORE, arena_printf(a, "store of Triton %s", t->version), t->out);
	s->heavy = true;
	s->cpu_s = STORE_CPU_S;
}

static void add_steps(struct arena *a, const struct lockfile *lock, struct plan *p)
{
	size_t profiles = 0;
	while (p->profiles[profiles])
		profiles++;
	p->steps =
	    arena_alloc(a, (p->n_tritons * (profiles * p->n_archs + 1) + 1) * sizeof *p->steps);
	for (size_t i = 0; i < p->n_tritons; i++) {
		const struct plan_triton *t = &p->tritons[i];
		const char *triton = lockfile_wheel(lock, "triton", t->version, NULL)->sha256;
		for (size_t k = 0; p->recipe->profiles[k]; k++)
			for (size_t g = 0;
			     g < p->n_archs && has_word(p->profiles, p->recipe->profiles[k]); g++)
				add_kernels(a, p, t, triton, p->archs[g], k);
		add_store(a, p, t);
	}
	/* For dpkg-shlibdeps: the driver is in no package. */
	plan_add_stub(a, p, "libcuda.so.1");
}

static void choose_packages(struct arena *a, struct plan *p)
{
	const struct recipe *r = p->recipe;
	const char *name = arena_printf(a, "python3-%s", r->name);
	p->packages = arena_alloc(a, 3 * sizeof *p->packages);
	p->packages[p->n_packages++] =
	    (struct plan_package){name, r->deb_version, "all", r->name, "modules"};
	p->packages[p->n_packages++] =
	    (struct plan_package){arena_printf(a, "%s-%s", name, p->flavour), r->deb_version,
		p->host->deb_arch, r->name, "kernels"};
	if (r->meta)
		p->packages[p->n_packages++] =
		    (struct plan_package){arena_printf(a, "python3-%s-%s", r->meta, p->flavour),
			r->deb_version, "all", r->name, "meta"};
}

int plan_make_triton(struct arena *a, const struct matrix *m, const struct lockfile *lock,
    const struct selection *sel, struct plan *p, struct err *err)
{
	if (plan_check_torches(m, sel, p, err) < 0 || choose_profiles(a, sel, p, err) < 0 ||
	    choose_archs(a, m, sel, p, err) < 0 || choose_library(a, lock, p, err) < 0 ||
	    choose_tritons(a, m, lock, sel, p, err) < 0)
		return -1;
	choose_packages(a, p);
	plan_choose_jobs(sel, HEAVY_BYTES, p);
	add_steps(a, lock, p);
	return 0;
}
