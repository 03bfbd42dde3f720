#include "pyheaders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/digest.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "pyheaders_apt.h"

#define HEADER_MAX ((size_t)1 << 20)

/* Folders whose include/pythonX.Y may hold Python.h, Debian's own first. */
static void python_prefixes(struct strv *out)
{
	strv_add(out, "/usr");
	const char *search = getenv("PATH"), *pyenv = getenv("PYENV_ROOT");
	_cleanup_(strv_done) struct strv dirs = STRV_INIT;
	strv_split(&dirs, search ? search : "", ":");
	for (size_t i = 0; i < dirs.n; i++)
		if (str_ends(dirs.v[i], "/bin"))
			strv_take(out, path_dir(dirs.v[i]));
	if (!pyenv || !*pyenv)
		return;
	_free_ char *versions = path_join(pyenv, "versions");
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_list(versions, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.n; i++)
		strv_take(out, path_join(versions, names.v[i]));
}

/* A hash of the headers that carry a Python's version and configuration. */
static const char *header_id(
    struct arena *a, const char *include, const char *multiarch, const char *version)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(HEADER_MAX);
	_free_ char *patch = path_join(include, "patchlevel.h");
	_free_ char *config = path_join(include, "pyconfig.h");
	_free_ char *debian =
	    xasprintf("%s/../%s/python%s/pyconfig.h", include, multiarch, version);
	const char *files[] = {patch, config, debian};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (path_exists(files[i]) && path_read(files[i], &text, NULL) < 0)
			return NULL;
	char hex[DIGEST_HEX_MAX];
	digest_hex(DIGEST_SHA256, buf_str(&text), text.len, hex);
	return arena_strdup(a, hex);
}

static bool find_installed(struct arena *a, const struct strv *prefixes, const char *version,
    const char *multiarch, struct host_python *out)
{
	for (size_t i = 0; i < prefixes->n; i++) {
		_free_ char *include = xasprintf("%s/include/python%s", prefixes->v[i], version);
		_free_ char *header = path_join(include, "Python.h");
		if (!path_exists(header))
			continue;
		*out = (struct host_python){.version = arena_strdup(a, version),
		    .include = arena_strdup(a, include),
		    .id = header_id(a, include, multiarch, version)};
		return out->id != NULL;
	}
	return false;
}

/* Unpacked packages lie in CACHE/python/VERSION-ARCH/SHA256/pythonVERSION: the hash of the .deb
 * is their identity, known before and after it is fetched. */
static struct host_python from_package(struct arena *a, const struct host *h, const char *cache,
    const char *version, const char *sha256)
{
	return (struct host_python){.version = arena_strdup(a, version),
	    .include = arena_printf(
		a, "%s/python/%s-%s/%s/python%s", cache, version, h->deb_arch, sha256, version),
	    .id = arena_printf(a, "deb %s", sha256)};
}

static bool find_cached(struct arena *a, const struct host *h, const char *cache,
    const char *version, struct host_python *out)
{
	_free_ char *dir = xasprintf("%s/python/%s-%s", cache, version, h->deb_arch);
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (!path_is_dir(dir) || path_list(dir, &names, NULL) < 0)
		return false;
	for (size_t i = 0; i < names.n; i++) {
		if (strlen(names.v[i]) != SHA256_HEX - 1)
			continue;
		*out = from_package(a, h, cache, version, names.v[i]);
		return true;
	}
	return false;
}

static bool find_offered(struct arena *a, const struct host *h, const char *cache,
    const char *version, const struct apt_offers *offers, struct host_python *out)
{
	_free_ char *package = xasprintf("libpython%s-dev", version);
	const struct apt_offer *o = apt_offers_find(offers, package);
	if (!o)
		return false;
	*out = from_package(a, h, cache, version, o->sha256);
	out->package = arena_printf(a, "%s:%s=%s", o->package, h->deb_arch, o->version);
	out->package_sha256 = o->sha256;
	out->package_size = o->size;
	return true;
}

