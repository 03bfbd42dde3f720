/* Options that all commands about a repository share. */
#pragma once
#include "../repo/index/repo.h"
#include "../lib/base/opt.h"

struct repo_opts {
	const char *root, *suite;
	struct strv keys;
	bool no_wait, verbose, trust_clock;
};
extern struct repo_opts repo_opts;

#define REPO_OPTS                                                                                  \
	{"repo", 0, OPT_STRING, "DIR", "root of the repository", &repo_opts.root},                 \
	    {"no-wait", 0, OPT_FLAG, NULL, "fail at once if another debkit works there",           \
		&repo_opts.no_wait},                                                               \
	{                                                                                          \
		"verbose", 'v', OPT_FLAG, NULL, "say how long the disk was waited for",            \
		    &repo_opts.verbose                                                             \
	}
/* For commands that date something. */
#define REPO_OPT_CLOCK                                                                             \
	{                                                                                          \
		"trust-clock", 0, OPT_FLAG, NULL,                                                  \
		    "this machine's clock is right, whatever the suite's date says",               \
		    &repo_opts.trust_clock                                                         \
	}
#define REPO_OPT_SUITE                                                                             \
	{                                                                                          \
		"suite", 0, OPT_STRING, "NAME", "suite, such as stable", &repo_opts.suite          \
	}
#define REPO_OPT_KEYS                                                                              \
	{                                                                                          \
		"sign-key", 0, OPT_LIST, "FPR[,FPR...]",                                           \
		    "keys that sign the suite (as before; several: all sign)", &repo_opts.keys     \
	}

#define REPO_OPT_VALID(to)                                                                         \
	{                                                                                          \
		"valid-days", 0, OPT_STRING, "N",                                                  \
		    "days until Valid-Until (as before; else 365; 0: none)", to                    \
	}

/* --repo, and --suite if it is wanted, must have been given. */
int repo_opts_check(bool suite, struct err *err) _must_check_;
struct repo_spec repo_opts_spec(bool create) _must_check_;
/* With --verbose: how often and how long this process waited for the disk. */
void repo_say_waits(void);
/* Warns of keys of the repository that end soon. */
void repo_warn_expiry(void);
/* The value of --valid-days; -1 if it was not given. */
int repo_opts_days(const char *text, int *days, struct err *err) _must_check_;
