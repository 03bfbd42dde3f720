#include "pack.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/deb.h"
#include "../../lib/deb/fatbin.h"
#include "../../lib/deb/inspect.h"
#include "../../lib/deb/kernel_table.h"
#include "../../lib/deb/manifest.h"
#include "../../lib/deb/stanza.h"
#include "../../lib/sign/debsig.h"
#include "../../lib/sign/keyring.h"
#include "../abi/abi_prove.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "../plan/plan.h"
#include "../data/recipe.h"
#include "shlibs.h"
#include "stage.h"

#define TEXT_MAX ((size_t)4 << 20)

/* Debkit's own version is part of each key: another program may write other bytes. */
static void feed(struct digest *d, const char *text)
{
	digest_update(d, text ? text : "-", strlen(text ? text : "-") + 1);
}

static void feed_tree(struct digest *d, const char *dir)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_walk(dir, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		_free_ char *full = path_join(dir, names.v[i]);
		char hex[DIGEST_HEX_MAX] = "";
		if (strstr(names.v[i], "__pycache__/"))
			continue;
		if (digest_file_hex(DIGEST_SHA256, full, hex, NULL, NULL) < 0)
			hex[0] = '\0';
		feed(d, names.v[i]);
		feed(d, hex);
	}
}

static void feed_binaries(struct digest *d, const struct plan *p)
{
	for (size_t i = 0; i < p->n_steps; i++)
		if (p->steps[i].kind == STEP_LINK_KERNELS ||
		    p->steps[i].kind == STEP_LINK_BINDING || p->steps[i].kind == STEP_STORE) {
			feed(d, p->steps[i].out);
			feed(d, p->steps[i].key);
		}
	feed(d, p->host->compiler);
}

static void make_key(
    const struct stage_context *c, const struct plan_package *pkg, char key[SHA256_HEX])
{
	struct digest *d = digest_new(DIGEST_SHA256);
	const struct plan *p = c->plan;
	_free_ char *templates = path_join(c->templates, pkg->template);
	_free_ char *date = xasprintf("%lld", (long long)c->date);
	feed(d, "debkit package " DEBKIT_VERSION);
	feed(d, pkg->name);
	feed(d, pkg->version);
	feed(d, pkg->arch);
	feed(d, p->cuda);
	feed(d, p->host->multiarch);
	feed(d, date);
	feed(d, c->sign_key);
	feed_tree(d, templates);
	if (!strcmp(pkg->kind, "flavour")) {
		feed_binaries(d, p);
		feed(d, c->proof_id);
	}
	if (!strcmp(pkg->kind, "keyring")) {
		_cleanup_(buf_done) struct buf exported = BUF_INIT(TEXT_MAX);
		for (size_t i = 0; i < c->keys->n; i++)
			if (keyring_export(c->keys->v[i], false, &exported, NULL) == 0)
				feed(d, c->keys->v[i]);
		digest_update(d, buf_str(&exported), exported.len);
		feed(d, c->repo_url);
	}
	if (!strcmp(pkg->kind, "kernels"))
		feed_binaries(d, p);
	for (const struct lock_entry **e = p->library; e && *e; e++)
		feed(d, (*e)->sha256);
	if (p->sdist) {
		feed(d, p->sdist->sha256);
		feed(d, p->runtime->sha256);
	}
	char hex[DIGEST_HEX_MAX];
	digest_finish_hex(d, hex);
	memcpy(key, hex, SHA256_HEX);
}

static char *deb_path(const char *out, const struct plan_package *pkg)
{
	return xasprintf("%s/%s_%s_%s.deb", out, pkg->name, pkg->version, pkg->arch);
}

/* Beside the work folders: what each .deb was made from, and how it lay on disk then. */
static char *record_path(const char *out, const struct plan_package *pkg)
{
	return xasprintf("%s/work/made/%s_%s_%s", out, pkg->name, pkg->version, pkg->arch);
}

