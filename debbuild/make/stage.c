#include "stage.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/subst.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/sign/keyring.h"
#include "../../lib/sign/sources.h"
#include "../abi/abi_prove.h"
#include "inputs.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "../plan/plan.h"
#include "../data/recipe.h"
#include "stage_int.h"

bool stage_has_template(
    const struct stage_context *c, const struct plan_package *pkg, const char *name)
{
	_free_ char *path = xasprintf("%s/%s/%s", c->templates, pkg->template, name);
	return path_exists(path);
}

int stage_expand(const struct stage_context *c, const struct plan_package *pkg, const char *depends,
    const char *name, struct buf *out, struct err *err)
{
	const struct plan *p = c->plan;
	char date[CLOCK_RFC_MAX];
	clock_format_changelog(c->date, date);
	const struct subst values[] = {{"PACKAGE", pkg->name}, {"VERSION", pkg->version},
	    {"UPSTREAM_VERSION", p->recipe->version}, {"DATE", date}, {"ARCH", pkg->arch},
	    {"MULTIARCH", p->host->multiarch}, {"FLAVOUR", p->flavour}, {"CUDA", p->cuda},
	    {"CUDA_DASHED", p->cuda_dashed}, {"CUDA_MAJOR", p->cuda_major},
	    {"RUNTIME_VERSION", p->toolkit ? p->toolkit->runtime_version : NULL},
	    {"SHLIBS_DEPENDS", depends}, {NULL, NULL}};
	_free_ char *path = xasprintf("%s/%s/%s", c->templates, pkg->template, name);
	return subst_expand_file(path, values, out, err);
}

const char *stage_flavour_dir(struct arena *a, const struct plan *p)
{
	return arena_printf(
	    a, "usr/lib/%s/debkit/%s-%s", p->host->multiarch, p->recipe->name, p->flavour);
}

int stage_put_text(const char *dir, const char *name, const char *text, size_t len, struct err *err)
{
	_free_ char *path = path_join(dir, name);
	_cleanup_(outfile_done) struct outfile o = OUTFILE_INIT;
	if (path_mkdirs_for(path, err) < 0 || outfile_open(&o, path, 0644, err) < 0 ||
	    outfile_write(&o, text, len, err) < 0)
		return -1;
	return outfile_commit_cache(&o, err);
}

int stage_put_file(
    const char *dir, const char *name, const char *from, mode_t mode, struct err *err)
{
	_free_ char *path = path_join(dir, name);
	if (path_mkdirs_for(path, err) < 0)
		return -1;
	return path_copy(from, path, mode, err);
}

/* Copies each regular file below from that ends with suffix ("" for all). */
int stage_put_tree(
    const char *dir, const char *name, const char *from, const char *suffix, struct err *err)
{
	_cleanup_(strv_done) struct strv files = STRV_INIT;
	if (path_walk(from, &files, err) < 0)
		return -1;
	for (size_t i = 0; i < files.n; i++) {
		if (!str_ends(files.v[i], suffix))
			continue;
		_free_ char *source = path_join(from, files.v[i]);
		_free_ char *target = path_join(name, files.v[i]);
		if (stage_put_file(dir, target, source, 0644, err) < 0)
			return -1;
	}
	return 0;
}

static int put_template(const struct stage_context *c, const struct plan_package *pkg,
    const char *dir, const char *name, const char *template, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(STAGE_TEXT_MAX);
	if (stage_expand(c, pkg, NULL, template, &text, err) < 0)
		return -1;
	return stage_put_text(dir, name, buf_str(&text), text.len, err);
}

/* RFC 1952: it begins with a magic and ends with the size of what was packed. */
static bool is_gzip_of(const struct buf *packed, size_t len)
{
	if (packed->len < 18)
		return false;
	const unsigned char *p = (const unsigned char *)packed->data, *end = p + packed->len - 4;
	uint32_t size =
	    end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 | (uint32_t)end[3] << 24;
	return p[0] == 0x1f && p[1] == 0x8b && size == (uint32_t)len;
}

/* changelog.Debian.gz as Debian policy 12.7 wants it: gzip -9, no name, no time. */
static int put_changelog(
    const struct stage_context *c, const struct plan_package *pkg, const char *dir, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(STAGE_TEXT_MAX),
				       packed = BUF_INIT(STAGE_TEXT_MAX);
	if (stage_expand(c, pkg, NULL, "changelog.in", &text, err) < 0)
		return -1;
	char *argv[] = {"gzip", "-9n", NULL};
	static char *env[] = {"GZIP", NULL}; /* options that would be in the bytes */
	if (proc_check(&(struct proc_spec){.argv = argv,
			   .env = env,
			   .in = buf_str(&text),
			   .in_len = text.len,
			   .out = &packed},
		err) < 0)
		return -1;
	if (!is_gzip_of(&packed, text.len))
		return err_set(err, ERR_TOOL,
		    "gzip did not pack the changelog of %s: look which gzip is in PATH", pkg->name);
	_free_ char *name = xasprintf("usr/share/doc/%s/changelog.Debian.gz", pkg->name);
	return stage_put_text(dir, name, packed.data, packed.len, err);
}

