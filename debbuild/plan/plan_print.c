#include <string.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/json.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "plan_int.h"
#include "../data/recipe.h"

const char *plan_kind_name(enum plan_step_kind kind)
{
	static const char *const names[] = {[STEP_STUB] = "stub",
	    [STEP_LAUNCHES] = "launches",
	    [STEP_PTX] = "ptx",
	    [STEP_CUBIN] = "cubin",
	    [STEP_MATCH] = "match",
	    [STEP_FATBIN] = "fatbin",
	    [STEP_HOST] = "host",
	    [STEP_NVCC] = "nvcc",
	    [STEP_BINDING] = "binding",
	    [STEP_LINK_KERNELS] = "link-kernels",
	    [STEP_LINK_BINDING] = "link-binding",
	    [STEP_KERNELS] = "kernels",
	    [STEP_STORE] = "store"};
	return names[kind];
}

const char *plan_route_name(enum plan_route route)
{
	static const char *const names[] = {
	    [ROUTE_CLANG] = "clang", [ROUTE_NVCC] = "nvcc", [ROUTE_NVRTC] = "nvrtc"};
	return names[route];
}

bool plan_kind_is_costly(enum plan_step_kind kind)
{
	static const bool costly[] = {[STEP_LAUNCHES] = true,
	    [STEP_PTX] = true,
	    [STEP_CUBIN] = true,
	    [STEP_HOST] = true,
	    [STEP_NVCC] = true,
	    [STEP_BINDING] = true,
	    [STEP_KERNELS] = true,
	    [STEP_STORE] = false};
	return costly[kind];
}

/* What is fetched beside the sdist: torch wheels, toolkit wheels, the runtime if it is no part. */
static const struct lock_entry *fetch_at(const struct plan *p, size_t i, const char **what)
{
	bool runtime = false;
	*what = "headers";
	if (i < p->n_torches)
		return p->wheels[i];
	*what = "parts";
	i -= p->n_torches;
	for (size_t k = 0; p->n_steps && k < p->toolkit->n_parts; k++) {
		if (p->parts[k] && i-- == 0)
			return p->parts[k];
		runtime |= p->parts[k] == p->runtime;
	}
	*what = "runtime";
	return i == 0 && !runtime ? p->runtime : NULL;
}

void plan_print(const struct plan *p, struct buf *out)
{
	if (p->recipe->kind == RECIPE_TRITON) {
		plan_print_triton(p, out);
		return;
	}
	buf_printf(out, "%s %s for CUDA %s (%s)\n", p->recipe->name, p->recipe->deb_version,
	    p->cuda, p->flavour);
	buf_printf(out, "compiler   %s\n", p->host->compiler);
	buf_puts(out, "GPU archs ");
	for (size_t i = 0; i < p->n_archs; i++)
		buf_printf(out, " %s", p->archs[i]->cc);
	buf_printf(out, " and PTX of %s\n", p->archs[p->n_archs - 1]->cc);
	for (size_t i = 0; i < p->n_bindings; i++)
		buf_printf(out, "binding    torch %-8s Python %s\n", p->bindings[i].torch->version,
		    p->bindings[i].python->version);
	buf_printf(out, "fetch      %s\n", p->sdist->file);
	const struct lock_entry *e;
	const char *what;
	for (size_t i = 0; (e = fetch_at(p, i, &what)); i++)
		buf_printf(out, "fetch      %s (%s)\n", e->file, what);
	plan_print_apt(p, out);
	plan_print_tail(p, out);
}

static void json_fetches(const struct plan *p, struct buf *out)
{
	const struct lock_entry *e;
	const char *what;
	buf_puts(out, "  \"fetch\": [\n    {");
	plan_json_pair(out, "file", p->sdist->file, false);
	plan_json_pair(out, "sha256", p->sdist->sha256, true);
	buf_puts(out, "}");
	for (size_t i = 0; (e = fetch_at(p, i, &what)); i++) {
		buf_puts(out, ",\n");
		plan_json_wheel(out, e, what);
	}
	plan_json_apt(p, out);
}

void plan_print_json(const struct plan *p, struct buf *out)
{
	if (p->recipe->kind == RECIPE_TRITON) {
		plan_print_triton_json(p, out);
		return;
	}
	plan_json_head(p, out);
	plan_json_pair(out, "compiler", p->host->compiler, false);
	plan_json_archs(p, out);
	buf_puts(out, "  \"bindings\": [\n");
	for (size_t i = 0; i < p->n_bindings; i++) {
		buf_puts(out, "    {");
		plan_json_pair(out, "torch", p->bindings[i].torch->version, false);
		plan_json_pair(out, "python", p->bindings[i].python->version, false);
		plan_json_pair(out, "file", p->bindings[i].file, true);
		buf_printf(out, "}%s\n", plan_json_comma(i, p->n_bindings));
	}
	buf_puts(out, "  ],\n  ");
	plan_json_words(out, "missing_pythons", p->missing_pythons);
	buf_puts(out, ",\n");
	json_fetches(p, out);
	plan_json_tail(p, out);
}