static void format_stat(const struct stat *st, char text[120])
{
	snprintf(text, 120, "%lld %lld.%09ld %llu", (long long)st->st_size,
	    (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, (unsigned long long)st->st_ino);
}

bool pack_is_current(struct arena *a, const struct stage_context *c, const struct plan_package *pkg,
    const char *out, struct pack_result *res)
{
	_free_ char *path = deb_path(out, pkg);
	_free_ char *record = record_path(out, pkg);
	struct stanza_list list = {0};
	struct stat st;
	char disk[120];
	*res = (struct pack_result){.package = pkg->name, .path = arena_strdup(a, path)};
	make_key(c, pkg, res->key);
	if (lstat(path, &st) < 0 || !path_exists(record) ||
	    stanza_parse_file(a, record, STANZA_ONE, &list, NULL) < 0)
		return false;
	format_stat(&st, disk);
	const char *sha256 = stanza_get(&list.v[0], "Sha256");
	if (!str_eq(stanza_get(&list.v[0], "Key"), res->key) ||
	    !str_eq(stanza_get(&list.v[0], "Stat"), disk) || !sha256 ||
	    strlen(sha256) != SHA256_HEX - 1)
		return false;
	memcpy(res->sha256, sha256, SHA256_HEX);
	res->size = (uint64_t)st.st_size;
	res->unchanged = true;
	return true;
}

static int write_record(
    const char *out, const struct plan_package *pkg, const struct pack_result *res, struct err *err)
{
	_free_ char *record = record_path(out, pkg);
	struct stat st;
	char disk[120];
	if (lstat(res->path, &st) < 0)
		return err_sys(err, "cannot look at '%s'", res->path);
	format_stat(&st, disk);
	_cleanup_(buf_done) struct buf b = BUF_INIT(4096);
	buf_printf(&b, "Package: %s\nKey: %s\nSha256: %s\nStat: %s\n", pkg->name, res->key,
	    res->sha256, disk);
	if (path_mkdirs_for(record, err) < 0)
		return -1;
	return outfile_put(record, 0644, b.data, b.len, err);
}

/* The package's stanza from the expanded control.in, which may hold several. */
static int find_control(struct arena *a, const struct stage_context *c,
    const struct plan_package *pkg, const char *depends, struct stanza *out, struct err *err)
{
	_free_ char *source = xasprintf("%s/%s/control.in", c->templates, pkg->template);
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX);
	struct stanza_list list = {0};
	if (stage_expand(c, pkg, depends, "control.in", &text, err) < 0 ||
	    stanza_parse(a, buf_str(&text), text.len, source, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		if (!str_eq(stanza_get(&list.v[i], "Package"), pkg->name))
			continue;
		*out = list.v[i];
		return 0;
	}
	return err_set(err, ERR_FORMAT, "'%s' has no stanza for %s", source, pkg->name);
}

static int by_version(const void *a, const void *b)
{
	return matrix_compare(*(char *const *)a, *(char *const *)b);
}

static void set_versions(struct arena *a, struct stanza *control, const char *field, struct strv *v)
{
	strv_uniq(v);
	qsort(v->v, v->n, sizeof *v->v, by_version);
	_free_ char *text = strv_join(v, " ");
	stanza_set(a, control, field, text);
}

/* The torch minors on which the bindings were proved, and their Pythons, oldest first. */
static void set_pairs(struct arena *a, const struct stage_context *c, struct stanza *control)
{
	const struct plan *p = c->plan;
	_cleanup_(strv_done) struct strv torches = STRV_INIT, pythons = STRV_INIT;
	for (size_t i = 0; i < p->n_bindings; i++) {
		for (size_t k = 0; k < c->proofs[i].n; k++)
			strv_add(&torches, c->proofs[i].minors[k]);
		strv_add(&pythons, p->bindings[i].python->version);
	}
	set_versions(a, control, "Debkit-Torch", &torches);
	set_versions(a, control, "Debkit-Python", &pythons);
}

/* The GPU archs as the fatbins of the kernel library have them, checked against the plan. */
static int set_archs(struct arena *a, const struct plan *p, const char *stage,
    struct stanza *control, struct err *err)
{
	_free_ char *library =
	    xasprintf("%s/%s/%s", stage, stage_flavour_dir(a, p), p->kernel_library);
	struct fatbin_info f;
	_cleanup_(buf_done) struct buf archs = BUF_INIT(4096), want = BUF_INIT(4096);
	if (fatbin_read_elf(a, library, &f, err) < 0)
		return -1;
	fatbin_archs(&f, &archs);
	bool zstd = matrix_compare(p->cuda, "13.0") >= 0;
	for (size_t i = 0; i < f.n; i++)
		if (f.v[i].compress != FATBIN_PLAIN && f.v[i].compress != FATBIN_LZ4 &&
		    !(zstd && f.v[i].compress == FATBIN_ZSTD))
			return err_set(err, ERR_FORMAT,
			    "'%s' holds a fatbin entry that the oldest drivers of CUDA %s cannot "
			    "unpack",
			    library, p->cuda_major);
	for (size_t i = 0; i < p->n_archs; i++)
		buf_printf(&want, "%s ", p->archs[i]->cc);
	buf_printf(&want, "%s+PTX", p->archs[p->n_archs - 1]->cc);
	if (strcmp(buf_str(&archs), buf_str(&want)))
		return err_set(err, ERR_FORMAT,
		    "'%s' carries the GPU archs '%s', the plan says '%s'", library, buf_str(&archs),
		    buf_str(&want));
	stanza_set(a, control, "Debkit-Cuda-Archs", buf_str(&archs));
	return 0;
}

/* What the manifests of the stores say; the finished package is compared with it again. */
static int set_kernels(struct arena *a, const struct stage_context *c, const char *stage,
    struct stanza *control, struct err *err)
{
	const struct plan *p = c->plan;
	_cleanup_(manifest_done) struct manifest_claims m = {0};
	for (size_t i = 0; i < p->n_tritons; i++) {
		_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX);
		_free_ char *name = xasprintf(
		    "%s/triton-%s/manifest", stage_kernels_dir(a, p), p->tritons[i].version);
		_free_ char *path = path_join(stage, name);
		if (path_read(path, &text, err) < 0 ||
		    manifest_add(&m, name, buf_str(&text), text.len, err) < 0)
			return -1;
	}
	manifest_sort(&m);
	const struct {
		const char *field;
		const struct strv *words;
	} v[] = {{"Debkit-Triton", &m.tritons}, {"Debkit-Python", &m.pythons},
	    {"Debkit-Cuda-Archs", &m.archs}, {"Debkit-Profiles", &m.profiles}};
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		_free_ char *text = strv_join(v[i].words, " ");
		stanza_set(a, control, v[i].field, text);
	}
	stanza_set(a, control, "Debkit-Source-Sha256", p->library[0]->sha256);
	return 0;
}

