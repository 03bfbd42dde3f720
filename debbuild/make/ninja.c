#include "ninja.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../plan/plan.h"
#include "step.h"

/* Ninja's status prefix, by which its own lines are known from those of a step. */
#define STATUS "@step "

struct run {
	const struct plan *plan;
	const struct ninja_launch *launch;
	unsigned jobs; /* at once */
	const char *work;
	const struct ninja_progress *progress;
	FILE *log;
	double *tail; /* of each step: CPU seconds from its start to the end of what hangs on it */
	size_t done, total;
	double cpu_left; /* of the steps that this run takes */
	struct strv *reasons;
	unsigned since_failed; /* lines since ninja named a step that failed; 0: none did */
	char failed[200];      /* that step */
	char said[400];	       /* the first that such a step said, or ninja itself */
	char last[200];
};

/* Steps come after those they need, so one pass from the end suffices. */
static double *make_tails(const struct plan *p)
{
	double *tail = xcalloc(p->n_steps + 1, sizeof *tail);
	for (size_t i = p->n_steps; i-- > 0;) {
		tail[i] += p->steps[i].cpu_s;
		for (char **in = p->steps[i].in; *in; in++)
			for (size_t k = 0; k < i; k++)
				if (!strcmp(p->steps[k].out, *in) && tail[k] < tail[i])
					tail[k] = tail[i];
	}
	return tail;
}

static const struct plan_step *find_step(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->n_steps; i++)
		if (!strcmp(p->steps[i].name, name))
			return &p->steps[i];
	return NULL;
}

/* Seconds since a running step began: the age of the file that bears its name. */
static double running_for(const struct run *r, const char *name)
{
	_free_ char *file = xasprintf("%s/" STEP_RUNNING_DIR "/%s", r->work, name);
	struct stat st;
	return stat(file, &st) == 0 ? difftime(time(NULL), st.st_mtime) : 0;
}

/*
 * Seconds left: the work left over all jobs, but no less than what the longest chain that
 * begins at a running step still takes.
 */
static double time_left(const struct run *r, const struct strv *running)
{
	double work = r->cpu_left, chain = 0;
	for (size_t i = 0; i < running->n; i++) {
		const struct plan_step *s = find_step(r->plan, running->v[i]);
		double ran = running_for(r, running->v[i]);
		if (!s)
			continue;
		work -= ran < s->cpu_s ? ran : s->cpu_s;
		double rest = r->tail[s - r->plan->steps] - (ran < s->cpu_s ? ran : s->cpu_s);
		chain = rest > chain ? rest : chain;
	}
	work /= r->jobs ? r->jobs : 1;
	return work > chain ? work : chain;
}

/* Shows what runs now, from the names that steps leave while they run. */
static void show(struct run *r)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	_free_ char *dir = path_join(r->work, STEP_RUNNING_DIR);
	if (!r->progress || !r->progress->progress || path_list(dir, &names, NULL) < 0)
		return;
	_free_ char *joined = strv_join(&names, "; ");
	r->progress->progress(
	    r->progress->arg, r->done, r->total, names.n ? joined : r->last, time_left(r, &names));
}

/* The step of a line "FAILED: OUTPUT ", of newer ninjas "FAILED: [code=1] OUTPUT ". */
static void note_failed_step(struct run *r, const char *line)
{
	const char *out = line + strlen("FAILED: ");
	if (*out == '[' && strstr(out, "] "))
		out = strstr(out, "] ") + 2;
	for (size_t i = 0; i < r->plan->n_steps; i++) {
		const struct plan_step *s = &r->plan->steps[i];
		size_t n = strlen(s->out);
		if (!strncmp(s->out, out, n) && (!out[n] || !strcmp(out + n, " ")))
			snprintf(r->failed, sizeof r->failed, "step '%s'", s->name);
	}
}

