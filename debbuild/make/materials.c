#include "materials.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "../plan/plan.h"
#include "../data/recipe.h"
#include "../data/wheelname.h"

static void add(struct materials *m, enum material_role role, const struct lock_entry *file,
    const char *version)
{
	if (!file)
		return;
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(m->v[i].file->file, file->file))
			return;
	m->v[m->n++] = (struct material){role, file, version};
}

static size_t count(const struct lock_entry *const *v)
{
	size_t n = 0;
	while (v && v[n])
		n++;
	return n;
}

static void add_wheels(
    struct arena *a, struct materials *m, enum material_role role, const struct lock_entry **v)
{
	struct wheel_name name;
	for (; v && *v; v++)
		add(m, role, *v, wheel_name_parse(a, (*v)->file, &name) ? name.version : "");
}

/* Of a recipe of Triton kernels. */
static void find_triton(
    struct arena *a, const struct plan *p, const struct plan_package *pkg, struct materials *out)
{
	size_t n = count((const struct lock_entry *const *)p->library);
	for (size_t i = 0; i < p->n_tritons; i++)
		n += count((const struct lock_entry *const *)p->tritons[i].site) +
		     p->tritons[i].n_pythons;
	*out = (struct materials){.v = arena_alloc(a, (n + 1) * sizeof *out->v)};
	if (strcmp(pkg->kind, "meta"))
		add_wheels(a, out, MATERIAL_SOURCE, p->library);
	if (strcmp(pkg->kind, "kernels"))
		return;
	for (size_t i = 0; i < p->n_tritons; i++) {
		const struct plan_triton *t = &p->tritons[i];
		add_wheels(a, out, MATERIAL_PROGRAM, t->site);
		for (size_t k = 0; k < t->n_pythons; k++)
			add(out, MATERIAL_PROGRAM, t->records[k], t->version);
	}
}

void materials_find(
    struct arena *a, const struct plan *p, const struct plan_package *pkg, struct materials *out)
{
	const struct toolkit_recipe *tk = p->toolkit;
	if (p->recipe->kind == RECIPE_TRITON) {
		find_triton(a, p, pkg, out);
		return;
	}
	size_t parts = p->parts ? tk->n_parts : 0, wheels = p->wheels ? p->n_torches : 0;
	*out = (struct materials){.v = arena_alloc(a, (parts + wheels + 3) * sizeof *out->v)};
	if (!strcmp(pkg->kind, "cudart"))
		add(out, MATERIAL_SOURCE, p->runtime, tk->runtime_version);
	if (!strcmp(pkg->kind, "python") || !strcmp(pkg->kind, "flavour"))
		add(out, MATERIAL_SOURCE, p->sdist, p->recipe->version);
	if (strcmp(pkg->kind, "flavour"))
		return;
	for (size_t i = 0; i < wheels; i++)
		add(out, MATERIAL_HEADERS, p->wheels[i], p->torches[i]->version);
	add(out, MATERIAL_RUNTIME, p->runtime, tk->runtime_version);
	for (size_t i = 0; i < parts; i++)
		add(out, MATERIAL_TOOLKIT, p->parts[i], tk->parts[i].version);
}

const char *material_role_name(enum material_role role)
{
	static const char *const names[] = {[MATERIAL_SOURCE] = "source",
	    [MATERIAL_HEADERS] = "headers",
	    [MATERIAL_TOOLKIT] = "toolkit",
	    [MATERIAL_RUNTIME] = "runtime",
	    [MATERIAL_PROGRAM] = "program"};
	return names[role];
}
