#include "shlibs.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/elf.h"
#include "../../lib/deb/relation.h"
#include "../../lib/deb/version.h"
#include "../plan/plan.h"
#include "../data/recipe.h"

static int put(const char *dir, const char *name, const struct buf *text, struct err *err)
{
	_free_ char *path = path_join(dir, name);
	if (path_mkdirs_for(path, err) < 0)
		return -1;
	return outfile_put_if_changed(path, 0644, buf_str(text), text->len, err);
}

/* The source package that dpkg-shlibdeps wants to see around it, and the libraries that need no
 * dependency from it. */
static int write_tree(const struct plan *p, const char *dir, struct err *err)
{
	_cleanup_(buf_done) struct buf control = BUF_INIT(4096), local = BUF_INIT(4096);
	buf_printf(&control,
	    "Source: %s\nMaintainer: debkit\n\nPackage: python3-%s-%s\n"
	    "Architecture: %s\nDescription: built by debkit\n",
	    p->recipe->name, p->recipe->name, p->flavour, p->host->deb_arch);
	/* No dependency: control.in names the CUDA runtime itself, and no package has the driver.
	 */
	buf_printf(&local, "libcudart %s\nlibcuda 1\n", p->cuda_major);
	const char *end = p->kernel_library ? strstr(p->kernel_library, ".so.") : NULL;
	if (end)
		buf_printf(&local, "%.*s %s\n", (int)(end - p->kernel_library), p->kernel_library,
		    end + strlen(".so."));
	if (put(dir, "debian/control", &control, err) < 0)
		return -1;
	return put(dir, "debian/shlibs.local", &local, err);
}

static const struct relation *find(const struct relation_list *l, const char *package)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].package, package))
			return &l->v[i];
	return NULL;
}

static int check_object(const char *object, const struct relation_list *l, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct elf_info e;
	if (elf_read(&a, object, &e, err) < 0)
		return -1;
	const char *glibc = elf_floor(&a, &e, "GLIBC"), *cxx = elf_floor(&a, &e, "GLIBCXX");
	const struct relation *libc = find(l, "libc6");
	if (glibc && (!libc || !libc->version || version_compare(libc->version, glibc) < 0))
		return err_set(err, ERR_FORMAT,
		    "'%s' needs GLIBC_%s, but dpkg-shlibdeps allows libc6 %s: the package would "
		    "not load",
		    object, glibc, libc && libc->version ? libc->version : "of any version");
	if (cxx && !find(l, "libstdc++6"))
		return err_set(err, ERR_FORMAT,
		    "'%s' needs GLIBCXX_%s, but dpkg-shlibdeps names no libstdc++6", object, cxx);
	return 0;
}

int shlibs_check_hardened(const struct strv *objects, struct err *err)
{
	for (size_t i = 0; i < objects->n; i++) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		struct elf_info e;
		if (elf_read(&a, objects->v[i], &e, err) < 0)
			return -1;
		const char *lack = !e.relro	  ? "no RELRO"
				   : !e.now	  ? "no BIND_NOW"
				   : e.exec_stack ? "an executable stack"
				   : e.has_debug  ? "debug sections"
						  : NULL;
		if (lack)
			return err_set(err, ERR_FORMAT, "'%s' is not hardened: it has %s",
			    objects->v[i], lack);
	}
	return 0;
}

int shlibs_depends(struct arena *a, const struct plan *p, const char *work,
    const struct strv *objects, const char **out, struct err *err)
{
	_free_ char *dir = path_join(work, "shlibs");
	if (write_tree(p, dir, err) < 0)
		return -1;
	_cleanup_(strv_done) struct strv argv = STRV_INIT;
	strv_add(&argv, "dpkg-shlibdeps");
	strv_add(&argv, "-O");
	strv_add(&argv, "--ignore-missing-info");
	strv_addf(&argv, "-l%s/stubs", work);
	strv_addf(&argv, "-l%s/%s", work, p->flavour);
	strv_addf(&argv, "-l%s/cuda/lib64", work);
	for (size_t i = 0; i < objects->n; i++)
		strv_addf(&argv, "-e%s", objects->v[i]);
	_cleanup_(buf_done) struct buf said = BUF_INIT(1 << 20), talk = BUF_INIT(1 << 20);
	/* This machine's libraries count, and no other arch's. */
	static char *env[] = {"LD_LIBRARY_PATH", "DEB_HOST_ARCH", "DEB_HOST_MULTIARCH",
	    "DEB_HOST_GNU_TYPE", "CC", NULL};
	if (proc_check(
		&(struct proc_spec){
		    .argv = argv.v, .env = env, .dir = dir, .out = &said, .errout = &talk},
		err) < 0 ||
	    buf_check(&said, "what dpkg-shlibdeps wrote", err) < 0)
		return -1;
	static const char prefix[] = "shlibs:Depends=";
	if (!str_starts(buf_str(&said), prefix))
		return err_set(err, ERR_TOOL,
		    "dpkg-shlibdeps said '%s', expected shlibs:Depends=", buf_str(&said));
	const char *text = buf_str(&said) + strlen(prefix);
	const char *list = arena_strndup(a, text, strcspn(text, "\n"));
	struct relation_list l;
	if (relation_parse(a, list, &l, err) < 0)
		return -1;
	for (size_t i = 0; i < objects->n; i++)
		if (check_object(objects->v[i], &l, err) < 0)
			return -1;
	*out = list;
	return 0;
}
