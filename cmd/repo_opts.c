#include "repo_opts.h"

#include "../repo/change/expiry.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "../lib/base/strv.h"
#include "../lib/base/txn.h"

struct repo_opts repo_opts;

int repo_opts_check(bool suite, struct err *err)
{
	if (!repo_opts.root)
		return err_set(err, ERR_USAGE, "no repository given: use --repo DIR");
	if (suite && !repo_opts.suite)
		return err_set(err, ERR_USAGE, "no suite given: use --suite NAME");
	return 0;
}

static void say_waiting(const char *lock)
{
	log_note("waiting for another debkit to end ('%s')", lock);
}

struct repo_spec repo_opts_spec(bool create)
{
	return (struct repo_spec){.root = repo_opts.root,
	    .create = create,
	    .wait = !repo_opts.no_wait,
	    .waiting = say_waiting,
	    .trust_clock = repo_opts.trust_clock};
}

void repo_say_waits(void)
{
	struct txn_waits w = txn_waited();
	if (repo_opts.verbose)
		log_note("waited for the disk %u times, %.3f s", w.n, w.seconds);
}

void repo_warn_expiry(void)
{
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	struct err err = {0};
	if (expiry_warnings(repo_opts.root, &lines, &err) < 0)
		log_warn("cannot tell when the keys end: %s", err.msg);
	for (size_t i = 0; i < lines.n; i++)
		log_warn("%s: lengthen it, or change keys with debkit keys rotate, and let clients "
			 "have the new key before",
		    lines.v[i]);
}

int repo_opts_days(const char *text, int *days, struct err *err)
{
	unsigned long long n;
	*days = -1;
	if (!text)
		return 0;
	if (str_parse_u64(text, 36500, &n) < 0)
		return err_set(err, ERR_USAGE,
		    "option --valid-days: '%s' is not a whole number from 0 to 36500", text);
	*days = (int)n;
	return 0;
}
