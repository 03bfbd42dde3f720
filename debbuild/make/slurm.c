#include "slurm.h"

#include <ctype.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../plan/cost.h"
#include "../plan/plan.h"

#define ANSWER_S  60
#define TEXT_MAX  ((size_t)16 << 20)
#define LEAVING_S 40 /* Slurm gives a process half a minute to end */

unsigned slurm_parse_minutes(const char *text)
{
	_cleanup_(strv_done) struct strv parts = STRV_INIT;
	unsigned long long days = 0, v, seconds = 0;
	const char *dash = strchr(text, '-');
	if (dash) {
		_free_ char *d = xstrndup(text, (size_t)(dash - text));
		if (str_parse_u64(d, 10000, &days) < 0)
			return 0;
		text = dash + 1;
	}
	strv_split(&parts, text, ":");
	for (size_t i = 0; i < parts.n; i++) {
		if (str_parse_u64(parts.v[i], 100000, &v) < 0)
			return 0;
		seconds = seconds * 60 + v;
	}
	return (unsigned)(days * 24 * 60 + (seconds + 59) / 60);
}

/* "64", and "64+" where nodes differ. */
static unsigned number(const char *text)
{
	unsigned long long v = 0;
	_free_ char *digits = xstrndup(text, strspn(text, "0123456789"));
	return str_parse_u64(digits, 1u << 30, &v) < 0 ? 0 : (unsigned)v;
}

/* States in which a node works or will: "idle", "mix", "alloc~" (sleeps, and is woken). */
static bool takes_jobs(const char *state, const char *avail)
{
	static const char *const good[] = {"idle", "mix", "alloc", "comp", "plnd"};
	if (strcmp(avail, "up") != 0 || strchr(state, '*'))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		if (str_starts(state, good[i]))
			return true;
	return false;
}

enum column { MARKED, NAME, NODES, CPUS, MEMORY, STATE, LIMIT, AVAIL, COLUMNS };

static void add_nodes(struct slurm_cluster *c, char **col, unsigned most, uint64_t heavy_bytes)
{
	unsigned n = number(col[NODES]), cpus = number(col[CPUS]), mb = number(col[MEMORY]);
	if (most && n > most - c->nodes)
		n = most - c->nodes;
	if (!n || !takes_jobs(col[STATE], col[AVAIL]))
		return;
	/* A cluster that does not know the memory of its nodes says 1. */
	uint64_t fit = mb > 1 && heavy_bytes ? ((uint64_t)mb << 20) / heavy_bytes : cpus;
	unsigned heavy = fit < 1 ? 1 : fit < cpus ? (unsigned)fit : cpus;
	if (mb > 1 && (!c->memory_mb || mb < c->memory_mb))
		c->memory_mb = mb;
	c->nodes += n;
	c->cores += n * cpus;
	c->heavy += n * heavy;
	c->minutes = slurm_parse_minutes(col[LIMIT]);
}

int slurm_read_sinfo(struct arena *a, const char *text, const char *partition, unsigned nodes,
    uint64_t heavy_bytes, struct slurm_cluster *out, struct err *err)
{
	_cleanup_(strv_done) struct strv lines = STRV_INIT, known = STRV_INIT;
	*out = (struct slurm_cluster){.partition = NULL};
	strv_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		_cleanup_(strv_done) struct strv col = STRV_INIT;
		strv_split(&col, lines.v[i], "|");
		if (col.n != COLUMNS)
			return err_set(
			    err, ERR_TOOL, "sinfo said '%s', which is not understood", lines.v[i]);
		if (!strv_has(&known, col.v[NAME]))
			strv_add(&known, col.v[NAME]);
		if (partition ? strcmp(col.v[NAME], partition) != 0 : !str_ends(col.v[MARKED], "*"))
			continue;
		out->partition = arena_strdup(a, col.v[NAME]);
		add_nodes(out, col.v, nodes, heavy_bytes);
	}
	_free_ char *list = strv_join(&known, ", ");
	if (!out->partition && partition)
		return err_set(err, ERR_USAGE, "Slurm has no partition '%s'; it has: %s", partition,
		    known.n ? list : "none");
	if (!out->partition)
		return err_set(err, ERR_USAGE,
		    "Slurm has no default partition: name one with --partition; it has: %s",
		    known.n ? list : "none");
	return out->cores ? 0
			  : err_set(err, ERR_TOOL,
				"no node of Slurm's partition '%s' takes jobs: see `sinfo -p %s`",
				out->partition, out->partition);
}

