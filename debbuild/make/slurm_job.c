#include "slurm_job.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/stanza.h"
#include "slurm.h"
#include "step.h"

#define TEXT_MAX   ((size_t)8 << 20)
#define ANSWER_S   30
#define PATIENCE_S 300 /* for a controller that does not answer */
#define LATE_S	   20
/* srun is told how its job ends. Should the controller have forgotten the job, it is not. */
#define LOOK_WAITING_S 20
#define LOOK_RUNNING_S 120

/* Words in front of lines by which the job's shell reports. */
#define AT_NODE "debkit-job "
#define UNSEEN	"debkit-unseen "
#define DIFFERS "debkit-differs "
#define OWN	"debkit: error: "

/*
 * Run on the node: says where it is, looks for the folders (a node without them would go on in
 * /tmp) and for the same compilers (the key of a step holds their version here), and becomes the
 * step. Arguments: work folder, token, cache, pairs of a program and the first line of its
 * --version, "--", the step.
 */
static const char on_node[] =
    "echo \"" AT_NODE "$SLURM_JOB_ID $SLURMD_NODENAME\" >&2; "
    "unseen() { echo \"" UNSEEN "$1\" >&2; exit 97; }; "
    "[ \"$(cat \"$1/" SLURM_TOKEN "\" 2>/dev/null)\" = \"$2\" ] && cd \"$1\" || unseen \"$1\"; "
    "[ -d \"$3\" ] || unseen \"$3\"; shift 3; "
    "while [ \"$1\" != -- ]; do said=$(\"$1\" --version 2>/dev/null | head -n 1); "
    "[ \"$said\" = \"$2\" ] || "
    "{ echo \"" DIFFERS "'$1' says '$said', here '$2'\" >&2; exit 97; }; shift 2; done; shift; "
    "[ -x \"$1\" ] || unseen \"$1\"; exec \"$@\"";

/* One try. */
struct attempt {
	const struct slurm_job *job;
	struct buf said; /* standard error */
	char id[32], node[64];
	bool lost; /* the job ended and srun was not told */
	double looked;
	unsigned ended_looks;
};

static void attempt_done(struct attempt *t)
{
	buf_done(&t->said);
}

static int number_of(const struct stanza *s, const char *name, unsigned *out)
{
	const char *text = stanza_get(s, name);
	unsigned long long v;
	if (!text || str_parse_u64(text, UINT32_MAX, &v) < 0)
		return -1;
	*out = (unsigned)v;
	return 0;
}

int slurm_job_load(struct arena *a, const char *file, const char *key, struct slurm_job *out,
    bool *found, struct err *err)
{
	struct stanza_list list = {0};
	*found = false;
	if (stanza_parse_file(a, file, 0, &list, err) < 0)
		return -1;
	*out = (struct slurm_job){.token = list.n ? stanza_get(&list.v[0], "Token") : NULL,
	    .partition = list.n ? stanza_get(&list.v[0], "Partition") : NULL};
	bool good = out->token && out->partition &&
		    number_of(&list.v[0], "Most-Minutes", &out->most_minutes) == 0 &&
		    number_of(&list.v[0], "Most-Memory", &out->most_memory_mb) == 0;
	for (size_t i = 1; good && i < list.n && !*found; i++) {
		*found = str_eq(stanza_get(&list.v[i], "Key"), key);
		good = !*found || (number_of(&list.v[i], "Memory", &out->memory_mb) == 0 &&
				      number_of(&list.v[i], "Minutes", &out->minutes) == 0);
	}
	out->key = key;
	return good ? 0 : err_set(err, ERR_FORMAT, "'%s' is no file of jobs", file);
}

/* The number of the job, from srun while it waits, from the job's shell once it runs. */
static void read_id(struct attempt *t)
{
	const char *text = buf_str(&t->said), *at = strstr(text, AT_NODE);
	if (at && sscanf(at, AT_NODE "%31s %63s", t->id, t->node) >= 1)
		return;
	at = strstr(text, "srun: job ");
	if (at && !t->id[0])
		sscanf(at, "srun: job %31[0-9]", t->id);
}

/*
 * JobState of a job, which the caller frees; "" if Slurm does not know it (any more); NULL if it
 * does not answer.
 */
