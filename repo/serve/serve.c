#include "serve.h"

#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/subst.h"
#include "../../lib/base/xalloc.h"
#include "../index/repo.h"

#define CONFIG_MAX ((size_t)1 << 20)
#define WORKER	   "www-data"

static const char listen_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789.:-[]*";
static const char path_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789._/-";

static int check(const struct serve_spec *spec, const char *root, struct err *err)
{
	if (!repo_exists(root))
		return err_set(
		    err, ERR_USAGE, "'%s' holds no repository; debkit publish makes one", root);
	for (const char *c = root; *c; c++)
		if ((unsigned char)*c < 0x20 || strchr("\"\\$", *c))
			return err_set(err, ERR_USAGE,
			    "nginx takes no folder with quotes, '$', '\\' or control characters "
			    "in its name: '%s'",
			    root);
	if (!*spec->listen || spec->listen[strspn(spec->listen, listen_chars)])
		return err_set(err, ERR_USAGE, "option --listen: '%s' is no PORT or ADDRESS:PORT",
		    spec->listen);
	if (spec->path && (*spec->path != '/' || spec->path[strspn(spec->path, path_chars)] ||
			      str_ends(spec->path, "/") || strstr(spec->path, "//")))
		return err_set(
		    err, ERR_USAGE, "option --path: '%s' is no path such as /apt", spec->path);
	return 0;
}

/*
 * Who the workers are: the folder's owner, or www-data if that is root. Then the way to the folder
 * must be open to them, which is looked at here: nginx itself would only answer 403.
 */
static int worker_of(const char *root, struct buf *line, struct err *err)
{
	struct stat st;
	if (geteuid() != 0)
		return 0;
	if (stat(root, &st) < 0)
		return err_sys(err, "cannot look at '%s'", root);
	struct passwd *owner = st.st_uid ? getpwuid(st.st_uid) : NULL;
	buf_printf(line, "user %s;", owner ? owner->pw_name : WORKER);
	if (owner)
		return 0;
	for (char *dir = xstrdup(root), *up;; dir = up) {
		if (stat(dir, &st) == 0 && !(st.st_mode & S_IXOTH)) {
			err_set(err, ERR_USAGE,
			    "nginx's workers run as " WORKER " and may not enter '%s': run "
			    "`chmod o+x` on it, or let another user own '%s'",
			    dir, root);
			free(dir);
			return -1;
		}
		up = path_dir(dir);
		free(dir);
		if (!strcmp(up, "/")) {
			free(up);
			return 0;
		}
	}
}

int serve_config(const struct serve_spec *spec, const char *run, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf user = BUF_INIT(1 << 10), path = BUF_INIT(1 << 12);
	_free_ char *root = path_absolute(spec->root, err);
	_free_ char *file = path_join(spec->templates, "nginx.conf.in");
	if (!root || check(spec, root, err) < 0 || worker_of(root, &user, err) < 0)
		return -1;
	if (spec->path)
		buf_printf(&path,
		    "\t\tlocation ^~ %s/ {\n\t\t\trewrite ^%s(/.*)$ $1 last;\n\t\t}\n", spec->path,
		    spec->path);
	const struct subst values[] = {{"RUN", run}, {"ROOT", root}, {"LISTEN", spec->listen},
	    {"USER", buf_str(&user)}, {"PATH", buf_str(&path)}, {NULL, NULL}};
	return subst_expand_file(file, values, out, err);
}

static int run_nginx(const char *program, const char *run, struct err *err)
{
	_free_ char *conf = path_join(run, "nginx.conf");
	char *argv[] = {(char *)program, "-e", "stderr", "-p", (char *)run, "-c", conf, NULL};
	struct proc_result res;
	if (proc_run(&(struct proc_spec){.argv = argv}, &res, err) < 0)
		return intr_pending() ? 0 : -1;
	if (res.status == 0 || intr_pending())
		return 0;
	return err_set(
	    err, ERR_TOOL, "nginx ended with status %d; what it said stands above", res.status);
}

int serve_run(const struct serve_spec *spec, struct err *err)
{
	_cleanup_(buf_done) struct buf conf = BUF_INIT(CONFIG_MAX);
	char run[] = "/tmp/debkit-serve.XXXXXX";
	_free_ char *program = path_find_program("nginx", NULL);
	if (!program)
		program = path_find_program("nginx", "/usr/sbin:/usr/local/sbin");
	if (!program)
		return err_set(err, ERR_TOOL,
		    "nginx is not installed: run `apt-get install nginx-light`, or give another "
		    "server what --print-config prints");
	if (!mkdtemp(run))
		return err_sys(err, "cannot make a folder in '/tmp'");
	_free_ char *file = path_join(run, "nginx.conf");
	int rc = serve_config(spec, run, &conf, err);
	if (rc == 0)
		rc = outfile_put(file, 0644, conf.data, conf.len, err);
	if (rc == 0 && spec->begins)
		spec->begins(spec);
	if (rc == 0)
		rc = run_nginx(program, run, err);
	struct err ignored;
	if (path_remove_tree(run, rc < 0 ? &ignored : err) < 0)
		return -1;
	return rc;
}