static int put_doc(
    const struct stage_context *c, const struct plan_package *pkg, const char *dir, struct err *err)
{
	_free_ char *copyright = xasprintf("usr/share/doc/%s/copyright", pkg->name);
	_free_ char *overrides_in = xasprintf("lintian-overrides.%s.in", pkg->kind);
	_free_ char *overrides = xasprintf("usr/share/lintian/overrides/%s", pkg->name);
	if (put_changelog(c, pkg, dir, err) < 0 ||
	    put_template(c, pkg, dir, copyright, "copyright.in", err) < 0)
		return -1;
	if (!stage_has_template(c, pkg, overrides_in))
		return 0;
	return put_template(c, pkg, dir, overrides, overrides_in, err);
}

int stage_write_metadata(
    char *const *build_requires, const char *from, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(STAGE_TEXT_MAX);
	if (path_read(from, &text, err) < 0)
		return -1;
	static const char requires[] = "Requires-Dist: ";
	for (const char *line = buf_str(&text); *line;) {
		size_t n = strcspn(line, "\n") + 1;
		bool drop = str_starts(line, "License-File:");
		for (char *const *d = build_requires; *d && str_starts(line, requires); d++)
			drop |= str_starts(line + strlen(requires), *d);
		if (!drop)
			buf_append(out, line, line[n - 1] ? n : n - 1);
		line += line[n - 1] ? n : n - 1;
	}
	return buf_check(out, "METADATA", err);
}

/* The dist-info that pip and importlib.metadata read, from the sdist's PKG-INFO (PEP 376). */
static int put_dist_info(const struct plan *p, const char *dir, const char *src, struct err *err)
{
	_free_ char *base = xasprintf(STAGE_IMPORT_ROOT "/%s-%s.dist-info",
	    p->recipe->python_packages[0], p->recipe->version);
	_free_ char *from = path_join(src, "PKG-INFO");
	_free_ char *metadata = path_join(base, "METADATA");
	_free_ char *installer = path_join(base, "INSTALLER");
	_free_ char *top = path_join(base, "top_level.txt");
	_cleanup_(buf_done) struct buf names = BUF_INIT(STAGE_TEXT_MAX),
				       text = BUF_INIT(STAGE_TEXT_MAX);
	for (char **n = p->recipe->python_packages; *n; n++)
		buf_printf(&names, "%s\n", *n);
	buf_printf(&names, "%s\n", p->recipe->module);
	if (stage_write_metadata(p->recipe->build_requires, from, &text, err) < 0 ||
	    stage_put_text(dir, metadata, buf_str(&text), text.len, err) < 0 ||
	    stage_put_text(dir, installer, "debkit\n", strlen("debkit\n"), err) < 0)
		return -1;
	return stage_put_text(dir, top, names.data, names.len, err);
}

int stage_put_pth(const struct plan *p, const char *dir, struct err *err)
{
	static const char line[] = "/" STAGE_IMPORT_ROOT "\n";
	_free_ char *pth =
	    xasprintf("usr/lib/python3/dist-packages/debkit-%s.pth", p->recipe->name);
	return stage_put_text(dir, pth, line, strlen(line), err);
}

static int stage_python(
    const struct stage_context *c, const struct plan_package *pkg, const char *dir, struct err *err)
{
	const struct plan *p = c->plan;
	_free_ char *src = inputs_source_dir(p, c->cache);
	for (char **n = p->recipe->python_packages; *n; n++) {
		_free_ char *from = path_join(src, *n);
		_free_ char *to = path_join(STAGE_IMPORT_ROOT, *n);
		if (stage_put_tree(dir, to, from, ".py", err) < 0)
			return -1;
	}
	_free_ char *selector = xasprintf("%s.py", p->recipe->module);
	_free_ char *selector_from = path_join(p->recipe->dir, selector);
	_free_ char *selector_to = path_join(STAGE_IMPORT_ROOT, selector);
	if (stage_put_file(dir, selector_to, selector_from, 0644, err) < 0 ||
	    stage_put_pth(p, dir, err) < 0)
		return -1;
	return put_dist_info(p, dir, src, err);
}

/* "3.11" to "cp311" */
static char *python_tag(const char *version)
{
	const char *dot = strchr(version, '.');
	return xasprintf("cp%.*s%s", (int)(dot - version), version, dot + 1);
}