static int make_control(struct arena *a, const struct stage_context *c,
    const struct plan_package *pkg, const char *stage, struct stanza *out, struct err *err)
{
	const struct plan *p = c->plan;
	const char *depends = "";
	_cleanup_(strv_done) struct strv files = STRV_INIT, objects = STRV_INIT;
	if (path_walk(stage, &files, err) < 0)
		return -1;
	for (size_t i = 0; i < files.n; i++)
		if (strstr(path_base(files.v[i]), ".so"))
			strv_take(&objects, path_join(stage, files.v[i]));
	bool flavour = !strcmp(pkg->kind, "flavour"), kernels = !strcmp(pkg->kind, "kernels");
	if ((flavour || kernels) && (shlibs_depends(a, p, c->work, &objects, &depends, err) < 0 ||
					shlibs_check_hardened(&objects, err) < 0))
		return -1;
	if (find_control(a, c, pkg, depends, out, err) < 0)
		return -1;
	if (kernels)
		return set_kernels(a, c, stage, out, err);
	if (!flavour)
		return 0;
	stanza_set(a, out, "Debkit-Cuda", p->cuda);
	if (set_archs(a, p, stage, out, err) < 0)
		return -1;
	set_pairs(a, c, out);
	stanza_set(a, out, "Debkit-Compiler", p->host->compiler);
	stanza_set(a, out, "Debkit-Source-Sha256", p->sdist->sha256);
	return 0;
}

