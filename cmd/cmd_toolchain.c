/* debkit toolchain: nvcc from NVIDIA's apt repository, without root. */
#include <stdio.h>

#include "../lib/base/arena.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "../lib/base/path.h"
#include "../lib/base/xalloc.h"
#include "../debbuild/nvidia/nvidia.h"
#include "../debbuild/nvidia/toolchain.h"
#include "cmd.h"

static const char *cuda, *suite, *repo, *key, *keyring, *prefix;
static bool quiet;

static const struct opt opts[] = {
    {"cuda", 0, OPT_STRING, "X.Y", "the CUDA whose nvcc is wanted, such as 12.8 (required)", &cuda},
    {"suite", 0, OPT_STRING, "NAME",
	"which of NVIDIA's repositories: ubuntu2404, debian12 or debian13; default: ubuntu2404, "
	"which serves for all",
	&suite},
    {"repo", 0, OPT_STRING, "URL", "a flat apt repository instead, such as a mirror; needs --key",
	&repo},
    {"key", 0, OPT_STRING, "FPR", "the fingerprint of the one key that may sign it", &key},
    {"keyring", 0, OPT_STRING, "FILE", "a file with that key; default: fetched from there",
	&keyring},
    {"prefix", 0, OPT_STRING, "DIR",
	"the folder to make; default: one in the cache, where debkit build finds it", &prefix},
    {"quiet", 'q', OPT_FLAG, NULL, "no progress and no notes", &quiet},
    {NULL, 0, OPT_END, NULL, NULL, NULL}};

static void on_note(void *arg, const char *text)
{
	(void)arg;
	log_note("%s", text);
}

static void on_bytes(void *arg, const char *what, uint64_t done, uint64_t total)
{
	(void)arg;
	char text[300];
	snprintf(text, sizeof text, "MB of %s", what);
	log_progress((size_t)(done >> 20), (size_t)(total >> 20), text, -1);
}

static int choose_source(struct arena *a, struct apt_source *s, struct err *err)
{
	_free_ char *templates = path_templates_dir(err);
	if (!templates)
		return -1;
	if (!cuda)
		return err_set(err, ERR_USAGE, "name the CUDA, such as --cuda 12.8");
	if (repo && (!key || suite))
		return err_set(err, ERR_USAGE, "%s",
		    key ? "--repo and --suite exclude each other"
			: "--repo needs --key FPR, the key that signs that repository");
	if (key && nvidia_check_fpr(key, err) < 0)
		return -1;
	if (repo)
		*s = (struct apt_source){
		    .url = arena_printf(a, "%s%s", repo, *path_base(repo) ? "/" : "")};
	else if (nvidia_source(a, templates, suite, s, err) < 0)
		return -1;
	if (key) {
		s->fpr = key;
		s->key_file = NULL;
		s->weak_binding = false;
	}
	s->keyring_file = keyring;
	return 0;
}

static int run(const struct strv *operands, struct err *err)
{
	(void)operands;
	log_set_quiet(quiet);
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct toolchain_request r = {.cuda = cuda, .prefix = prefix};
	const struct toolchain_events events = {.note = on_note, .bytes = on_bytes};
	struct toolchain_result res;
	if (choose_source(&a, &r.source, err) < 0)
		return -1;
	int rc = toolchain_get(&a, &r, &events, &res, err);
	log_progress_end();
	if (rc < 0 && err->code == ERR_NETWORK && !repo)
		err_hint(err, "; a mirror can be named with --repo URL --key FPR");
	if (rc < 0)
		return -1;
	if (!res.did_work)
		log_note("nothing to do: nvcc %s is there already (remove '%s' to fetch it again)",
		    res.version, res.prefix);
	for (size_t i = 0; res.did_work && i < res.n_system; i++)
		log_note("left to this system: %s", res.system[i]);
	if (prefix)
		log_note("debkit build takes it with CUDA_HOME=%s", res.root);
	printf("%s\n", res.root);
	return 0;
}

const struct cmd cmd_toolchain = {"toolchain", "fetch nvcc from NVIDIA's apt repository", "",
    "Reads NVIDIA's apt repository, checks that the one pinned key signed it, fetches "
    "cuda-nvcc-X-Y, cuda-cudart-dev-X-Y and what they need of it, and unpacks them into a folder "
    "of "
    "their own, without root and without a change to the system. debkit build --cuda X.Y then uses "
    "that nvcc. Prints the folder of the toolkit. Packages that were fetched before an "
    "interruption "
    "are not fetched again.",
    opts, 0, 0, run};