int slurm_look(struct arena *a, const char *partition, unsigned nodes, uint64_t heavy_bytes,
    struct slurm_cluster *out, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX), said = BUF_INIT(TEXT_MAX);
	static const char *const needed[] = {"sinfo", "srun", "squeue", "scontrol", "scancel"};
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		_free_ char *program = path_find_program(needed[i], NULL);
		if (!program)
			return err_set(err, ERR_TOOL,
			    "no '%s' in PATH, and --launcher slurm needs Slurm's client programs: "
			    "apt-get install slurm-client, with the cluster's slurm.conf",
			    needed[i]);
	}
	char *argv[] = {"sinfo", "-e", "-h", "-o", SLURM_SINFO_FORMAT, NULL};
	if (proc_check(&(struct proc_spec){.argv = argv,
			   .out = &text,
			   .errout = &said,
			   .group = true,
			   .timeout_s = ANSWER_S},
		err) < 0)
		return err_wrap(err, "Slurm does not answer (is slurmctld running?)");
	return slurm_read_sinfo(a, buf_str(&text), partition, nodes, heavy_bytes, out, err);
}

/* Half as much again as was measured; what is only typical holds some room already. */
static unsigned memory_mb(const struct step_estimate *e, const struct slurm_cluster *c)
{
	uint64_t bytes = e->source == COST_TYPICAL ? e->max_rss : e->max_rss + e->max_rss / 2;
	unsigned mb = (unsigned)(bytes >> 20) + 200;
	return !c->memory_mb ? 0 : mb < c->memory_mb ? mb : c->memory_mb;
}

/* Four times what was measured: nodes differ, and files may come slowly. */
static unsigned minutes(const struct step_estimate *e, const struct slurm_cluster *c)
{
	double seconds = e->wall_s > e->cpu_s ? e->wall_s : e->cpu_s;
	unsigned m = 10 + (unsigned)(seconds * 4 / 60);
	return c->minutes && m > c->minutes ? c->minutes : m;
}

static void put_jobs(const struct plan *p, const struct step_estimate *e,
    const struct slurm_cluster *c, const char *token, struct buf *out)
{
	buf_printf(out, "Token: %s\nPartition: %s\nMost-Minutes: %u\nMost-Memory: %u\n", token,
	    c->partition, c->minutes, c->memory_mb);
	for (size_t i = 0; i < p->n_steps; i++)
		if (plan_kind_is_costly(p->steps[i].kind))
			buf_printf(out, "\nKey: %s\nMemory: %u\nMinutes: %u\n", p->steps[i].key,
			    memory_mb(&e[i], c), minutes(&e[i], c));
}

int slurm_prepare(const struct plan *p, const struct step_estimate *e,
    const struct slurm_cluster *c, const char *work, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX);
	_free_ char *jobs = path_join(work, SLURM_JOBS);
	_free_ char *token_file = path_join(work, SLURM_TOKEN);
	unsigned char random[8];
	if (getrandom(random, sizeof random, 0) != sizeof random)
		return err_sys(err, "no random numbers");
	_free_ char *token = xasprintf("debkit-%02x%02x%02x%02x%02x%02x%02x%02x", random[0],
	    random[1], random[2], random[3], random[4], random[5], random[6], random[7]);
	slurm_cancel_all(work);
	put_jobs(p, e, c, token, &text);
	if (buf_check(&text, jobs, err) < 0 || path_mkdirs_for(jobs, err) < 0 ||
	    outfile_put(jobs, 0644, text.data, text.len, err) < 0)
		return -1;
	return outfile_put(token_file, 0644, token, strlen(token), err);
}

/* The jobs in the queue that bear this token as their comment. False if Slurm does not answer. */
static bool find_jobs(const char *token, struct strv *ids)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX), said = BUF_INIT(TEXT_MAX);
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	char *argv[] = {"squeue", "--me", "-h", "-o", "%i %k", NULL};
	if (proc_check(&(struct proc_spec){.argv = argv,
			   .out = &text,
			   .errout = &said,
			   .group = true,
			   .timeout_s = ANSWER_S,
			   .tidy = true},
		NULL) < 0)
		return false;
	strv_split(&lines, buf_str(&text), "\n");
	for (size_t i = 0; i < lines.n; i++) {
		char *space = strchr(lines.v[i], ' ');
		if (!space || strcmp(space + 1, token) != 0)
			continue;
		*space = '\0';
		strv_add(ids, lines.v[i]);
	}
	return true;
}

void slurm_cancel_all(const char *work)
{
	_cleanup_(buf_done) struct buf token = BUF_INIT(100);
	_free_ char *file = path_join(work, SLURM_TOKEN);
	if (!path_exists(file) || path_read(file, &token, NULL) < 0)
		return;
	for (unsigned round = 0; round < 2 * LEAVING_S; round++) {
		_cleanup_(strv_done) struct strv argv = STRV_INIT;
		_cleanup_(buf_done) struct buf said = BUF_INIT(TEXT_MAX);
		strv_add(&argv, "scancel");
		if (!find_jobs(buf_str(&token), &argv) || argv.n == 1)
			return;
		if (round == 0)
			(void)!proc_check(&(struct proc_spec){.argv = argv.v,
					      .errout = &said,
					      .group = true,
					      .timeout_s = ANSWER_S,
					      .tidy = true},
			    NULL);
		nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
	}
}
