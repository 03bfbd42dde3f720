/* debkit build: the main job. */
#include <stdio.h>

#include "../lib/base/arena.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "../debbuild/make/pack.h"
#include "build_events.h"
#include "build_opts.h"
#include "cmd.h"

static struct build_opts b;
static const char *out = "out", *launcher, *partition;
static unsigned nodes;
static bool no_sign, quiet, compile_only, keyring_only;
static struct strv next_keys = STRV_INIT;

static const struct opt opts[] = {BUILD_FILTER_OPTS(b),
    {"out", 'o', OPT_STRING, "DIR", "where the .deb files go; default: out", &out},
    {"sign-key", 0, OPT_STRING, "FPR", "sign with this key, named by its full fingerprint",
	&b.sign_key},
    {"unsigned", 0, OPT_FLAG, NULL, "do not sign, and make no keyring package", &no_sign},
    {"repo-url", 0, OPT_STRING, "URL",
	"where the repository will be served, for debkit-archive-keyring", &b.repo_url},
    {"next-key", 0, OPT_LIST, "FPR[,FPR...]",
	"keys that will sign later: debkit-archive-keyring holds them already", &next_keys},
    {"keyring-only", 0, OPT_FLAG, NULL, "only make debkit-archive-keyring", &keyring_only},
    {"launcher", 0, OPT_STRING, "WORDS",
	"slurm: costly steps are Slurm jobs; else words that are put before each compile command",
	&launcher},
    {"partition", 0, OPT_STRING, "NAME", "Slurm's partition; default: its default one", &partition},
    {"nodes", 0, OPT_UINT, "N", "keep no more than N of Slurm's nodes busy; default: all of it",
	&nodes},
    {"compile-only", 0, OPT_FLAG, NULL, "fill the cache, make no package; needs no key",
	&compile_only},
    {"quiet", 'q', OPT_FLAG, NULL, "no progress and no notes", &quiet},
    {NULL, 0, OPT_END, NULL, NULL, NULL}};

static int build_one(const char *recipe, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct pipeline_request r;
	if (build_opts_request(&b, recipe, &r, err) < 0)
		return -1;
	r.out = out;
	r.slurm = str_eq(launcher, "slurm");
	r.launcher = r.slurm ? NULL : launcher;
	r.partition = partition;
	r.nodes = nodes;
	r.compile_only = compile_only;
	r.next_keys = &next_keys;
	r.keyring_only = keyring_only;
	struct pipeline_result res;
	if (pipeline_build(&a, &r, &build_events, &res, err) < 0)
		return -1;
	log_progress_end();
	if (!res.did_work)
		log_note("nothing to do: all %zu packages are made from these inputs already",
		    res.n_packages);
	for (size_t i = 0; i < res.n_packages; i++)
		printf("%s\n", res.packages[i].path);
	if (!res.partial.n_left_out)
		return 0;
	return err_set(err, ERR_TOOL,
	    "%zu of %zu %s did not compile and are not in the packages: %s; see '%s'; the "
	    "same command tries them again",
	    res.partial.n_left_out, res.n_parts,
	    res.partial.plan.n_tritons ? "Tritons" : "bindings", res.partial.left_out,
	    res.partial.log);
}

/* One recipe that fails does not keep the others; of several failures trust gives the status. */
static int build_all(const struct strv *recipes, struct err *err)
{
	_cleanup_(strv_done) struct strv failed = STRV_INIT;
	enum err_code code = ERR_NONE;
	for (size_t i = 0; i < recipes->n; i++) {
		struct err e = {.code = ERR_NONE};
		if (!build_one(recipes->v[i], &e))
			continue;
		if (recipes->n == 1 || e.code == ERR_INTERRUPT) {
			*err = e;
			return -1;
		}
		log_progress_end();
		log_warn("recipe '%s': %s", recipes->v[i], e.msg);
		strv_add(&failed, recipes->v[i]);
		if (code == ERR_NONE || e.code == ERR_TRUST)
			code = e.code;
	}
	if (!failed.n)
		return 0;
	_free_ char *names = strv_join(&failed, ", ");
	return err_set(err, code,
	    "%zu of %zu recipes are not built, or not whole: %s; the same command tries again",
	    failed.n, recipes->n, names);
}

static int run(const struct strv *operands, struct err *err)
{
	(void)operands;
	log_set_quiet(quiet);
	if (!compile_only && !b.sign_key == !no_sign)
		return err_set(err, ERR_USAGE,
		    b.sign_key
			? "--sign-key and --unsigned exclude each other"
			: "choose --sign-key FPR (`debkit keys new` makes a key) or --unsigned");
	if ((partition || nodes) && !str_eq(launcher, "slurm"))
		return err_set(err, ERR_USAGE, "--partition and --nodes go with --launcher slurm");
	_cleanup_(strv_done) struct strv recipes = STRV_INIT;
	if (build_opts_recipes(&b, &recipes, err) < 0)
		return -1;
	return build_all(&recipes, err);
}

const struct cmd cmd_build = {"build", "build signed packages for one CUDA", "",
    "Fetches the sources, the headers of each torch and, without an nvcc of that CUDA, the parts "
    "of "
    "a toolkit; compiles the device code once for each GPU arch and one binding for each torch and "
    "Python; and writes .deb packages to --out, whose names it prints. A recipe of Triton kernels "
    "(flash-linear-attention) is compiled, without a GPU, for each Triton, GPU arch and profile. "
    "What "
    "was compiled before is "
    "taken from the cache (~/.cache/debkit, or $DEBKIT_CACHE). Ctrl-C stops it; the same command "
    "goes on where it stopped.",
    opts, 0, 0, run};