static char *ask_state(const char *id)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX);
	char *argv[] = {"scontrol", "-o", "show", "job", (char *)id, NULL};
	struct proc_result res;
	if (proc_run(&(struct proc_spec){.argv = argv,
			 .out = &text,
			 .errout = &text,
			 .group = true,
			 .timeout_s = ANSWER_S,
			 .tidy = true},
		&res, NULL) < 0)
		return NULL;
	const char *state = strstr(buf_str(&text), "JobState=");
	if (res.status == 0 && state)
		return xstrndup(
		    state + strlen("JobState="), strcspn(state + strlen("JobState="), " \n"));
	return strstr(buf_str(&text), "Invalid job id") ? xstrdup("") : NULL;
}

static bool is_over(const char *state)
{
	static const char *const alive[] = {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING",
	    "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING", "REQUEUED",
	    "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"};
	for (size_t i = 0; i < ARRAY_SIZE(alive); i++)
		if (!strcmp(state, alive[i]))
			return false;
	return true;
}

static void on_tick(void *arg)
{
	struct attempt *t = arg;
	double now = clock_monotonic();
	read_id(t);
	if (!t->id[0] || now - t->looked < (t->node[0] ? LOOK_RUNNING_S : LOOK_WAITING_S))
		return;
	t->looked = now;
	_free_ char *state = ask_state(t->id);
	if (!state)
		return;
	t->ended_looks = is_over(state) ? t->ended_looks + 1 : 0;
	t->lost = t->ended_looks > 1;
}

static bool says_any(const char *said, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(said, words[i]))
			return true;
	return false;
}

enum slurm_fate slurm_job_fate(const char *said, const char *state)
{
	static const struct {
		const char *state;
		enum slurm_fate fate;
	} states[] = {{"TIMEOUT", SLURM_TIME}, {"DEADLINE", SLURM_TIME},
	    {"OUT_OF_MEMORY", SLURM_MEMORY}, {"NODE_FAIL", SLURM_LOST}, {"BOOT_FAIL", SLURM_LOST},
	    {"PREEMPTED", SLURM_LOST}, {"REVOKED", SLURM_LOST}};
	static const char *const away[] = {"Unable to contact slurm controller", "timed out",
	    "Connection refused", "Zero Bytes were transmitted", "standby mode",
	    "Unable to establish controller machine", "Resource temporarily unavailable",
	    "Unexpected message received", "Communication connection failure"};
	static const char *const by_hand[] = {
	    " CANCELLED AT ", "Force Terminated", "has been revoked", "has been cancelled"};
	if (strstr(said, UNSEEN))
		return SLURM_UNSEEN;
	if (strstr(said, DIFFERS))
		return SLURM_DIFFERS;
	for (size_t i = 0; state && i < ARRAY_SIZE(states); i++)
		if (!strcmp(state, states[i].state))
			return states[i].fate;
	if (strstr(said, "DUE TO TIME LIMIT"))
		return SLURM_TIME;
	if (strstr(said, "DUE TO PREEMPTION") || strstr(said, "DUE TO NODE FAILURE") ||
	    strstr(said, "DUE TO JOB REQUEUE"))
		return SLURM_LOST;
	if (state && !strcmp(state, "CANCELLED") && says_any(said, by_hand, ARRAY_SIZE(by_hand)))
		return SLURM_CANCELLED;
	if (strstr(said, OWN))
		return SLURM_FAILED;
	if (strstr(said, AT_NODE) || (state && *state))
		return SLURM_LOST;
	if (says_any(said, away, ARRAY_SIZE(away)))
		return SLURM_AWAY;
	return state ? SLURM_LOST : SLURM_REFUSED;
}

/* Adds a program found in PATH and the first line of its --version. */
static void add_version(struct strv *v, const char *program)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX), said = BUF_INIT(TEXT_MAX);
	char *argv[] = {(char *)program, "--version", NULL};
	if (strchr(program, '/') || proc_check(&(struct proc_spec){.argv = argv,
						   .out = &text,
						   .errout = &said,
						   .group = true,
						   .timeout_s = ANSWER_S},
					NULL) < 0)
		return;
	strv_add(v, program);
	strv_take(v, xstrndup(buf_str(&text), strcspn(buf_str(&text), "\n")));
}