/* The torches on which the binding was proved, its own first: the selector names that one. */
static void put_minors(struct buf *out, const struct plan_binding *b, const struct abi_proof *proof)
{
	buf_puts(out, b->torch->minor);
	for (size_t i = 0; i < proof->n; i++)
		if (strcmp(proof->minors[i], b->torch->minor))
			buf_printf(out, " %s", proof->minors[i]);
}

static int stage_flavour(
    const struct stage_context *c, const struct plan_package *pkg, const char *dir, struct err *err)
{
	const struct plan *p = c->plan;
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	const char *base = stage_flavour_dir(&a, p);
	_cleanup_(buf_done) struct buf table = BUF_INIT(STAGE_TEXT_MAX);
	_free_ char *library = xasprintf("%s/%s/%s", c->work, p->flavour, p->kernel_library);
	_free_ char *library_to = path_join(base, p->kernel_library);
	if (stage_put_file(dir, library_to, library, 0644, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_bindings; i++) {
		const struct plan_binding *b = &p->bindings[i];
		_free_ char *from = path_join(c->work, b->out);
		_free_ char *to = path_join(base, b->file);
		_free_ char *tag = python_tag(b->python->version);
		buf_printf(&table, "%sFile: %s\nPython: %s\nTorch: ", i ? "\n" : "", b->file, tag);
		put_minors(&table, b, &c->proofs[i]);
		buf_printf(&table, "\nCuda: %s\n", p->cuda);
		if (stage_put_file(dir, to, from, 0644, err) < 0)
			return -1;
	}
	_free_ char *table_to = path_join(base, "bindings");
	return stage_put_text(dir, table_to, buf_str(&table), table.len, err);
}

static int stage_cudart(
    const struct stage_context *c, const struct plan_package *pkg, const char *dir, struct err *err)
{
	const struct plan *p = c->plan;
	_free_ char *from = inputs_runtime_dir(p, c->cache);
	_free_ char *soname = xasprintf("libcudart.so.%s", p->cuda_major);
	_free_ char *library = xasprintf("usr/lib/%s/debkit/%s", p->host->multiarch, soname);
	_free_ char *licence = xasprintf("usr/share/doc/%s/NVIDIA-EULA.txt", pkg->name);
	_cleanup_(strv_done) struct strv files = STRV_INIT;
	unsigned found = 0;
	if (path_walk(from, &files, err) < 0)
		return -1;
	for (size_t i = 0; i < files.n; i++) {
		const char *name = path_base(files.v[i]);
		const char *to = !strcmp(name, soname)	       ? library
				 : strcasestr(name, "license") ? licence
							       : NULL;
		_free_ char *source = path_join(from, files.v[i]);
		if (to && stage_put_file(dir, to, source, 0644, err) < 0)
			return -1;
		found += to != NULL;
	}
	if (found != 2)
		return err_set(err, ERR_FORMAT, "'%s' does not hold %s and its licence text",
		    p->runtime->file, soname);
	return 0;
}

static int stage_keyring(
    const struct stage_context *c, const struct plan_package *pkg, const char *dir, struct err *err)
{
	_cleanup_(buf_done) struct buf key = BUF_INIT(STAGE_TEXT_MAX);
	for (size_t i = 0; i < c->keys->n; i++)
		if (keyring_export(c->keys->v[i], false, &key, err) < 0)
			return -1;
	if (stage_put_text(dir, "usr/share/keyrings/debkit-archive-keyring.gpg", key.data, key.len, err) <
		0 ||
	    put_template(c, pkg, dir, "etc/apt/preferences.d/debkit.pref", "preferences.in", err) <
		0)
		return -1;
	if (!c->repo_url)
		return 0;
	_cleanup_(buf_done) struct buf sources = BUF_INIT(STAGE_TEXT_MAX);
	_cleanup_(strv_done) struct strv components = STRV_INIT;
	strv_add(&components, "main");
	if (sources_write(c->repo_url, "stable", &components, c->keys, &sources, err) < 0)
		return -1;
	return stage_put_text(
	    dir, "etc/apt/sources.list.d/debkit.sources", sources.data, sources.len, err);
}

int stage_package(
    const struct stage_context *c, const struct plan_package *pkg, const char *dir, struct err *err)
{
	static const struct {
		const char *kind;
		int (*fn)(const struct stage_context *, const struct plan_package *, const char *,
		    struct err *);
	} kinds[] = {{"python", stage_python}, {"flavour", stage_flavour}, {"cudart", stage_cudart},
	    {"keyring", stage_keyring}, {"modules", stage_modules}, {"kernels", stage_kernels},
	    {"meta", stage_meta}};
	if (path_remove_tree(dir, err) < 0 || path_mkdirs(dir, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].kind, pkg->kind) &&
		    (kinds[i].fn(c, pkg, dir, err) < 0 || put_doc(c, pkg, dir, err) < 0))
			return err_wrap(err, "cannot stage %s", pkg->name);
	return 0;
}
