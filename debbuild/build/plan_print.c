#include <string.h>

#include "../base/buf.h"
#include "json.h"
#include "lockfile.h"
#include "matrix.h"
#include "plan.h"
#include "recipe.h"

const char *plan_kind_name(enum plan_step_kind kind)
{
	static const char *const names[] = {[STEP_STUB] = "stub",
	    [STEP_PTX] = "ptx",
	    [STEP_CUBIN] = "cubin",
	    [STEP_FATBIN] = "fatbin",
	    [STEP_HOST] = "host",
	    [STEP_NVCC] = "nvcc",
	    [STEP_BINDING] = "binding",
	    [STEP_LINK_KERNELS] = "link-kernels",
	    [STEP_LINK_BINDING] = "link-binding"};
	return names[kind];
}

static double total_cpu(const struct plan *p)
{
	double sum = 0;
	for (size_t i = 0; i < p->n_steps; i++)
		sum += p->steps[i].cpu_s;
	return sum;
}

static bool is_used(const struct plan *p, const struct host_python *py)
{
	for (size_t i = 0; i < p->n_bindings; i++)
		if (p->bindings[i].python == py)
			return true;
	return false;
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
	for (size_t k = 0; k < p->toolkit->n_parts; k++) {
		if (p->parts[k] && i-- == 0)
			return p->parts[k];
		runtime |= p->parts[k] == p->runtime;
	}
	*what = "runtime";
	return i == 0 && !runtime ? p->runtime : NULL;
}

void plan_print(const struct plan *p, struct buf *out)
{
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
	for (size_t i = 0; i < p->host->n_pythons; i++)
		if (is_used(p, &p->host->pythons[i]) && p->host->pythons[i].package)
			buf_printf(out, "fetch      %s (headers, from apt)\n",
			    p->host->pythons[i].package);
	for (char **v = p->missing_pythons; *v; v++)
		buf_printf(out,
		    "left out   Python %s: no headers here, no libpython%s-dev in apt\n", *v, *v);
	buf_printf(out, "steps      %zu, about %.0f CPU seconds, %u at once, %u of them large\n",
	    p->n_steps, total_cpu(p), p->jobs, p->heavy_jobs);
	for (size_t i = 0; i < p->n_packages; i++)
		buf_printf(out, "package    %s_%s_%s.deb\n", p->packages[i].name,
		    p->packages[i].version, p->packages[i].arch);
}

static void json_pair(struct buf *out, const char *name, const char *value, bool last)
{
	json_string(out, name);
	buf_puts(out, ": ");
	json_string(out, value);
	if (!last)
		buf_puts(out, ", ");
}

static void json_words(struct buf *out, const char *name, char *const *words)
{
	json_string(out, name);
	buf_puts(out, ": [");
	for (; words && *words; words++) {
		json_string(out, *words);
		if (words[1])
			buf_puts(out, ", ");
	}
	buf_puts(out, "]");
}

static const char *comma(size_t i, size_t n)
{
	return i + 1 < n ? "," : "";
}

static void json_fetches(const struct plan *p, struct buf *out)
{
	const struct lock_entry *e;
	const char *what;
	buf_puts(out, "  \"fetch\": [\n    {");
	json_pair(out, "file", p->sdist->file, false);
	json_pair(out, "sha256", p->sdist->sha256, true);
	buf_puts(out, "}");
	for (size_t i = 0; (e = fetch_at(p, i, &what)); i++) {
		buf_puts(out, ",\n    {");
		json_pair(out, "file", e->file, false);
		json_pair(out, "what", what, false);
		json_pair(out, "record_sha256", e->record_sha256 ? e->record_sha256 : "", true);
		buf_puts(out, "}");
	}
	for (size_t i = 0; i < p->host->n_pythons; i++) {
		const struct host_python *py = &p->host->pythons[i];
		if (!is_used(p, py) || !py->package)
			continue;
		buf_puts(out, ",\n    {");
		json_pair(out, "apt", py->package, false);
		json_pair(out, "sha256", py->package_sha256, true);
		buf_puts(out, "}");
	}
	buf_puts(out, "\n  ],\n");
}

static void json_steps(const struct plan *p, struct buf *out)
{
	buf_puts(out, "  \"steps\": [\n");
	for (size_t i = 0; i < p->n_steps; i++) {
		const struct plan_step *s = &p->steps[i];
		buf_puts(out, "    {");
		json_pair(out, "kind", plan_kind_name(s->kind), false);
		json_pair(out, "name", s->name, false);
		json_pair(out, "out", s->out, false);
		json_words(out, "in", s->in);
		buf_printf(
		    out, ", \"heavy\": %s, \"cpu_s\": %g, ", s->heavy ? "true" : "false", s->cpu_s);
		json_pair(out, "key", s->key, false);
		json_words(out, "argv", s->argv);
		buf_printf(out, "}%s\n", comma(i, p->n_steps));
	}
	buf_puts(out, "  ],\n");
}

void plan_print_json(const struct plan *p, struct buf *out)
{
	buf_puts(out, "{\n  ");
	json_pair(out, "recipe", p->recipe->name, false);
	json_pair(out, "version", p->recipe->deb_version, false);
	json_pair(out, "cuda", p->cuda, false);
	json_pair(out, "flavour", p->flavour, false);
	json_pair(out, "compiler", p->host->compiler, false);
	buf_puts(out, "\n  \"archs\": [");
	for (size_t i = 0; i < p->n_archs; i++) {
		json_string(out, p->archs[i]->cc);
		buf_puts(out, i + 1 < p->n_archs ? ", " : "],\n");
	}
	buf_puts(out, "  \"bindings\": [\n");
	for (size_t i = 0; i < p->n_bindings; i++) {
		buf_puts(out, "    {");
		json_pair(out, "torch", p->bindings[i].torch->version, false);
		json_pair(out, "python", p->bindings[i].python->version, false);
		json_pair(out, "file", p->bindings[i].file, true);
		buf_printf(out, "}%s\n", comma(i, p->n_bindings));
	}
	buf_puts(out, "  ],\n  ");
	json_words(out, "missing_pythons", p->missing_pythons);
	buf_puts(out, ",\n");
	json_fetches(p, out);
	json_steps(p, out);
	buf_puts(out, "  \"packages\": [\n");
	for (size_t i = 0; i < p->n_packages; i++) {
		buf_puts(out, "    {");
		json_pair(out, "package", p->packages[i].name, false);
		json_pair(out, "version", p->packages[i].version, false);
		json_pair(out, "architecture", p->packages[i].arch, true);
		buf_printf(out, "}%s\n", comma(i, p->n_packages));
	}
	buf_printf(out, "  ],\n  \"jobs\": %u, \"heavy_jobs\": %u\n}\n", p->jobs, p->heavy_jobs);
}
