#include "push.h"

#include <string.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/lock.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../index/repo.h"

#define SAID_MAX ((size_t)1 << 20)
#define RULES	 12
#define OLD	 "its old lists, and part of the new files"
#define NEW	 "its new lists"

/*
 * The steps, by rsync's filter rules; the first that matches a name decides. What has a hash in its
 * name, or a version, is known again by size and time; the rest is compared by content, and comes
 * under its names only when all of the step is there (--delay-updates).
 */
static const struct step {
	const char *what;
	const char *left; /* what clients of the target see if the step fails */
	bool small;
	const char *rules[RULES];
} steps[] = {
    {"packages", OLD, false, {"+ /pool/***", "- *"}},
    {"indexes by hash", OLD, false,
	{"- /pool/", "- /packages/", "+ */", "+ /dists/**/by-hash/***", "- *"}},
    {"indexes and pages", OLD, true,
	{"- /pool/", "- by-hash/", "- /index.html", "- /dists/*/InRelease", "- /dists/*/Release",
	    "- /dists/*/Release.gpg"}},
    {"Release", OLD, true,
	{"+ /dists/", "+ /dists/*/", "+ /dists/*/Release", "+ /dists/*/Release.gpg", "- *"}},
    {"InRelease", "its old lists or the new ones", true,
	{"+ /dists/", "+ /dists/*/", "+ /dists/*/InRelease", "- *"}},
    {"front page", NEW, true, {"+ /index.html", "- *"}},
};
/* What else lies in the target is not ours, and stays. */
static const struct step removal = {"what is gone", NEW, false,
    {"+ /dists/***", "+ /pool/***", "+ /snapshots/***", "+ /packages/***", "+ /packages-*.html",
	"- *"}};

/* HOST:PATH has a colon before any slash. */
static bool is_remote(const char *to)
{
	return to[strcspn(to, ":/")] == ':';
}

static int check_target(const struct push_spec *spec, const char *root, struct err *err)
{
	if (!repo_exists(root))
		return err_set(
		    err, ERR_USAGE, "'%s' holds no repository; debkit publish makes one", root);
	if (!*spec->to || *spec->to == '-')
		return err_set(err, ERR_USAGE, "'%s' is no folder and no HOST:PATH", spec->to);
	if (is_remote(spec->to))
		return 0;
	_free_ char *to = path_absolute(spec->to, err);
	if (!to)
		return -1;
	_free_ char *inside = xasprintf("%s/", root), *outside = xasprintf("%s/", to);
	if (str_starts(outside, inside) || str_starts(inside, outside))
		return err_set(err, ERR_USAGE,
		    "'%s' and '%s' lie in each other: push to a folder of its own", root, to);
	return path_mkdirs(to, err);
}

static void add_options(const struct push_spec *spec, const struct step *s, struct strv *argv)
{
	static const char *const always[] = {"rsync", "--recursive", "--links", "--times",
	    "--omit-dir-times", "--chmod=D755,F644", "--prune-empty-dirs", "--exclude=/.debkit/",
	    "--exclude=.debkit-txn-*"};
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		strv_add(argv, always[i]);
	if (spec->limit)
		strv_addf(argv, "--bwlimit=%s", spec->limit);
	if (s == &removal) {
		/* Nothing is sent: it is all there. */
		strv_add(argv, "--existing");
		strv_add(argv, "--ignore-existing");
		strv_add(argv, "--delete");
	} else if (s->small) {
		strv_add(argv, "--checksum");
		strv_add(argv, "--delay-updates");
	} else {
		strv_add(argv, "--partial-dir=.debkit-partial");
	}
	for (const char *const *rule = s->rules; *rule; rule++)
		strv_addf(argv, "--filter=%s", *rule);
}

static int run_step(
    const struct push_spec *spec, const char *root, const struct step *s, struct err *err)
{
	_cleanup_(strv_done) struct strv argv = STRV_INIT, lines = STRV_INIT;
	_cleanup_(buf_done) struct buf said = BUF_INIT(SAID_MAX);
	struct proc_result res;
	if (spec->step)
		spec->step(s->what);
	add_options(spec, s, &argv);
	strv_add(&argv, "--");
	strv_addf(&argv, "%s/", root);
	strv_addf(
	    &argv, "%s%s", spec->to, str_ends(spec->to, "/") || str_ends(spec->to, ":") ? "" : "/");
	if (proc_run(
		&(struct proc_spec){.argv = argv.v, .errout = &said, .group = true}, &res, err) < 0)
		return -1;
	if (intr_check(err) < 0)
		return -1;
	if (res.status == 0)
		return is_remote(spec->to) ? 0 : path_sync(spec->to, err);
	/* rsync tells the cause first and its own state last. */
	strv_split(&lines, buf_str(&said), "\n");
	return err_set(err, ERR_TOOL,
	    "'%s' has %s: rsync ended with status %d at the %s: %s (the same command goes on from "
	    "there)",
	    spec->to, s->left, res.status, s->what, lines.n ? lines.v[0] : "it said nothing");
}

int push_run(const struct push_spec *spec, struct err *err)
{
	_close_ int lock = -1;
	_free_ char *root = path_absolute(spec->root, err);
	if (!root || check_target(spec, root, err) < 0)
		return -1;
	_free_ char *program = path_find_program("rsync", NULL);
	if (!program)
		return err_set(
		    err, ERR_TOOL, "rsync is not installed: run `apt-get install rsync`");
	_free_ char *file = xasprintf("%s/.debkit/lock", root);
	if (path_mkdirs_for(file, err) < 0 ||
	    lock_take(file, spec->wait, spec->waiting, &lock, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (run_step(spec, root, &steps[i], err) < 0)
			return -1;
	return spec->remove ? run_step(spec, root, &removal, err) : 0;
}
