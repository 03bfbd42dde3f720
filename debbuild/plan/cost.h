/*
 * What a plan costs: CPU time, memory and output of each step, from what steps left in the object
 * cache (step_cost.h), and how long its graph takes. All but cost_estimate is pure.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct err;
struct plan;

enum cost_source {
	COST_TYPICAL, /* nothing was measured: what the plan takes for typical */
	COST_ALIKE,   /* the dearest measured step whose name differs in version numbers alone */
	COST_MEASURED /* this very step ran here, or wherever the cache comes from */
};

struct step_estimate {
	double cpu_s;
	double wall_s;	  /* what it took where it was measured; 0: unknown */
	uint64_t max_rss; /* bytes */
	uint64_t bytes;	  /* of the output; 0: unknown */
	enum cost_source source;
};

/* One estimate for each step of the plan, in the arena. objects: the object cache, may be absent.
 */
int cost_estimate(struct arena *a, const struct plan *p, const char *objects,
    struct step_estimate **out, struct err *err) _must_check_;

/* A cluster for a simulation; each step takes one core, and memory is taken to suffice. */
struct cost_cluster {
	unsigned nodes, cores; /* cores of each node */
};
/* "10x16"; ERR_USAGE if it is none such. */
int cost_parse_cluster(const char *text, struct cost_cluster *out, struct err *err) _must_check_;

/*
 * Seconds of the longest chain of steps, each of which takes seconds[i]. path (room for all steps)
 * gets the steps of it, first to last.
 */
double cost_longest_path(const struct plan *p, const double *seconds, size_t *path, size_t *n);
/*
 * Seconds until all is done on so many cores, by a list schedule: whenever a core is free, it takes
 * the first step, in the order of the plan, that can start. starts (may be NULL): when each does.
 */
double cost_schedule(const struct plan *p, const double *seconds, unsigned cores, double *starts);

/* For people, or as JSON. cluster may be NULL. */
void cost_print(const struct plan *p, const struct step_estimate *e,
    const struct cost_cluster *cluster, struct buf *out);
void cost_print_json(const struct plan *p, const struct step_estimate *e,
    const struct cost_cluster *cluster, struct buf *out);
