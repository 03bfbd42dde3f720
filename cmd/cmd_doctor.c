/* debkit doctor: why is the fast path not taken here, and what is to be typed? */
#include <stdio.h>
#include <unistd.h>

#include "../lib/base/arena.h"
#include "../lib/base/buf.h"
#include "../lib/base/err.h"
#include "../lib/base/path.h"
#include "../doctor/deep.h"
#include "../doctor/machine.h"
#include "../doctor/probe.h"
#include "cmd.h"
#include "doctor_print.h"

#define TEXT_MAX ((size_t)32 << 20)

static struct doctor_request request;
static bool json, deep, explain;
static const struct opt opts[] = {
    {"python", 0, OPT_STRING, "EXE", "judge this Python", &request.exe},
    {"venv", 0, OPT_STRING, "DIR", "judge the environment in this folder", &request.venv},
    {"all", 0, OPT_FLAG, NULL, "judge every Python here, also those without torch", &request.all},
    {"json", 0, OPT_FLAG, NULL, "print JSON", &json},
    {"deep", 0, OPT_FLAG, NULL,
	"run the Python for a moment and prove which functions transformers binds", &deep},
    {"explain", 0, OPT_FLAG, NULL, "list the files that were read", &explain}, {NULL}};

static bool has_colour(void)
{
	const char *term = getenv("TERM");
	return isatty(STDOUT_FILENO) && !getenv("NO_COLOR") && term && !str_eq(term, "dumb");
}

static void print(struct machine *m, const struct findings *f, struct pyenv *const *targets,
    size_t n, struct buf *out)
{
	if (json) {
		doctor_print_json(m, f, targets, n, explain, out);
		return;
	}
	doctor_print_findings(f, has_colour(), out);
	if (m->envs.n > 1) {
		buf_putc(out, '\n');
		doctor_print_table(m, out);
	}
	if (explain) {
		buf_putc(out, '\n');
		doctor_print_files(m, out);
	}
}

static int verdict(const struct findings *f, struct err *err)
{
	size_t bad = findings_count(f, FINDING_BAD);
	if (!bad)
		return 0;
	return err_set(err, ERR_FORMAT,
	    "%zu finding%s bad: type the line%s below %s, then ask again", bad,
	    bad > 1 ? "s are" : " is", bad > 1 ? "s" : "", bad > 1 ? "each" : "it");
}

static int run_with(struct probe *p, struct err *err)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(TEXT_MAX);
	_free_ char *templates = path_templates_dir(NULL);
	struct findings f = {.a = p->a};
	struct machine m;
	size_t n;
	if (request.exe && request.venv)
		return err_set(err, ERR_USAGE, "--python and --venv exclude each other");
	if (machine_read(&m, p, templates, &request, err) < 0)
		return -1;
	struct pyenv **targets = machine_targets(&m, &request, &n);
	machine_check(&m, targets, n, &f);
	for (size_t i = 0; deep && i < n; i++) {
		f.env = m.envs.n > 1 ? targets[i]->dir : NULL;
		if (deep_check(&m, targets[i], &f, err) < 0)
			return -1;
	}
	findings_sort(&f);
	print(&m, &f, targets, n, &out);
	if (buf_check(&out, "the report", err) < 0)
		return -1;
	fwrite(buf_str(&out), 1, out.len, stdout);
	return verdict(&f, err);
}

static int run(const struct strv *operands, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(probe_done) struct probe p;
	probe_init(&p, &a, "");
	return run_with(&p, err);
}

const struct cmd cmd_doctor = {"doctor", "says why a GPU program is slow here, and what to type",
    "",
    "Looks at the Pythons of this machine, their torch, the packages, the driver, apt and the "
    "system, in files alone, and prints what is bad, what is doubtful and what is good, each with "
    "the line to type. The environment that counts is the one asked about, else the active one, "
    "else each one that has torch. With --deep that Python is run, which imports torch and "
    "transformers. Nothing is changed, root is not needed. Exit status 1 if "
    "something is bad.",
    opts, 0, 0, run};