/* Ninja shows "FAILED: OUTPUT", the command, and what it said, which a launcher may have. */
static void note_failure(struct run *r, const char *line)
{
	if (r->since_failed)
		r->since_failed++;
	else if (str_starts(line, "FAILED: ")) {
		r->since_failed = 1;
		note_failed_step(r, line);
	}
	bool own = str_starts(line, "ninja: ");
	if (r->since_failed == 3 && !own && !str_starts(line, "FAILED: "))
		snprintf(r->said, sizeof r->said, "%s", line);
	else if (!r->since_failed && own && !str_starts(line, "ninja: Entering "))
		snprintf(r->said, sizeof r->said, "%s", line + strlen("ninja: "));
}

static void on_line(void *arg, const char *line)
{
	struct run *r = arg;
	if (r->log)
		fprintf(r->log, "%s\n", line);
	unsigned long done, total;
	int at = 0;
	if (sscanf(line, STATUS "%lu/%lu %n", &done, &total, &at) == 2 && at) {
		const struct plan_step *s = find_step(r->plan, line + at);
		r->done = done;
		r->total = total;
		if (s)
			r->cpu_left -= s->cpu_s;
		snprintf(r->last, sizeof r->last, "%s", s ? s->name : line + at);
		show(r);
		return;
	}
	if (str_starts(line, "debkit: error: "))
		strv_add(r->reasons, line + strlen("debkit: error: "));
	note_failure(r, line);
}

static void on_tick(void *arg)
{
	struct run *r = arg;
	show(r);
}

/* What ninja would run now: their number and CPU time; marks them in undone. */
static int measure(struct run *r, bool *undone, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(16 << 20);
	char *argv[] = {"ninja", "-C", (char *)r->work, "-n", NULL};
	static char *env[] = {"NINJA_STATUS=" STATUS "%f/%t ", NULL};
	if (proc_check(&(struct proc_spec){.argv = argv, .env = env, .out = &text}, err) < 0)
		return -1;
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	strv_split(&lines, buf_str(&text), "\n");
	for (size_t i = 0; i < lines.n; i++) {
		unsigned long done, total;
		int at = 0;
		if (sscanf(lines.v[i], STATUS "%lu/%lu %n", &done, &total, &at) != 2 || !at)
			continue;
		const struct plan_step *s = find_step(r->plan, lines.v[i] + at);
		r->total = total;
		r->cpu_left += s ? s->cpu_s : 1;
		if (s)
			undone[s - r->plan->steps] = true;
	}
	return 0;
}

void ninja_result_done(struct ninja_result *res)
{
	free(res->undone);
	strv_done(&res->reasons);
	free(res->log);
}

/* Of a run in which no step told what failed: what else is known. */
static void guess_reason(struct run *r, int status, char *talk)
{
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	strv_split(&lines, talk, "\n");
	if (lines.n && !r->since_failed)
		snprintf(r->said, sizeof r->said, "%s", lines.v[0]);
	if (r->since_failed)
		strv_addf(r->reasons, "%s could not be run%s%s",
		    r->failed[0] ? r->failed : "a step", r->said[0] ? ": " : "", r->said);
	else
		strv_addf(r->reasons, "ninja ended with status %d%s%s", status,
		    r->said[0] ? ": " : "", r->said);
}

/* Runs what measure found. *failed: some step did not end well. */
static int run_steps(struct run *r, bool *failed, struct err *err)
{
	_cleanup_(strv_done) struct strv argv = STRV_INIT;
	_cleanup_(buf_done) struct buf talk = BUF_INIT(1 << 20);
	strv_add(&argv, "ninja");
	strv_add(&argv, "-C");
	strv_add(&argv, r->work);
	strv_addf(&argv, "-j%u", r->jobs);
	strv_add(&argv, "-k0");
	_free_ char *jobs = r->launch->jobs ? xasprintf(STEP_JOBS_ENV "=%s", r->launch->jobs)
					    : xstrdup(STEP_JOBS_ENV);
	char *env[] = {"NINJA_STATUS=" STATUS "%f/%t ", jobs, NULL};
	struct proc_result res;
	int rc = proc_run(&(struct proc_spec){.argv = argv.v,
			      .env = env,
			      .line = on_line,
			      .errout = &talk,
			      .tick = on_tick,
			      .arg = r},
	    &res, err);
	fputs(buf_str(&talk), r->log);
	if (rc < 0 || intr_check(err) < 0)
		return -1;
	*failed = res.status != 0;
	if (*failed && !r->reasons->n)
		guess_reason(r, res.status, (char *)buf_str(&talk));
	return 0;
}

