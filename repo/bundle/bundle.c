#include "bundle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "bundle_choose.h"
#include "../index/listing.h"
#include "../change/pool_papers.h"
#include "../change/site.h"
#include "../change/withdraw.h"

#define TEXT_MAX ((size_t)16 << 20)

struct work {
	const struct bundle_spec *spec;
	struct bundle_result *res;
	struct arena arena;
	struct repo repo;
	struct suite suite;
	struct bundle_list list;
	const char *stage; /* folder beside the tar, whose content the tar gets */
	const char *name;
};

static void work_done(struct work *w)
{
	if (w->stage)
		(void)!path_remove_tree(w->stage, NULL);
	suite_done(&w->suite);
	repo_close(&w->repo);
	arena_done(&w->arena);
}

void bundle_result_done(struct bundle_result *res)
{
	strv_done(&res->packages);
	strv_done(&res->installs);
	strv_done(&res->warnings);
}

static const char *find_glibc(struct work *w, const char *system, struct err *err)
{
	const char *path = arena_printf(&w->arena, "%s/suites", w->spec->templates);
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	struct stanza_list list = {0};
	if (stanza_parse_file(&w->arena, path, STANZA_COMMENTS, &list, err) < 0)
		return NULL;
	for (size_t i = 0; i < list.n; i++) {
		const char *name = stanza_get(&list.v[i], "Suite");
		if (str_eq(name, system))
			return stanza_get(&list.v[i], "Glibc");
		strv_add(&names, name ? name : "");
	}
	_free_ char *known = strv_join(&names, ", ");
	err_set(err, ERR_USAGE, "no system '%s' is known; there are %s", system, known);
	return NULL;
}

/* Every package that the suite lists, those for all architectures once. */
static int read_list(struct work *w, struct err *err)
{
	struct suite *s = &w->suite;
	struct pkg_list all = {0};
	int rc = 0;
	for (size_t c = 0; c < s->components.n && rc == 0; c++)
		for (size_t i = 0; i < s->archs.n && rc == 0; i++)
			rc = listing_read(&w->arena, w->repo.root, s, s->components.v[c],
			    s->archs.v[i], &all, err);
	w->list.v = arena_alloc(&w->arena, (all.n + 1) * sizeof *w->list.v);
	for (size_t i = 0; i < all.n && rc == 0; i++) {
		struct stanza_list one = {0};
		rc = stanza_parse(
		    &w->arena, all.v[i].text, all.v[i].text_len, "Packages", STANZA_ONE, &one, err);
		if (rc == 0)
			w->list.v[w->list.n++] =
			    (struct bundle_pkg){.s = one.v[0], .component = all.v[i].component};
	}
	pkg_list_done(&all);
	return rc;
}

static int copy(struct work *w, const char *path, struct err *err)
{
	_free_ char *from = path_join(w->repo.root, path);
	_free_ char *to = xasprintf("%s/repo/%s", w->stage, path);
	return path_mkdirs_for(to, err) < 0 ? -1 : path_copy(from, to, 0644, err);
}

static int copy_if_there(struct work *w, const char *path, struct err *err)
{
	_free_ char *from = path_join(w->repo.root, path);
	return path_exists(from) ? copy(w, path, err) : 0;
}

/* The suite as it is signed: it lists more than the pool of the bundle has. */
static int copy_indexes(struct work *w, struct err *err)
{
	static const char *const tops[] = {"InRelease", "Release", "Release.gpg"};
	struct arena *a = &w->arena;
	const char *dir = arena_printf(a, "dists/%s", w->suite.name);
	for (size_t i = 0; i < ARRAY_SIZE(tops); i++)
		if (copy_if_there(w, arena_printf(a, "%s/%s", dir, tops[i]), err) < 0)
			return -1;
	for (size_t i = 0; i < w->suite.files.n; i++) {
		const struct release_file *f = &w->suite.files.v[i];
		const char *hash = arena_printf(a, "%s/%.*sby-hash/SHA256/%s", dir,
		    (int)(path_base(f->name) - f->name), f->name, f->sums.hex[SUM_SHA256]);
		if (copy_if_there(w, arena_printf(a, "%s/%s", dir, f->name), err) < 0 ||
		    copy_if_there(w, hash, err) < 0)
			return -1;
	}
	return 0;
}