/* Runs srun once. */
static int run_once(struct attempt *t, char *const *argv, const char *cache,
    struct proc_result *res, struct err *err)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	_free_ char *work = getcwd(NULL, 0);
	static const char *const fixed[] = {"srun", "--nodes=1", "--ntasks=1", "--cpus-per-task=1",
	    "--input=none", "--quit-on-interrupt", "--kill-on-bad-exit=0"};
	/* A build inside an allocation asks for jobs of its own, too. */
	static char *env[] = {STEP_JOBS_ENV, "SLURM_JOB_ID", "SLURM_JOBID", "SLURM_STEP_ID",
	    "SLURM_NNODES", "SLURM_JOB_NUM_NODES", "SLURM_NTASKS", "SLURM_NPROCS",
	    "SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU", "SLURM_JOB_NAME",
	    "SLURM_NODELIST", "SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE", "SLURM_DISTRIBUTION",
	    NULL};
	if (!work)
		return err_sys(err, "cannot tell the working folder");
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_add(&v, fixed[i]);
	strv_addf(&v, "--partition=%s", t->job->partition);
	if (t->job->memory_mb)
		strv_addf(&v, "--mem=%uM", t->job->memory_mb);
	strv_addf(&v, "--time=%u", t->job->minutes);
	strv_addf(&v, "--job-name=debkit:%s", t->job->out);
	strv_addf(&v, "--comment=%s", t->job->token);
	strv_add(&v, "/bin/sh");
	strv_add(&v, "-c");
	strv_add(&v, on_node);
	strv_add(&v, "sh");
	strv_add(&v, work);
	strv_add(&v, t->job->token);
	strv_add(&v, cache);
	add_version(&v, "g++");
	add_version(&v, t->job->compiler);
	strv_add(&v, "--");
	for (; *argv; argv++)
		strv_add(&v, *argv);
	t->looked = clock_monotonic();
	return proc_run(&(struct proc_spec){.argv = v.v,
			    .env = env,
			    .errout = &t->said,
			    .tick = on_tick,
			    .arg = t,
			    .group = true,
			    .stop = &t->lost},
	    res, err);
}

/* A job that was started for a step which has to end. */
static void cancel(const char *id)
{
	_cleanup_(buf_done) struct buf said = BUF_INIT(TEXT_MAX);
	char *argv[] = {"scancel", (char *)id, NULL};
	(void)!proc_check(
	    &(struct proc_spec){
		.argv = argv, .errout = &said, .group = true, .timeout_s = ANSWER_S, .tidy = true},
	    NULL);
}

/* The state in which a job came to rest: waits for that a little. */
static char *final_state(const char *id)
{
	double until = clock_monotonic() + PATIENCE_S;
	for (;;) {
		char *state = ask_state(id);
		if ((state && is_over(state)) || clock_monotonic() > until || intr_pending())
			return state;
		/* srun has ended, so a job that runs on has nobody to report to. */
		if (state)
			cancel(id);
		free(state);
		nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
	}
}

/* The first line that has this in it, from there on; NULL if none. */
static char *line_with(const char *said, const char *word, bool last)
{
	const char *at = strstr(said, word);
	for (const char *next = at; last && next; next = strstr(next + 1, word))
		at = next;
	return at ? xstrndup(at + strlen(word), strcspn(at + strlen(word), "\n")) : NULL;
}

static int tell(const struct attempt *t, enum slurm_fate fate, unsigned tries, struct err *err)
{
	const struct slurm_job *j = t->job;
	const char *said = buf_str(&t->said);
	_free_ char *own = line_with(said, OWN, false);
	_free_ char *unseen = line_with(said, UNSEEN, false);
	_free_ char *differs = line_with(said, DIFFERS, false);
	_free_ char *slurms = line_with(said, "srun: error: ", true);
	_free_ char *which =
	    xasprintf("step '%s': job %s%s%s", j->name, t->id, t->node[0] ? " on " : "", t->node);
	switch (fate) {
	case SLURM_FAILED:
		return err_set(err, ERR_TOOL, "%s (job %s%s%s)", own, t->id,
		    t->node[0] ? " on " : "", t->node);
	case SLURM_UNSEEN:
		return err_set(err, ERR_SYSTEM,
		    "%s does not see '%s' as it is here: --out, the cache and debkit must lie in "
		    "folders that all nodes share; see README for a cluster without",
		    which, unseen);
	case SLURM_DIFFERS:
		return err_set(err, ERR_SYSTEM,
		    "%s: %s: all nodes need the compilers that are here", which, differs);
	case SLURM_CANCELLED:
		return err_set(err, ERR_TOOL, "%s was cancelled", which);
	case SLURM_TIME:
		return err_set(err, ERR_TOOL, "%s hit its time limit of %u minutes, in %u tries",
		    which, j->minutes, tries);
	case SLURM_MEMORY:
		return err_set(err, ERR_TOOL, "%s hit its memory limit of %u MB, in %u tries",
		    which, j->memory_mb, tries);
	case SLURM_LOST:
		return err_set(err, ERR_TOOL,
		    "%s was lost (its node failed, or it was preempted), in %u tries%s%s", which,
		    tries, slurms ? ": " : "", slurms ? slurms : "");
	case SLURM_AWAY:
	case SLURM_REFUSED:
		break;
	}
	return err_set(err, ERR_TOOL, "step '%s': Slurm %s: %s", j->name,
	    fate == SLURM_AWAY ? "does not answer" : "does not take the job",
	    slurms ? slurms : said);
}

