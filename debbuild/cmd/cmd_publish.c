#include "../../repo/publish.h"
#include "../base/err.h"
#include "../base/log.h"
#include "cmd.h"

static const char *root, *suite, *component = "main", *url;
static struct strv keys = STRV_INIT;
static bool no_sign, unsigned_ok, no_wait;

static const struct opt opts[] = {
    {"repo", 0, OPT_STRING, "DIR", "root of the repository; made if absent", &root},
    {"suite", 0, OPT_STRING, "NAME", "suite to publish into, such as stable", &suite},
    {"component", 0, OPT_STRING, "NAME", "component of the suite (main)", &component},
    {"url", 0, OPT_STRING, "URL", "where clients will find DIR; writes DIR/debkit.sources", &url},
    {"sign-key", 0, OPT_LIST, "FPR[,FPR...]", "sign the suite with these keys", &keys},
    {"unsigned", 0, OPT_FLAG, NULL, "do not sign, do not check signatures: for tests", &no_sign},
    {"unsigned-ok", 0, OPT_FLAG, NULL, "admit packages without the key's signature", &unsigned_ok},
    {"no-wait", 0, OPT_FLAG, NULL, "fail at once if another publish runs", &no_wait},
    {NULL},
};

static void say_refused(const char *file, const struct err *why)
{
	log_warn("refused '%s': %s", file, why->msg);
}

static void say_waiting(const char *lock)
{
	log_note("waiting for another publish to end ('%s')", lock);
}

static int run(const struct strv *operands, struct err *err)
{
	if (!root)
		return err_set(err, ERR_USAGE, "no repository given: use --repo DIR");
	if (!suite)
		return err_set(err, ERR_USAGE, "no suite given: use --suite NAME");
	struct publish_spec spec = {.root = root,
	    .suite = suite,
	    .component = component,
	    .files = operands,
	    .sign_keys = &keys,
	    .no_sign = no_sign,
	    .unsigned_ok = unsigned_ok || no_sign,
	    .url = url,
	    .wait = !no_wait,
	    .waiting = say_waiting,
	    .refused = say_refused};
	struct publish_result res;
	if (publish_run(&spec, &res, err) < 0)
		return -1;
	if (!res.changed)
		log_note("nothing to do: %zu packages are published already", res.present);
	else
		log_note("published %zu packages into '%s' suite %s (%zu were there)", res.added,
		    root, suite, res.present);
	return 0;
}

const struct cmd cmd_publish = {"publish", "puts packages into a signed apt repository",
    "FILE.deb...",
    "Admits each package that dpkg and apt would accept, copies it into DIR/pool and lists it in "
    "DIR/dists/NAME, as one change that clients see whole or not at all. If one file is refused, "
    "nothing is published.",
    opts, 1, SIZE_MAX, run};
