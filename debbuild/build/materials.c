#include "materials.h"

#include <string.h>

#include "../base/arena.h"
#include "lockfile.h"
#include "matrix.h"
#include "plan.h"
#include "recipe.h"

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

void materials_find(
    struct arena *a, const struct plan *p, const struct plan_package *pkg, struct materials *out)
{
	const struct toolkit_recipe *tk = p->toolkit;
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
	    [MATERIAL_RUNTIME] = "runtime"};
	return names[role];
}