/* What was said, for the build's log; all: by Slurm, too. */
static void show(const struct attempt *t, bool all)
{
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	strv_split(&lines, buf_str(&t->said), "\n");
	for (size_t i = 0; i < lines.n; i++)
		if (!str_starts(lines.v[i], AT_NODE) && !str_starts(lines.v[i], OWN) &&
		    (all || !str_starts(lines.v[i], "srun: ")))
			printf("%s\n", lines.v[i]);
	fflush(stdout);
}

/* A shared folder may show late what a node wrote. */
static bool wait_for_note(const struct slurm_job *j)
{
	for (unsigned i = 0; i < 2 * LATE_S && !intr_pending(); i++) {
		if (step_is_noted(".", j->out, j->key))
			return true;
		nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
	}
	return false;
}

static unsigned doubled(unsigned v, unsigned most)
{
	return most && v * 2 > most ? most : v * 2;
}

/* One try, to its end. 0: done; 1: to be tried again after a while; -1: err tells why not. */
static int try_once(struct slurm_job *j, char *const *argv, const char *cache, unsigned tries,
    enum slurm_fate *fate, struct err *err)
{
	_cleanup_(attempt_done) struct attempt t = {.job = j, .said = BUF_INIT(TEXT_MAX)};
	struct proc_result res = {.status = -1};
	int rc = run_once(&t, argv, cache, &res, err);
	read_id(&t);
	if (intr_pending()) {
		if (t.id[0])
			cancel(t.id);
		return intr_check(err);
	}
	if (rc < 0 && !t.lost)
		return -1;
	/* srun may end well though its node was lost. */
	if (rc == 0 && res.status == 0 && step_is_noted(".", j->out, j->key)) {
		show(&t, false);
		return 0;
	}
	_free_ char *state = t.id[0] ? final_state(t.id) : NULL;
	if (state && !strcmp(state, "COMPLETED") && wait_for_note(j)) {
		show(&t, false);
		return 0;
	}
	*fate = slurm_job_fate(buf_str(&t.said), state);
	show(&t, true);
	printf("job %s%s%s: %s\n", t.id[0] ? t.id : "-", t.node[0] ? " on " : "", t.node,
	    state && *state ? state : "unknown to Slurm");
	fflush(stdout);
	bool again = *fate == SLURM_TIME || *fate == SLURM_MEMORY || *fate == SLURM_LOST;
	if (*fate != SLURM_AWAY && (!again || tries == SLURM_TRIES))
		return tell(&t, *fate, tries, err);
	if (*fate == SLURM_TIME)
		j->minutes = doubled(j->minutes, j->most_minutes);
	if (*fate == SLURM_MEMORY)
		j->memory_mb = doubled(j->memory_mb, j->most_memory_mb);
	return 1;
}

int slurm_job_run(
    const struct slurm_job *job, char *const *argv, const char *cache, struct err *err)
{
	struct slurm_job j = *job;
	double since = 0;
	step_forget(".", j.out);
	for (unsigned tries = 1;;) {
		enum slurm_fate fate = SLURM_LOST;
		int rc = try_once(&j, argv, cache, tries, &fate, err);
		if (rc <= 0)
			return rc;
		double now = clock_monotonic();
		if (fate != SLURM_AWAY) {
			since = 0;
			tries++;
		} else if (!since) {
			since = now;
		} else if (now - since > PATIENCE_S) {
			return err_set(err, ERR_TOOL,
			    "step '%s': Slurm's controller has not answered for %d minutes", j.name,
			    PATIENCE_S / 60);
		}
		for (unsigned i = 0; i < 4 && intr_check(err) == 0; i++)
			nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
		if (intr_check(err) < 0)
			return -1;
	}
}
