#include <string.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/xalloc.h"
#include "cost.h"
#include "../../lib/base/json.h"
#include "plan.h"
#include "../data/recipe.h"

/* What follows from the estimates. */
struct sums {
	double cpu_s, longest_s, wall_s;
	uint64_t bytes, max_rss;
	size_t from[COST_MEASURED + 1];
	size_t *path, n_path;
};

static void sums_done(struct sums *s)
{
	free(s->path);
}

static void sums_make(struct sums *s, const struct plan *p, const struct step_estimate *e,
    const struct cost_cluster *cluster)
{
	_free_ double *seconds = xcalloc(p->n_steps + 1, sizeof *seconds);
	*s = (struct sums){.path = xcalloc(p->n_steps + 1, sizeof *s->path)};
	for (size_t i = 0; i < p->n_steps; i++) {
		seconds[i] = e[i].cpu_s;
		s->cpu_s += e[i].cpu_s;
		s->bytes += e[i].bytes;
		s->max_rss = e[i].max_rss > s->max_rss ? e[i].max_rss : s->max_rss;
		s->from[e[i].source]++;
	}
	s->longest_s = cost_longest_path(p, seconds, s->path, &s->n_path);
	if (cluster)
		s->wall_s = cost_schedule(p, seconds, cluster->nodes * cluster->cores, NULL);
}

static const char *source_name(enum cost_source source)
{
	static const char *const names[] = {
	    [COST_TYPICAL] = "typical", [COST_ALIKE] = "alike", [COST_MEASURED] = "measured"};
	return names[source];
}

static double mb(uint64_t bytes)
{
	return (double)bytes / 1e6;
}

void cost_print(const struct plan *p, const struct step_estimate *e,
    const struct cost_cluster *cluster, struct buf *out)
{
	_cleanup_(sums_done) struct sums s;
	sums_make(&s, p, e, cluster);
	buf_printf(out, "%s %s for CUDA %s (%s)\n", p->recipe->name, p->recipe->deb_version,
	    p->cuda, p->flavour);
	buf_puts(out, "   CPU s  memory MB  output MB  known     step\n");
	for (size_t i = 0; i < p->n_steps; i++)
		buf_printf(out, "%8.1f  %9.0f  %9.2f  %-8s  %s\n", e[i].cpu_s, mb(e[i].max_rss),
		    mb(e[i].bytes), source_name(e[i].source), p->steps[i].name);
	buf_printf(out,
	    "steps      %zu: %zu measured, %zu as the dearest measured that is alike, %zu "
	    "typical\n",
	    p->n_steps, s.from[COST_MEASURED], s.from[COST_ALIKE], s.from[COST_TYPICAL]);
	buf_printf(out,
	    "total      %.0f CPU seconds (%.1f hours), %.1f MB of outputs, up to %.0f MB of memory "
	    "for a step\n",
	    s.cpu_s, s.cpu_s / 3600, mb(s.bytes), mb(s.max_rss));
	buf_printf(out, "longest    %.0f seconds, whatever the number of cores:\n", s.longest_s);
	for (size_t i = 0; i < s.n_path; i++)
		buf_printf(out, "%17.1f  %s\n", e[s.path[i]].cpu_s, p->steps[s.path[i]].name);
	if (cluster)
		buf_printf(out, "simulated  %u nodes of %u cores: %.0f seconds (%.1f minutes)\n",
		    cluster->nodes, cluster->cores, s.wall_s, s.wall_s / 60);
}

static void json_steps(const struct plan *p, const struct step_estimate *e, struct buf *out)
{
	buf_puts(out, "  \"steps\": [\n");
	for (size_t i = 0; i < p->n_steps; i++) {
		const struct plan_step *s = &p->steps[i];
		buf_puts(out, "    {");
		json_pair(out, "kind", plan_kind_name(s->kind));
		buf_puts(out, ", ");
		json_pair(out, "name", s->name);
		buf_puts(out, ", ");
		json_pair(out, "key", s->key);
		buf_printf(out,
		    ", \"cpu_s\": %g, \"wall_s\": %g, \"max_rss\": %llu, \"bytes\": %llu, ",
		    e[i].cpu_s, e[i].wall_s, (unsigned long long)e[i].max_rss,
		    (unsigned long long)e[i].bytes);
		json_pair(out, "known", source_name(e[i].source));
		buf_printf(out, "}%s\n", i + 1 < p->n_steps ? "," : "");
	}
	buf_puts(out, "  ],\n");
}

void cost_print_json(const struct plan *p, const struct step_estimate *e,
    const struct cost_cluster *cluster, struct buf *out)
{
	_cleanup_(sums_done) struct sums s;
	sums_make(&s, p, e, cluster);
	buf_puts(out, "{\n  ");
	json_pair(out, "recipe", p->recipe->name);
	buf_puts(out, ", ");
	json_pair(out, "version", p->recipe->deb_version);
	buf_puts(out, ", ");
	json_pair(out, "cuda", p->cuda);
	buf_puts(out, ",\n");
	json_steps(p, e, out);
	buf_printf(out, "  \"cpu_s\": %g, \"bytes\": %llu, \"max_rss\": %llu,\n", s.cpu_s,
	    (unsigned long long)s.bytes, (unsigned long long)s.max_rss);
	buf_printf(out, "  \"longest_path\": {\"cpu_s\": %g, \"steps\": [", s.longest_s);
	for (size_t i = 0; i < s.n_path; i++) {
		buf_puts(out, i ? ", " : "");
		json_string(out, p->steps[s.path[i]].name);
	}
	buf_puts(out, "]}");
	if (cluster)
		buf_printf(out,
		    ",\n  \"simulated\": {\"nodes\": %u, \"cores\": %u, \"wall_s\": %g}",
		    cluster->nodes, cluster->cores, s.wall_s);
	buf_puts(out, "\n}\n");
}
