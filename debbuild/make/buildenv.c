#include "buildenv.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/stanza.h"
#include "../plan/plan.h"

/* A source that has the plan's needs, and one finished package: the least that dpkg takes. */
static const char changelog[] =
    "debkit (1) stable; urgency=medium\n\n  * A build.\n\n"
    " -- debkit <debkit@debkit.invalid>  Thu, 01 Jan 1970 00:00:00 +0000\n";
static const char files[] = "debkit_1_all.deb misc optional\n";

/* Programs of Debian packages that the steps may run; dpkg lists those that are installed. */
static void put_needs(struct strv *needs, const struct plan *p)
{
	strv_add(needs, "g++");
	strv_add(needs, "ninja-build");
	strv_add(needs, "dpkg-dev");
	if (p->host->clang)
		strv_add(needs, "clang-22");
	if (p->host->toolkit_root)
		strv_addf(needs, "cuda-nvcc-%s", p->cuda_dashed);
	for (size_t i = 0; i < p->n_bindings; i++)
		strv_addf(needs, "libpython%s-dev", p->bindings[i].python->version);
	strv_uniq(needs);
}

static int make_tree(const struct plan *p, const char *dir, struct err *err)
{
	_cleanup_(strv_done) struct strv needs = STRV_INIT;
	put_needs(&needs, p);
	_free_ char *list = strv_join(&needs, ", ");
	_cleanup_(buf_done) struct buf control = BUF_INIT(1 << 16);
	buf_printf(&control,
	    "Source: debkit\nMaintainer: debkit <debkit@debkit.invalid>\nBuild-Depends: %s\n\n"
	    "Package: debkit\nArchitecture: all\nDescription: a build\n",
	    list);
	const struct {
		const char *name, *text;
	} v[] = {{"debian/control", buf_str(&control)}, {"debian/changelog", changelog},
	    {"debian/files", files}, {"debkit_1_all.deb", ""}};
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		_free_ char *path = path_join(dir, v[i].name);
		if (path_mkdirs_for(path, err) < 0 ||
		    outfile_put(path, 0644, v[i].text, strlen(v[i].text), err) < 0)
			return -1;
	}
	return 0;
}

static void take(struct arena *a, const struct stanza *from, struct stanza *out)
{
	static const char *const fields[] = {"Build-Origin", "Build-Architecture", "Build-Date",
	    "Build-Kernel-Version", "Build-Tainted-By", "Installed-Build-Depends", "Environment"};
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const char *value = stanza_get(from, fields[i]);
		if (value)
			stanza_set(a, out, fields[i], value);
	}
}

int buildenv_read(
    struct arena *a, const struct plan *p, const char *work, struct stanza *out, struct err *err)
{
	_free_ char *dir = path_join(work, "buildinfo");
	_free_ char *file = path_join(dir, "buildinfo");
	char *argv[] = {"dpkg-genbuildinfo", "--build=binary", "-u.", "-Obuildinfo", NULL};
	_cleanup_(buf_done) struct buf said = BUF_INIT(1 << 20);
	struct stanza_list list = {0};
	if (path_remove_tree(dir, err) < 0 || make_tree(p, dir, err) < 0 ||
	    proc_check(&(struct proc_spec){.argv = argv, .dir = dir, .out = &said, .errout = &said},
		err) < 0 ||
	    stanza_parse_file(a, file, STANZA_ONE, &list, err) < 0)
		return err_wrap(err, "cannot describe this machine for a .buildinfo");
	take(a, &list.v[0], out);
	return path_remove_tree(dir, err);
}
