#include <string.h>

#include "../base/buf.h"
#include "json.h"
#include "matrix.h"
#include "plan_int.h"

static double total_cpu(const struct plan *p)
{
	double sum = 0;
	for (size_t i = 0; i < p->n_steps; i++)
		sum += p->steps[i].cpu_s;
	return sum;
}

void plan_print_tail(const struct plan *p, struct buf *out)
{
	buf_printf(out, "steps      %zu, about %.0f CPU seconds, %u at once, %u of them large\n",
	    p->n_steps, total_cpu(p), p->jobs, p->heavy_jobs);
	for (size_t i = 0; i < p->n_packages; i++)
		buf_printf(out, "package    %s_%s_%s.deb\n", p->packages[i].name,
		    p->packages[i].version, p->packages[i].arch);
}

void plan_json_pair(struct buf *out, const char *name, const char *value, bool last)
{
	json_string(out, name);
	buf_puts(out, ": ");
	json_string(out, value);
	if (!last)
		buf_puts(out, ", ");
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