/*
 * Marks the steps whose outputs are not what they made, and takes those away, so that ninja makes
 * them again: it goes by times alone, and a file may be cut short by a crash or changed by hand.
 */
static int clear_unmade(const struct run *r, bool *unmade, struct err *err)
{
	for (size_t i = 0; i < r->plan->n_steps; i++) {
		const struct plan_step *s = &r->plan->steps[i];
		_free_ char *file = path_join(r->work, s->out);
		if (intr_check(err) < 0)
			return -1;
		unmade[i] = !step_is_made(r->work, s->out, s->key);
		if (unmade[i] && path_remove_tree(file, err) < 0)
			return -1;
	}
	return 0;
}

/* Ninja's word is not enough: it may be another program, and the launcher too. */
static int check_made(
    const struct run *r, const bool *unmade, const struct ninja_result *res, struct err *err)
{
	for (size_t i = 0; i < r->plan->n_steps; i++) {
		const struct plan_step *s = &r->plan->steps[i];
		if (unmade[i] && !res->undone[i] && !step_is_made(r->work, s->out, s->key))
			return err_set(err, ERR_TOOL,
			    "step '%s' was not run, though ninja ended well: look at --launcher "
			    "and at the ninja in PATH",
			    s->name);
	}
	return 0;
}

/* The steps that ninja would run again are those that were not done. */
static int find_undone(struct run *r, struct ninja_result *res, struct err *err)
{
	memset(res->undone, 0, r->plan->n_steps * sizeof *res->undone);
	if (measure(r, res->undone, err) < 0)
		return -1;
	for (size_t i = 0; i < r->plan->n_steps; i++)
		res->n_undone += res->undone[i];
	return res->n_undone ? 0
			     : err_set(err, ERR_TOOL, "%s; the whole text is in '%s'",
				   res->reasons.v[0], res->log);
}

/* Runs what is to be run, and finds what was not. */
static int run_all(struct run *r, struct ninja_result *res, struct err *err)
{
	res->log = path_join(r->work, "build.log");
	r->log = fopen(res->log, "we");
	if (!r->log)
		return err_sys(err, "cannot write '%s'", res->log);
	_free_ double *tail = make_tails(r->plan);
	r->tail = tail;
	bool failed = false;
	int rc = run_steps(r, &failed, err);
	fclose(r->log);
	if (rc < 0)
		return -1;
	if (failed)
		return find_undone(r, res, err);
	memset(res->undone, 0, r->plan->n_steps * sizeof *res->undone);
	return 0;
}

int ninja_run(const struct plan *p, const struct ninja_launch *launch, const char *work,
    const struct ninja_progress *progress, struct ninja_result *res, struct err *err)
{
	struct run r = {.plan = p,
	    .launch = launch,
	    .jobs = p->jobs + launch->slots,
	    .work = work,
	    .progress = progress,
	    .reasons = &res->reasons};
	_free_ char *running = path_join(work, STEP_RUNNING_DIR);
	_free_ bool *unmade = xcalloc(p->n_steps + 1, sizeof *unmade);
	res->undone = xcalloc(p->n_steps + 1, sizeof *res->undone);
	if (path_remove_tree(running, err) < 0 || path_mkdirs(running, err) < 0 ||
	    clear_unmade(&r, unmade, err) < 0 || measure(&r, res->undone, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_steps; i++)
		unmade[i] |= res->undone[i];
	if (r.total && run_all(&r, res, err) < 0)
		return -1;
	return check_made(&r, unmade, res, err);
}
