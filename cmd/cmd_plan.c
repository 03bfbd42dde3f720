/* debkit plan: what a build would fetch, run and pack. */
#include <stdio.h>

#include "../lib/base/arena.h"
#include "../lib/base/buf.h"
#include "../lib/base/err.h"
#include "../lib/base/path.h"
#include "../lib/base/xalloc.h"
#include "../debbuild/plan/cost.h"
#include "build_opts.h"
#include "cmd.h"

static struct build_opts b;
static bool json, cost;
static const char *simulate;

static const struct opt opts[] = {BUILD_FILTER_OPTS(b),
    {"json", 0, OPT_FLAG, NULL, "the plan as JSON, each step with its command and key", &json},
    {"cost", 0, OPT_FLAG, NULL,
	"what each step costs, as far as steps were measured, the sum and the longest path", &cost},
    {"simulate", 0, OPT_STRING, "NODESxCORES",
	"as --cost, and the time that a cluster of so many nodes would take", &simulate},
    {NULL, 0, OPT_END, NULL, NULL, NULL}};

static int print_cost(struct arena *a, const struct plan *p, struct buf *out, struct err *err)
{
	_free_ char *cache = path_cache_dir(err);
	struct cost_cluster cluster;
	struct step_estimate *e;
	if (!cache || (simulate && cost_parse_cluster(simulate, &cluster, err) < 0))
		return -1;
	_free_ char *objects = path_join(cache, "object");
	if (cost_estimate(a, p, objects, &e, err) < 0)
		return -1;
	(json ? cost_print_json : cost_print)(p, e, simulate ? &cluster : NULL, out);
	return 0;
}

static int run(const struct strv *operands, struct err *err)
{
	(void)operands;
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf out = BUF_INIT((size_t)256 << 20);
	_cleanup_(strv_done) struct strv recipes = STRV_INIT;
	if (build_opts_recipes(&b, &recipes, err) < 0)
		return -1;
	bool list = json && recipes.n > 1;
	for (size_t i = 0; i < recipes.n; i++) {
		struct pipeline_request r;
		_cleanup_(pipeline_plan_done) struct pipeline_plan pp = {0};
		if (build_opts_request(&b, recipes.v[i], &r, err) < 0 ||
		    pipeline_plan(&a, &r, &pp, err) < 0)
			return -1;
		buf_puts(&out, !list ? (i ? "\n" : "") : i ? "," : "[");
		if (!cost && !simulate)
			(json ? plan_print_json : plan_print)(&pp.plan, &out);
		else if (print_cost(&a, &pp.plan, &out, err) < 0)
			return -1;
	}
	buf_puts(&out, list ? "]\n" : "");
	if (buf_check(&out, "the plan", err) < 0)
		return -1;
	fwrite(out.data, 1, out.len, stdout);
	return 0;
}

const struct cmd cmd_plan = {"plan", "show what a build would do", "",
    "Computes what `debkit build` with the same options would fetch, compile and pack, and prints "
    "it. Nothing is fetched or compiled, and nothing is written but notes in the cache of what "
    "apt offers.",
    opts, 0, 0, run};