static int copy_packages(struct work *w, struct err *err)
{
	for (size_t i = 0; i < w->list.n; i++) {
		const struct bundle_pkg *p = &w->list.v[i];
		const char *path = stanza_get(&p->s, "Filename");
		_cleanup_(strv_done) struct strv papers = STRV_INIT;
		if (!p->chosen || !path || strv_has(&w->res->packages, path))
			continue;
		if (!path_is_safe_member(path))
			return err_set(err, ERR_FORMAT, "'%s' is no name in a pool", path);
		strv_add(&w->res->packages, path);
		if (p->asked && !strv_has(&w->res->installs, stanza_get(&p->s, "Package")))
			strv_add(&w->res->installs, stanza_get(&p->s, "Package"));
		if (copy(w, path, err) < 0)
			return -1;
		papers_names(path, &papers);
		for (size_t k = 0; k < papers.n; k++)
			if (copy_if_there(w, papers.v[k], err) < 0)
				return -1;
	}
	return 0;
}

static int put_text(
    struct work *w, const char *name, mode_t mode, const struct buf *text, struct err *err)
{
	_free_ char *path = path_join(w->stage, name);
	if (buf_check(text, name, err) < 0)
		return -1;
	return outfile_put(path, mode, buf_str(text), text->len, err);
}

/* Ten lines; apt reads this folder and what dpkg has installed, and nothing else. */
static int put_script(struct work *w, struct err *err)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(TEXT_MAX);
	_free_ char *names = strv_join(&w->res->installs, " ");
	_free_ char *components = strv_join(&w->suite.components, " ");
	buf_puts(&b,
	    "#!/bin/sh\n"
	    "# Installs from this folder alone, with no network. Run it as root.\n"
	    "set -eu\n"
	    "cd \"$(dirname \"$0\")\" && sha256sum --quiet -c SHA256SUMS\n"
	    "tmp=$(mktemp -d) && trap 'rm -rf \"$tmp\"' EXIT && ln -s \"$PWD\" \"$tmp/here\"\n"
	    "mkdir -p \"$tmp/lists/partial\"\n");
	buf_printf(&b,
	    "echo \"deb [%s check-valid-until=no] file:$tmp/here/repo %s %s\" >\"$tmp/list\"\n",
	    w->suite.keys.n ? "signed-by=$tmp/here/" SITE_KEYRING : "trusted=yes", w->suite.name,
	    components);
	buf_puts(&b,
	    "set -- -o Dir::Etc::SourceList=\"$tmp/list\" -o Dir::Etc::SourceParts=/dev/null \\\n"
	    "\t-o Dir::State::Lists=\"$tmp/lists\" -o APT::Sandbox::User=root\n"
	    "apt-get \"$@\" update\n");
	buf_printf(&b, "apt-get \"$@\" install -y --no-install-recommends %s\n", names);
	return put_text(w, "install.sh", 0755, &b, err);
}

static int put_sums(struct work *w, struct err *err)
{
	_cleanup_(strv_done) struct strv files = STRV_INIT;
	_cleanup_(buf_done) struct buf b = BUF_INIT(TEXT_MAX);
	if (path_walk(w->stage, &files, err) < 0)
		return -1;
	for (size_t i = 0; i < files.n; i++) {
		_free_ char *path = path_join(w->stage, files.v[i]);
		char hex[DIGEST_HEX_MAX];
		if (digest_file_hex(DIGEST_SHA256, path, hex, NULL, err) < 0)
			return -1;
		buf_printf(&b, "%s  %s\n", hex, files.v[i]);
	}
	return put_text(w, "SHA256SUMS", 0644, &b, err);
}

