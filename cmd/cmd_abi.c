/* debkit abi: has an extension every symbol, and where? */
#include <stdio.h>

#include "../lib/base/arena.h"
#include "../lib/base/buf.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "../lib/base/path.h"
#include "../debbuild/abi/abi_objects.h"
#include "../debbuild/abi/abi_report.h"
#include "../debbuild/data/lockfile.h"
#include "../debbuild/data/matrix.h"
#include "cmd.h"

#define TEXT_MAX ((size_t)64 << 20)

static struct strv torches;
static const char *cuda, *python;
static bool json, quiet;
static const struct opt opts[] = {
    {"torch", 0, OPT_LIST, "V[,V...]",
	"torches that it must run on; default: those that a package claims, else all are told of",
	&torches},
    {"cuda", 0, OPT_STRING, "X.Y", "only torches for that CUDA", &cuda},
    {"python", 0, OPT_STRING, "X.Y",
	"the Python that it runs in; default: as its name or its package says", &python},
    {"json", 0, OPT_FLAG, NULL, "print JSON", &json},
    {"quiet", 'q', OPT_FLAG, NULL, "no notes of what is fetched", &quiet},
    {NULL, 0, OPT_END, NULL, NULL, NULL}};

static void on_note(void *arg, const char *text)
{
	log_note("%s", text);
}

/* What is asked, from the data that lies in the templates. */
static int load_question(struct arena *a, struct abi_question *q, struct err *err)
{
	_free_ char *templates = path_templates_dir(err);
	_free_ char *cache = path_cache_dir(err);
	if (!templates || !cache)
		return -1;
	_free_ char *lock_path = path_join(templates, "lock");
	struct matrix *matrix = arena_alloc(a, sizeof *matrix);
	struct lockfile *lock = arena_alloc(a, sizeof *lock);
	struct abi_data *data = arena_alloc(a, sizeof *data);
	if (matrix_load(a, templates, matrix, err) < 0 ||
	    lockfile_load(a, lock_path, lock, err) < 0 ||
	    abi_data_load(a, templates, data, err) < 0 ||
	    (cuda && matrix_check_cuda(matrix, cuda, err) < 0))
		return -1;
	if (python && !abi_data_python(data, python))
		return err_set(err, ERR_USAGE,
		    "templates/cpython does not tell what Python '%s' exports", python);
	*q = (struct abi_question){.matrix = matrix,
	    .lock = lock,
	    .data = data,
	    .cache = arena_strdup(a, cache),
	    .torches = &torches,
	    .cuda = cuda,
	    .python = python,
	    .note = on_note};
	return 0;
}

/* One file, or each object of a package; the first failure is kept in why. */
static int report(struct arena *a, const struct abi_question *q, struct abi_sources *s,
    const char *path, struct buf *out, size_t *failures, struct err *why, struct err *err)
{
	_cleanup_(abi_objects_done) struct abi_objects objects = {0};
	if (abi_objects_load(a, path, &objects, err) < 0)
		return -1;
	for (size_t i = 0; i < objects.n; i++) {
		struct abi_report r;
		if (abi_report_make(a, q, s, &objects.v[i], &r, err) < 0)
			return -1;
		if (json)
			buf_puts(out, out->len > 1 ? ",\n" : "\n");
		(json ? abi_report_json : abi_report_print)(&r, out);
		size_t n = abi_report_failures(&r);
		if (n && !*failures)
			err_set(why, ERR_FORMAT, "'%s' lacks %s (of %s)%s", objects.v[i].path,
			    r.gaps[0].shown, r.gaps[0].library, r.n_gaps > 1 ? " and more" : "");
		*failures += n;
	}
	return 0;
}

static int run(const struct strv *operands, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(abi_sources_done) struct abi_sources sources = {0};
	_cleanup_(buf_done) struct buf out = BUF_INIT(TEXT_MAX);
	struct abi_question q;
	struct err why = {0};
	size_t failures = 0;
	log_set_quiet(quiet);
	if (load_question(&a, &q, err) < 0)
		return -1;
	buf_puts(&out, json ? "[" : "");
	for (size_t i = 0; i < operands->n; i++)
		if (report(&a, &q, &sources, operands->v[i], &out, &failures, &why, err) < 0)
			return -1;
	buf_puts(&out, json ? "]\n" : "");
	if (buf_check(&out, "the report", err) < 0)
		return -1;
	fputs(buf_str(&out), stdout);
	if (!failures)
		return 0;
	fflush(stdout);
	return err_set(err, why.code, "%s", why.msg);
}

const struct cmd cmd_abi = {"abi", "tells on which torches an extension has every symbol",
    "FILE.so|FILE.deb...",
    "Looks up every undefined symbol of an extension, of debkit or of anyone, in what the "
    "libraries "
    "of each torch really export, in libcudart, CPython, and the C and C++ libraries of each "
    "suite. "
    "The lists come out of the wheels on the package index, a few megabytes of each, are checked "
    "against the lock and kept in the cache. Exit status 1 if a torch named with --torch, or "
    "claimed by the package, lacks a symbol.",
    opts, 1, SIZE_MAX, run};
