#include <stdio.h>

#include "../repo/serve/serve.h"
#include "../lib/base/buf.h"
#include "../lib/base/err.h"
#include "../lib/base/log.h"
#include "../lib/base/path.h"
#include "cmd.h"

static const char *root, *address = "8080", *path;
static bool print_config;

static const struct opt opts[] = {
    {"repo", 0, OPT_STRING, "DIR", "root of the repository", &root},
    {"listen", 0, OPT_STRING, "[ADDRESS:]PORT", "where to listen (8080)", &address},
    {"path", 0, OPT_STRING, "/PATH", "serve it below this path, too", &path},
    {"print-config", 0, OPT_FLAG, NULL, "only print nginx's configuration", &print_config},
    {NULL},
};

static void tell(const struct serve_spec *spec)
{
	log_note("nginx serves '%s' on %s%s until Ctrl-C", spec->root, spec->listen,
	    spec->path ? spec->path : "");
}

static int run(const struct strv *operands, struct err *err)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(1 << 20);
	if (!root)
		return err_set(err, ERR_USAGE, "no repository given: use --repo DIR");
	_free_ char *templates = path_templates_dir(err);
	if (!templates)
		return -1;
	struct serve_spec spec = {
	    .root = root, .templates = templates, .listen = address, .path = path, .begins = tell};
	if (print_config) {
		if (serve_config(&spec, "/run", &out, err) < 0)
			return -1;
		fputs(buf_str(&out), stdout);
		return 0;
	}
	return serve_run(&spec, err);
}

const struct cmd cmd_serve = {"serve", "serves a repository with nginx", "",
    "Runs nginx in the foreground with cache headers that fit apt: InRelease is never used without "
    "asking, what lies in the pool or below by-hash is kept for ever. Nothing of the machine's own "
    "nginx is touched.",
    opts, 0, 0, run};
