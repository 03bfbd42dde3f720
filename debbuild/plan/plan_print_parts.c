#include <string.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/json.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "plan_int.h"
#include "../data/recipe.h"

static double total_cpu(const struct plan *p)
{
	double sum = 0;
	for (size_t i = 0; i < p->n_steps; i++)
		sum += p->steps[i].cpu_s;
	return sum;
}

/* Whether something is compiled for this Python. */
static bool is_used(const struct plan *p, const struct host_python *py)
{
	for (size_t i = 0; i < p->n_bindings; i++)
		if (p->bindings[i].python == py)
			return true;
	for (size_t i = 0; i < p->n_tritons; i++)
		for (size_t k = 0; k < p->tritons[i].n_pythons; k++)
			if (p->tritons[i].pythons[k] == py)
				return true;
	return false;
}

void plan_print_apt(const struct plan *p, struct buf *out)
{
	for (size_t i = 0; i < p->host->n_pythons; i++)
		if (is_used(p, &p->host->pythons[i]) && p->host->pythons[i].package)
			buf_printf(out, "fetch      %s (headers, from apt)\n",
			    p->host->pythons[i].package);
}

void plan_print_tail(const struct plan *p, struct buf *out)
{
	for (char **v = p->missing_pythons; *v; v++)
		buf_printf(out,
		    "left out   Python %s: no headers here, no libpython%s-dev in apt\n", *v, *v);
	buf_printf(out, "steps      %zu, about %.0f CPU seconds, %u at once, %u of them large\n",
	    p->n_steps, total_cpu(p), p->jobs, p->heavy_jobs);
	for (size_t i = 0; i < p->n_packages; i++)
		buf_printf(out, "package    %s_%s_%s.deb\n", p->packages[i].name,
		    p->packages[i].version, p->packages[i].arch);
}

void plan_json_pair(struct buf *out, const char *name, const char *value, bool last)
{
	json_pair(out, name, value);
	if (!last)
		buf_puts(out, ", ");
}

void plan_json_head(const struct plan *p, struct buf *out)
{
	buf_puts(out, "{\n  ");
	plan_json_pair(out, "recipe", p->recipe->name, false);
	plan_json_pair(out, "version", p->recipe->deb_version, false);
	plan_json_pair(out, "cuda", p->cuda, false);
	plan_json_pair(out, "flavour", p->flavour, false);
}

void plan_json_wheel(struct buf *out, const struct lock_entry *e, const char *what)
{
	buf_puts(out, "    {");
	plan_json_pair(out, "file", e->file, false);
	plan_json_pair(out, "what", what, false);
	plan_json_pair(out, "record_sha256", e->record_sha256 ? e->record_sha256 : "", true);
	buf_puts(out, "}");
}

void plan_json_apt(const struct plan *p, struct buf *out)
{
	for (size_t i = 0; i < p->host->n_pythons; i++) {
		const struct host_python *py = &p->host->pythons[i];
		if (!is_used(p, py) || !py->package)
			continue;
		buf_puts(out, ",\n    {");
		plan_json_pair(out, "apt", py->package, false);
		plan_json_pair(out, "sha256", py->package_sha256, true);
		buf_puts(out, "}");
	}
	buf_puts(out, "\n  ],\n");
}

void plan_json_words(struct buf *out, const char *name, char *const *words)
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

const char *plan_json_comma(size_t i, size_t n)
{
	return i + 1 < n ? "," : "";
}

void plan_json_archs(const struct plan *p, struct buf *out)
{
	buf_puts(out, "\n  \"archs\": [");
	for (size_t i = 0; i < p->n_archs; i++) {
		json_string(out, p->archs[i]->cc);
		buf_puts(out, i + 1 < p->n_archs ? ", " : "],\n");
	}
}

static void json_steps(const struct plan *p, struct buf *out)
{
	buf_puts(out, "  \"steps\": [\n");
	for (size_t i = 0; i < p->n_steps; i++) {
		const struct plan_step *s = &p->steps[i];
		buf_puts(out, "    {");
		plan_json_pair(out, "kind", plan_kind_name(s->kind), false);
		plan_json_pair(out, "name", s->name, false);
		plan_json_pair(out, "out", s->out, false);
		plan_json_words(out, "in", s->in);
		buf_printf(
		    out, ", \"heavy\": %s, \"cpu_s\": %g, ", s->heavy ? "true" : "false", s->cpu_s);
		plan_json_pair(out, "key", s->key, false);
		plan_json_words(out, "argv", s->argv);
		buf_printf(out, "}%s\n", plan_json_comma(i, p->n_steps));
	}
	buf_puts(out, "  ],\n");
}

void plan_json_tail(const struct plan *p, struct buf *out)
{
	json_steps(p, out);
	buf_puts(out, "  \"packages\": [\n");
	for (size_t i = 0; i < p->n_packages; i++) {
		buf_puts(out, "    {");
		plan_json_pair(out, "package", p->packages[i].name, false);
		plan_json_pair(out, "version", p->packages[i].version, false);
		plan_json_pair(out, "architecture", p->packages[i].arch, true);
		buf_printf(out, "}%s\n", plan_json_comma(i, p->n_packages));
	}
	buf_printf(out, "  ],\n  \"jobs\": %u, \"heavy_jobs\": %u\n}\n", p->jobs, p->heavy_jobs);
}
