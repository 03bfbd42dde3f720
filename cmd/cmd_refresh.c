#include "../repo/change/edit.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "cmd.h"
#include "repo_opts.h"
#include "repo_pages.h"

static const char *valid_days;

static const struct opt opts[] = {
    REPO_OPTS,
    REPO_OPT_CLOCK,
    REPO_OPT_SUITE,
    REPO_OPT_KEYS,
    REPO_OPT_VALID(&valid_days),
    {NULL},
};

static int run(const struct strv *operands, struct err *err)
{
	if (repo_opts_check(true, err) < 0)
		return -1;
	struct edit_spec spec = {
	    .repo = repo_opts_spec(false), .suite = repo_opts.suite, .sign_keys = &repo_opts.keys};
	if (repo_opts_days(valid_days, &spec.valid_days, err) < 0 || edit_refresh(&spec, err) < 0)
		return -1;
	log_note("'%s' suite %s is signed anew", repo_opts.root, repo_opts.suite);
	repo_say_waits();
	repo_pages_follow();
	repo_warn_expiry();
	return 0;
}

const struct cmd cmd_refresh = {"refresh", "signs a suite again, with a new Valid-Until", "",
    "Writes a new Release with today's date and Valid-Until, signed by the keys that signed the "
    "last one or by those given. No index is touched. Run it from a timer, well before "
    "Valid-Until.",
    opts, 0, 0, run};
