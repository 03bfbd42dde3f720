#include "cost.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/xalloc.h"
#include "plan.h"

#define NONE SIZE_MAX

/* For each step those whose outputs it takes, NONE at the end; of one block. */
struct graph {
	size_t **needs;
	size_t *room;
};

static void graph_done(struct graph *g)
{
	free(g->needs);
	free(g->room);
}

static size_t find_maker(const struct plan *p, const char *out)
{
	for (size_t i = 0; i < p->n_steps; i++)
		if (!strcmp(p->steps[i].out, out))
			return i;
	return NONE;
}

static void graph_make(struct graph *g, const struct plan *p)
{
	size_t n = p->n_steps;
	for (size_t i = 0; i < p->n_steps; i++)
		for (char **in = p->steps[i].in; *in; in++)
			n++;
	*g = (struct graph){.needs = xcalloc(p->n_steps + 1, sizeof *g->needs),
	    .room = xcalloc(n + 1, sizeof *g->room)};
	size_t *at = g->room;
	for (size_t i = 0; i < p->n_steps; i++) {
		g->needs[i] = at;
		for (char **in = p->steps[i].in; *in; in++) {
			size_t maker = find_maker(p, *in);
			if (maker != NONE)
				*at++ = maker;
		}
		*at++ = NONE;
	}
}

double cost_longest_path(const struct plan *p, const double *seconds, size_t *path, size_t *n)
{
	_cleanup_(graph_done) struct graph g;
	_free_ double *end = xcalloc(p->n_steps + 1, sizeof *end);
	_free_ size_t *before = xcalloc(p->n_steps + 1, sizeof *before);
	size_t last = NONE;
	graph_make(&g, p);
	/* Steps come after those they need. */
	for (size_t i = 0; i < p->n_steps; i++) {
		before[i] = NONE;
		for (size_t *k = g.needs[i]; *k != NONE; k++)
			if (before[i] == NONE || end[*k] > end[before[i]])
				before[i] = *k;
		end[i] = seconds[i] + (before[i] == NONE ? 0 : end[before[i]]);
		if (last == NONE || end[i] > end[last])
			last = i;
	}
	*n = 0;
	for (size_t i = last; i != NONE; i = before[i])
		path[(*n)++] = i;
	for (size_t i = 0; i < *n / 2; i++) {
		size_t other = path[i];
		path[i] = path[*n - 1 - i];
		path[*n - 1 - i] = other;
	}
	return last == NONE ? 0 : end[last];
}

/* A run of the schedule: a step has not begun, or ends at a time. */
struct run {
	const struct graph *g;
	bool *begun;
	double *end;
	double now;
};

static bool can_start(const struct run *r, size_t step)
{
	for (size_t *k = r->g->needs[step]; *k != NONE; k++)
		if (!r->begun[*k] || r->end[*k] > r->now)
			return false;
	return !r->begun[step];
}

/* The earliest end after now; now if nothing runs. */
static double next_end(const struct run *r, size_t n)
{
	double next = r->now;
	for (size_t i = 0; i < n; i++)
		if (r->begun[i] && r->end[i] > r->now && (next <= r->now || r->end[i] < next))
			next = r->end[i];
	return next;
}

static size_t count_running(const struct run *r, size_t n)
{
	size_t running = 0;
	for (size_t i = 0; i < n; i++)
		running += r->begun[i] && r->end[i] > r->now;
	return running;
}

double cost_schedule(const struct plan *p, const double *seconds, unsigned cores, double *starts)
{
	_cleanup_(graph_done) struct graph g;
	_free_ bool *begun = xcalloc(p->n_steps + 1, sizeof *begun);
	_free_ double *end = xcalloc(p->n_steps + 1, sizeof *end);
	struct run r = {.g = &g, .begun = begun, .end = end};
	graph_make(&g, p);
	for (size_t done = 0;;) {
		size_t running = count_running(&r, p->n_steps), before = done;
		for (size_t i = 0; i < p->n_steps && running < cores; i++) {
			if (!can_start(&r, i))
				continue;
			begun[i] = true;
			end[i] = r.now + seconds[i];
			if (starts)
				starts[i] = r.now;
			running += seconds[i] > 0;
			done++;
		}
		double next = next_end(&r, p->n_steps);
		/* Steps of no time may have freed others at this same instant. */
		if (next <= r.now && done == before)
			return r.now;
		r.now = next;
	}
}
