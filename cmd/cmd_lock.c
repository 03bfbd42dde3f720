/* debkit lock: pin what the package indexes have now. */
#include <stdio.h>

#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "../lib/base/path.h"
#include "../debbuild/lock/lockwrite.h"
#include "cmd.h"

static const char *cuda;
static bool check, quiet;
static const struct opt opts[] = {
    {"cuda", 0, OPT_STRING, "X.Y", "look only at what this CUDA needs", &cuda},
    {"check", 0, OPT_FLAG, NULL, "only compare; exit status 1 if something differs", &check},
    {"quiet", 'q', OPT_FLAG, NULL, "no progress and no notes", &quiet},
    {NULL, 0, OPT_END, NULL, NULL, NULL}};

static void on_change(void *arg, const char *text)
{
	log_progress_end();
	printf("%s\n", text);
}

static void on_warn(void *arg, const char *text)
{
	log_warn("%s", text);
}

static void on_progress(void *arg, size_t done, size_t total, const char *what)
{
	log_progress(done, total, what, -1);
}

static int run(const struct strv *operands, struct err *err)
{
	_free_ char *templates = path_templates_dir(err);
	struct lockwrite_result res;
	log_set_quiet(quiet);
	if (!templates)
		return -1;
	const struct lockwrite_request r = {.templates = templates,
	    .cuda = cuda,
	    .check = check,
	    .change = on_change,
	    .warn = on_warn,
	    .progress = on_progress};
	if (lockwrite_run(&r, &res, err) < 0)
		return -1;
	log_progress_end();
	log_note("%zu files, %zu differences; %u requests, %llu bytes received", res.n_files,
	    res.n_changes, res.requests, (unsigned long long)res.bytes);
	if (!check || !res.n_changes)
		return 0;
	fflush(stdout);
	return err_set(err, ERR_FORMAT,
	    "'%s/lock' differs from the package index in %zu places: run debkit lock", templates,
	    res.n_changes);
}

const struct cmd cmd_lock = {"lock", "pin every file that a build fetches", "",
    "Writes templates/lock anew from templates/matrix, templates/toolkits and the recipes: for "
    "each "
    "torch, Python and part of a toolkit the newest file of that version, with its size and "
    "hashes. "
    "Files that are new are read by a few range requests, never whole. Prints a line for each "
    "difference. The matrix's Triton and Pythons are compared with the wheels' METADATA; what is "
    "wrong is named with its line, and then nothing is written.",
    opts, 0, 0, run};