/* The finished file is read once more, as a stranger's: what dpkg would refuse, or a claim that is
 * not so, does not leave the house. */
static int check_result(
    const struct plan *p, const char *path, struct pack_result *res, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct inspect_claims claims;
	struct kernel_table kernels;
	if (inspect_deb_kernels(&a, path, &claims, &kernels, err) < 0 ||
	    inspect_check(&claims, err) < 0 || kernel_table_check_abi(&kernels, p->cuda, err) < 0)
		return -1;
	memcpy(res->sha256, claims.info.sha256, SHA256_HEX);
	res->size = claims.info.size;
	return 0;
}

/* A maintainer script from NAME.KIND.in, if the recipe has one. */
static int read_script(const struct stage_context *c, const struct plan_package *pkg,
    const char *name, struct buf *text, const char **out, struct err *err)
{
	_free_ char *template = xasprintf("%s.%s.in", name, pkg->kind);
	if (!stage_has_template(c, pkg, template))
		return 0;
	if (stage_expand(c, pkg, NULL, template, text, err) < 0)
		return -1;
	*out = buf_str(text);
	return 0;
}

int pack_check_target(const struct plan_package *pkg, const char *out, struct err *err)
{
	_free_ char *path = deb_path(out, pkg);
	struct stat st;
	if (lstat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
		return 0;
	return err_set(err, ERR_SYSTEM,
	    "'%s' is there and is no regular file: move it away, or choose another --out", path);
}

int pack_package(struct arena *a, const struct stage_context *c, const struct plan_package *pkg,
    const char *out, struct pack_result *res, struct err *err)
{
	if (pack_is_current(a, c, pkg, out, res))
		return 0;
	_free_ char *stage = xasprintf("%s/stage/%s", c->work, pkg->name);
	_free_ char *fresh = xasprintf("%s/%s.deb", c->work, pkg->name);
	struct stanza control = {0};
	if (stage_package(c, pkg, stage, err) < 0 ||
	    make_control(a, c, pkg, stage, &control, err) < 0)
		return -1;
	struct deb_spec spec = {
	    .control = &control, .stage = stage, .mtime = c->date, .compress = DEB_ZSTD};
	_free_ char *conffiles = NULL;
	if (!strcmp(pkg->kind, "keyring")) {
		conffiles = xasprintf("/etc/apt/preferences.d/debkit.pref\n%s",
		    c->repo_url ? "/etc/apt/sources.list.d/debkit.sources\n" : "");
		spec.conffiles = conffiles;
	}
	_cleanup_(buf_done) struct buf postinst = BUF_INIT(TEXT_MAX), prerm = BUF_INIT(TEXT_MAX);
	if (read_script(c, pkg, "postinst", &postinst, &spec.postinst, err) < 0 ||
	    read_script(c, pkg, "prerm", &prerm, &spec.prerm, err) < 0)
		return -1;
	if (deb_write(&spec, fresh, err) < 0)
		return err_wrap(err, "cannot pack %s", pkg->name);
	if (c->sign_key && !c->no_sign && debsig_sign(fresh, fresh, c->sign_key, err) < 0)
		return err_wrap(err, "cannot sign %s", pkg->name);
	if (check_result(c->plan, fresh, res, err) < 0)
		return err_wrap(err,
		    !err || err->code == ERR_SYSTEM ? "cannot check %s" : "%s is not fit to ship",
		    pkg->name);
	if (rename(fresh, res->path) < 0)
		return err_sys(err, "cannot rename '%s' to '%s'", fresh, res->path);
	res->unchanged = false;
	return path_remove_tree(stage, err) < 0 ? -1 : write_record(out, pkg, res, err);
}
