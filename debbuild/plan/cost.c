#include "cost.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "plan.h"
#include "step_cost.h"

/* What a step that is not heavy takes, where nothing is known. */
#define LIGHT_RSS ((uint64_t)500 << 20)

/* A version begins with a digit and may end in the letter of a Python or an arch ("3.13t"). */
static const char *skip_version(const char *s)
{
	while (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1])))
		s++;
	if ((*s == 't' || *s == 'a') && !isalnum((unsigned char)s[1]))
		s++;
	return s;
}

/* Whether two names differ in version numbers alone. */
static bool are_alike(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			a = skip_version(a);
			b = skip_version(b);
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

static void raise_to(struct step_estimate *e, const struct step_record *r)
{
	e->cpu_s = r->cpu_s > e->cpu_s ? r->cpu_s : e->cpu_s;
	e->wall_s = r->wall_s > e->wall_s ? r->wall_s : e->wall_s;
	e->max_rss = r->max_rss > e->max_rss ? r->max_rss : e->max_rss;
	e->bytes = r->bytes > e->bytes ? r->bytes : e->bytes;
}

/* One measured step: the same, or like those of the plan that were not measured themselves. */
static void apply(
    const struct plan *p, const char *key, const struct step_record *r, struct step_estimate *e)
{
	for (size_t i = 0; i < p->n_steps; i++) {
		const struct plan_step *s = &p->steps[i];
		if (!strcmp(s->key, key)) {
			e[i] = (struct step_estimate){.source = COST_MEASURED};
			raise_to(&e[i], r);
			continue;
		}
		/* nvcc compiles for all archs at once; their number is not in the name. */
		if (e[i].source == COST_MEASURED || s->kind == STEP_NVCC ||
		    !are_alike(s->name, r->name))
			continue;
		if (e[i].source == COST_TYPICAL)
			e[i] = (struct step_estimate){.source = COST_ALIKE};
		raise_to(&e[i], r);
	}
}

static int read_folder(
    const struct plan *p, const char *dir, struct step_estimate *e, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_list(dir, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		_free_ char *file = path_join(dir, names.v[i]);
		struct step_record r;
		struct stat st;
		if (!str_ends(file, ".cost") || !step_record_read(&a, file, &r))
			continue;
		names.v[i][strlen(names.v[i]) - strlen(".cost")] = '\0';
		file[strlen(file) - strlen(".cost")] = '\0';
		if (!r.bytes && stat(file, &st) == 0)
			r.bytes = (uint64_t)st.st_size;
		apply(p, names.v[i], &r, e);
	}
	return 0;
}

int cost_estimate(struct arena *a, const struct plan *p, const char *objects,
    struct step_estimate **out, struct err *err)
{
	_cleanup_(strv_done) struct strv folders = STRV_INIT;
	struct step_estimate *e = arena_alloc(a, (p->n_steps + 1) * sizeof *e);
	for (size_t i = 0; i < p->n_steps; i++)
		e[i] = (struct step_estimate){.cpu_s = p->steps[i].cpu_s,
		    .max_rss = p->steps[i].heavy ? p->heavy_bytes : LIGHT_RSS};
	if (path_is_dir(objects) && path_list(objects, &folders, err) < 0)
		return -1;
	for (size_t i = 0; i < folders.n; i++) {
		_free_ char *dir = path_join(objects, folders.v[i]);
		if (path_is_dir(dir) && read_folder(p, dir, e, err) < 0)
			return -1;
	}
	*out = e;
	return 0;
}

int cost_parse_cluster(const char *text, struct cost_cluster *out, struct err *err)
{
	_free_ char *nodes = xstrndup(text, strcspn(text, "x"));
	const char *cores = text + strlen(nodes) + (text[strlen(nodes)] == 'x');
	unsigned long long n, c;
	if (str_parse_u64(nodes, 100000, &n) < 0 || str_parse_u64(cores, 100000, &c) < 0 || !n ||
	    !c)
		return err_set(err, ERR_USAGE,
		    "'%s' is no cluster: give nodes and the cores of each, such as 10x16", text);
	*out = (struct cost_cluster){.nodes = (unsigned)n, .cores = (unsigned)c};
	return 0;
}