void pyheaders_find(struct arena *a, const struct strv *versions, const char *cache, struct host *h)
{
	_cleanup_(strv_done) struct strv prefixes = STRV_INIT;
	_free_ char *record = path_join(cache, "python/offers");
	struct apt_offers offers;
	bool asked = false;
	python_prefixes(&prefixes);
	struct host_python *found = arena_alloc(a, (versions->n + 1) * sizeof *found);
	h->n_pythons = 0;
	for (size_t i = 0; i < versions->n; i++) {
		struct host_python *py = &found[h->n_pythons];
		const char *v = versions->v[i];
		bool have = find_installed(a, &prefixes, v, h->multiarch, py) ||
			    find_cached(a, h, cache, v, py);
		if (!have && !asked) {
			apt_offers_get(a, h->deb_arch, record, &offers);
			asked = true;
		}
		if (have || find_offered(a, h, cache, v, &offers, py))
			h->n_pythons++;
	}
	h->pythons = found;
}

/* The one .deb in the folder. */
static int find_deb(const char *dir, char **out, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_list(dir, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++)
		if (str_ends(names.v[i], ".deb")) {
			*out = path_join(dir, names.v[i]);
			return 0;
		}
	return err_set(err, ERR_TOOL, "apt-get download left no package in '%s'", dir);
}

static int download(const struct host_python *py, const char *dir, char **deb, struct err *err)
{
	/* As root apt would hand the work to a user who may not write into the cache. */
	char *argv[] = {"apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download",
	    (char *)py->package, NULL};
	static char *env[] = {"LC_ALL=C", NULL};
	_cleanup_(buf_done) struct buf said = BUF_INIT(HEADER_MAX);
	char hex[DIGEST_HEX_MAX];
	if (proc_check(
		&(struct proc_spec){.argv = argv, .env = env, .dir = dir, .out = &said}, err) < 0)
		return err_hint(err,
		    "; run apt-get update, or install the headers of Python %s, or leave it out "
		    "with "
		    "--python",
		    py->version);
	if (find_deb(dir, deb, err) < 0 || digest_file_hex(DIGEST_SHA256, *deb, hex, NULL, err) < 0)
		return -1;
	if (strcmp(hex, py->package_sha256))
		return err_set(err, ERR_TRUST, "'%s' has SHA-256 %s, apt's lists say %s",
		    path_base(*deb), hex, py->package_sha256);
	return 0;
}

/*
 * TREE/usr/include becomes a folder that needs no other include path: Debian's pyconfig.h names
 * MULTIARCH/pythonX.Y/pyconfig.h, which moves below pythonX.Y.
 */
static int arrange(const char *tree, const char *version, struct err *err)
{
	_free_ char *include = xasprintf("%s/usr/include", tree);
	_free_ char *main_dir = xasprintf("%s/python%s", include, version);
	_free_ char *python_h = path_join(main_dir, "Python.h");
	_free_ char *config = path_join(main_dir, "pyconfig.h");
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (!path_exists(python_h) || !path_exists(config))
		return err_set(err, ERR_FORMAT, "it holds no headers of Python %s", version);
	if (path_list(include, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		_free_ char *from = path_join(include, names.v[i]);
		_free_ char *to = path_join(main_dir, names.v[i]);
		if (!strcmp(from, main_dir))
			continue;
		if (rename(from, to) < 0)
			return err_sys(err, "cannot rename '%s' to '%s'", from, to);
	}
	return 0;
}

static int unpack(const struct host_python *py, const char *tmp, struct err *err)
{
	_free_ char *deb = NULL;
	_free_ char *tree = path_join(tmp, "tree");
	_free_ char *from = path_join(tmp, "tree/usr/include");
	_free_ char *to = path_dir(py->include);
	if (path_mkdirs(tmp, err) < 0 || download(py, tmp, &deb, err) < 0)
		return -1;
	char *argv[] = {"dpkg-deb", "-x", deb, tree, NULL};
	if (proc_check(&(struct proc_spec){.argv = argv}, err) < 0 ||
	    arrange(tree, py->version, err) < 0)
		return err_wrap(err, "cannot use '%s'", path_base(deb));
	if (rename(from, to) < 0)
		return err_sys(err, "cannot rename '%s' to '%s'", from, to);
	return 0;
}

int pyheaders_fetch(const struct host_python *py, bool *fetched, struct err *err)
{
	*fetched = false;
	if (!py->package || path_is_dir(py->include))
		return 0;
	_free_ char *dir = path_dir(py->include);
	_free_ char *tmp = xasprintf("%s.tmp-%ld", dir, (long)getpid());
	int rc = path_remove_tree(tmp, err);
	if (rc == 0)
		rc = unpack(py, tmp, err);
	(void)!path_remove_tree(tmp, NULL);
	*fetched = rc == 0;
	return rc < 0 ? err_wrap(err, "the headers of Python %s", py->version) : 0;
}