/* The same repository gives the same bytes: sorted, root's, and of the suite's time. */
static int pack(struct work *w, struct err *err)
{
	struct arena *a = &w->arena;
	char *tmp = arena_printf(a, "%s.tmp", w->spec->out);
	char *argv[] = {"tar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner",
	    "--format=gnu", arena_printf(a, "--mtime=@%lld", (long long)w->suite.date),
	    arena_printf(a, "--transform=s,^\\.,%s,S", w->name), "-C", (char *)w->stage, "-cf", tmp,
	    ".", NULL};
	if (proc_check(&(struct proc_spec){.argv = argv, .out_to_stderr = true}, err) < 0) {
		unlink(tmp);
		return err_wrap(err, "cannot write '%s'", w->spec->out);
	}
	if (rename(tmp, w->spec->out) < 0)
		return err_sys(err, "cannot rename '%s' to '%s'", tmp, w->spec->out);
	return 0;
}

/* The folder's name comes from the tar's, and goes into tar's pattern and a shell's line. */
static int name_stage(struct work *w, struct err *err)
{
	const char *base = path_base(w->spec->out);
	size_t n = strlen(base);
	if (!str_ends(base, ".tar") || n == 4 ||
	    strspn(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._") != n)
		return err_set(err, ERR_USAGE,
		    "'%s': expected a name of letters, digits and +-._ that ends with .tar", base);
	w->name = arena_strndup(&w->arena, base, n - 4);
	char *dir = arena_printf(&w->arena, "%s.XXXXXX", w->spec->out);
	if (!mkdtemp(dir))
		return err_sys(err, "cannot create a folder beside '%s'", w->spec->out);
	w->stage = dir;
	return 0;
}

static int fill(struct work *w, struct err *err)
{
	const char *key = arena_printf(&w->arena, "%s/" SITE_KEYRING, w->repo.root);
	const char *to = arena_printf(&w->arena, "%s/" SITE_KEYRING, w->stage);
	if (w->suite.keys.n && path_copy(key, to, 0644, err) < 0)
		return -1;
	if (copy_indexes(w, err) < 0 || copy_packages(w, err) < 0 || put_script(w, err) < 0)
		return -1;
	return put_sums(w, err);
}

static int note_withdrawn(struct work *w, struct err *err)
{
	struct stanza_list list = {0};
	if (withdraw_load(&w->arena, w->repo.root, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < w->list.n; i++) {
		const struct stanza *s = &w->list.v[i].s;
		const char *name = stanza_get(s, "Package"), *version = stanza_get(s, "Version");
		const struct stanza *gone =
		    w->list.v[i].chosen ? withdraw_find(&list, name, version) : NULL;
		if (gone)
			strv_addf(&w->res->warnings, "%s %s is in it, and was withdrawn: %s", name,
			    version, stanza_get(gone, "Reason"));
	}
	return 0;
}

int bundle_run(const struct bundle_spec *spec, struct bundle_result *res, struct err *err)
{
	_cleanup_(work_done) struct work w = {
	    .spec = spec, .res = res, .arena = ARENA_INIT, .repo = REPO_INIT};
	struct bundle_want want;
	struct suite_row row;
	const char *glibc;
	*res = (struct bundle_result){0};
	if (bundle_parse(&w.arena, spec->want, &want, err) < 0 ||
	    !(glibc = find_glibc(&w, want.system, err)) ||
	    repo_open(&w.repo, &spec->repo, err) < 0 ||
	    repo_suite(&w.repo, &w.arena, spec->suite, &w.suite, &row, err) < 0 ||
	    bundle_read_tritons(&w.arena, spec->templates, &want, err) < 0 ||
	    read_list(&w, err) < 0 ||
	    bundle_choose(&w.arena, &want, glibc, spec->recipes, &w.list, &res->warnings, err) <
		0 ||
	    note_withdrawn(&w, err) < 0 || name_stage(&w, err) < 0 || fill(&w, err) < 0)
		return -1;
	return pack(&w, err);
}
