/* debkit site: the repository's web pages. */
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "cmd.h"
#include "repo_opts.h"
#include "repo_pages.h"

static const char *title;

static const struct opt opts[] = {
    REPO_OPTS,
    {"title", 0, OPT_STRING, "TEXT", "title of the front page (as it was)", &title},
    {NULL},
};

static int run(const struct strv *operands, struct err *err)
{
	struct pages_result res;
	if (repo_opts_check(false, err) < 0 || repo_pages_write(title, &res, err) < 0)
		return -1;
	if (res.written + res.removed)
		log_note("'%s': %zu pages written, %zu as they were, %zu removed", repo_opts.root,
		    res.written, res.same, res.removed);
	else
		log_note("nothing to do: the %zu pages are as the repository is", res.same);
	repo_say_waits();
	return 0;
}

const struct cmd cmd_site = {"site", "writes a repository's web pages", "",
    "Writes index.html, packages.html, packages/ and feed.atom beside dists/ and pool/: the lines "
    "to paste, a chooser, the matrix, and every package with its versions. From then on each "
    "command that changes the repository writes them too; remove index.html to end that. The "
    "pages need no server and no script, and change as one, the front page last.",
    opts, 0, 0, run};
