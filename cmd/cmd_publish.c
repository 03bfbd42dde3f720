#include "../repo/change/publish.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "../lib/base/path.h"
#include "../lib/base/txn.h"
#include "cmd.h"
#include "repo_opts.h"
#include "repo_pages.h"

#include <malloc.h>
#include <string.h>

#define KEPT_MEMORY (16 << 20)

static const char *component = "main", *url, *keyring;
static const char *codename, *origin, *label, *description, *valid_days;
static struct strv archs = STRV_INIT;
static unsigned keep;
static bool no_sign, unsigned_ok, check_only, paranoid, by_link, rebuild, compat, no_compat, gz,
    no_gz;

static const struct opt opts[] = {
    REPO_OPTS,
    REPO_OPT_CLOCK,
    REPO_OPT_SUITE,
    REPO_OPT_KEYS,
    {"component", 0, OPT_STRING, "NAME", "component of the suite (main)", &component},
    {"url", 0, OPT_STRING, "URL", "where clients will find DIR; writes DIR/debkit.sources", &url},
    {"unsigned", 0, OPT_FLAG, NULL, "do not sign, do not check signatures: for tests", &no_sign},
    {"unsigned-ok", 0, OPT_FLAG, NULL, "admit packages without a good signature", &unsigned_ok},
    {"keyring", 0, OPT_STRING, "FILE", "keys that may sign packages (the suite's)", &keyring},
    {"check-only", 0, OPT_FLAG, NULL, "say what would be refused, write nothing", &check_only},
    {"paranoid", 0, OPT_FLAG, NULL, "read files that were read before, too", &paranoid},
    {"link", 0, OPT_FLAG, NULL, "hard links into the pool: for files nobody changes in place",
	&by_link},
    {"rebuild", 0, OPT_FLAG, NULL, "make the state and all indexes from the pool again", &rebuild},
    {"keep", 0, OPT_UINT, "N", "versions of a package that stay listed (0: all)", &keep},
    {"compat", 0, OPT_FLAG, NULL, "all digests and .xz, for old clients; kept until ...", &compat},
    {"no-compat", 0, OPT_FLAG, NULL, "... this: SHA-256, .gz and .zst alone", &no_compat},
    {"no-gz", 0, OPT_FLAG, NULL, "no Packages.gz, so that apt takes the .zst; kept until ...",
	&no_gz},
    {"gz", 0, OPT_FLAG, NULL, "... this", &gz},
    {"arch", 0, OPT_LIST, "ARCH[,ARCH...]", "index these, even while empty", &archs},
    {"codename", 0, OPT_STRING, "NAME", "Codename of the suite (its name)", &codename},
    {"origin", 0, OPT_STRING, "TEXT", "Origin of the suite (debkit)", &origin},
    {"label", 0, OPT_STRING, "TEXT", "Label of the suite (debkit)", &label},
    {"description", 0, OPT_STRING, "TEXT", "Description of the suite", &description},
    REPO_OPT_VALID(&valid_days),
    {NULL},
};

static void say_refused(const char *file, const struct err *why)
{
	/* The reason often begins with the file's name. */
	if (strstr(why->msg, file))
		log_warn("refused: %s", why->msg);
	else
		log_warn("refused: '%s': %s", file, why->msg);
}

/* Folders among the operands stand for all .deb files below them. */
static int collect(const struct strv *operands, struct strv *files, struct err *err)
{
	for (size_t i = 0; i < operands->n; i++) {
		_cleanup_(strv_done) struct strv below = STRV_INIT;
		if (!path_is_dir(operands->v[i])) {
			strv_add(files, operands->v[i]);
			continue;
		}
		if (path_walk(operands->v[i], &below, err) < 0)
			return -1;
		for (size_t k = 0; k < below.n; k++)
			if (str_ends(below.v[k], ".deb"))
				strv_take(files, path_join(operands->v[i], below.v[k]));
	}
	return 0;
}

static void report(const struct publish_spec *spec, const struct publish_result *res)
{
	if (spec->check_only)
		log_note("%zu packages are good (%zu are published already)",
		    res->added + res->present, res->present);
	else if (!res->changed)
		log_note("nothing to do: %zu packages are published already", res->present);
	else
		log_note("'%s' suite %s: %zu packages added, %zu there before, %zu removed",
		    spec->repo.root, spec->suite, res->added, res->present, res->removed);
	repo_say_waits();
}

static int check_usage(const struct strv *files, struct err *err)
{
	if (check_only && !repo_opts.root)
		repo_opts.root = "";
	if (check_only && !repo_opts.suite)
		repo_opts.suite = "none";
	if (repo_opts_check(true, err) < 0)
		return -1;
	if (!files->n && !rebuild && !keep)
		return err_set(err, ERR_USAGE, "no .deb file to publish was given or found");
	if ((compat && no_compat) || (gz && no_gz))
		return err_set(err, ERR_USAGE, "an option and its contrary exclude each other");
	return 0;
}

/* 1 on, 0 off, -1 as it was. */
static int tristate(bool on, bool off)
{
	if (on)
		return 1;
	return off ? 0 : -1;
}

static int run(const struct strv *operands, struct err *err)
{
	_cleanup_(strv_done) struct strv files = STRV_INIT;
	struct publish_result res;
	struct publish_spec spec = {.component = component,
	    .files = &files,
	    .sign_keys = &repo_opts.keys,
	    .no_sign = no_sign,
	    .unsigned_ok = unsigned_ok || no_sign,
	    .keyring = keyring,
	    .check_only = check_only,
	    .paranoid = paranoid || rebuild,
	    .link = by_link,
	    .rebuild = rebuild,
	    .keep = keep,
	    .url = url,
	    .codename = codename,
	    .origin = origin,
	    .label = label,
	    .description = description,
	    .archs = &archs,
	    .compat = tristate(compat, no_compat),
	    .no_gz = tristate(no_gz, gz),
	    .refused = say_refused};
	if (collect(operands, &files, err) < 0 || check_usage(&files, err) < 0 ||
	    repo_opts_days(valid_days, &spec.valid_days, err) < 0)
		return -1;
	spec.suite = repo_opts.suite;
	spec.repo = repo_opts_spec(true);
	spec.repo.forget = rebuild;
	/* Thousands of packages are read into buffers of the same size: they are kept, not given
	 * back and asked for again. */
	mallopt(M_TRIM_THRESHOLD, KEPT_MEMORY);
	mallopt(M_MMAP_THRESHOLD, KEPT_MEMORY);
	if (publish_run(&spec, &res, err) < 0)
		return -1;
	report(&spec, &res);
	if (!check_only) {
		repo_pages_follow();
		repo_warn_expiry();
	}
	return 0;
}

const struct cmd cmd_publish = {"publish", "puts packages into a signed apt repository",
    "FILE.deb|DIR...",
    "Admits each package that dpkg and apt would accept, copies it into DIR/pool and lists it in "
    "DIR/dists/NAME, as one change that clients see whole or not at all. If one file is refused, "
    "nothing is published. What the suite's Release says (keys, origin, days of validity) is kept "
    "unless an option says otherwise.",
    opts, 0, SIZE_MAX, run};
