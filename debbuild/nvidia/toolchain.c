#include "toolchain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/lock.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/deb.h"
#include "../../lib/deb/stanza.h"
#include "aptclosure.h"
#include "../make/host.h"
#include "../wheel/pyindex.h"
#include "merge.h"

/* Room that is asked for beside the packages and what is in them. */
#define SPACE_MORE ((uint64_t)16 << 20)
#define STAMP	   "debkit-toolchain"

/* One making of the folder: names derived from the prefix, and what is known so far. */
struct making {
	struct arena *a;
	const struct toolchain_request *r;
	const struct toolchain_events *events;
	struct toolchain_result *out;
	const char *tmp, *tree, *debs, *stamp;
	const char *dashed; /* "12-8" */
	const char *arch;
	struct index *x;
	struct apt_release release;
	struct apt_closure closure;
	const struct apt_package *now; /* being fetched */
};

static void making_done(struct making *m)
{
	index_close(m->x);
	(void)!path_remove_tree(m->tmp, NULL);
}

static void note(const struct making *m, const char *text)
{
	if (m->events && m->events->note)
		m->events->note(m->events->arg, text);
}

static int check_cuda(const char *cuda, struct err *err)
{
	size_t major = strspn(cuda, "0123456789");
	size_t minor = cuda[major] == '.' ? strspn(cuda + major + 1, "0123456789") : 0;
	if (major && minor && !cuda[major + 1 + minor])
		return 0;
	return err_set(err, ERR_USAGE, "'%s' is no CUDA release such as 12.8", cuda);
}

static int choose_prefix(struct making *m, struct err *err)
{
	_free_ char *cache = m->r->prefix ? NULL : path_cache_dir(err);
	if (!m->r->prefix && !cache)
		return -1;
	_free_ char *usual = cache ? xasprintf("%s/toolchain/cuda-%s", cache, m->r->cuda) : NULL;
	_free_ char *full = path_absolute(usual ? usual : m->r->prefix, err);
	if (!full)
		return -1;
	m->out->prefix = arena_strdup(m->a, full);
	m->out->root = arena_printf(m->a, "%s/usr/local/cuda-%s", full, m->r->cuda);
	m->stamp = arena_printf(m->a, "%s/" STAMP, full);
	m->tmp = arena_printf(m->a, "%s.tmp", full);
	m->tree = arena_printf(m->a, "%s.tmp/tree", full);
	m->debs = arena_printf(m->a, "%s.debs", full);
	char *dashed = arena_strdup(m->a, m->r->cuda);
	*strchr(dashed, '.') = '-';
	m->dashed = dashed;
	return 0;
}

/* 1 if the folder is there and whole, 0 if it is not there; it may not be anything else. */
static int find_made(struct making *m, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	struct stanza_list list = {0};
	if (!path_exists(m->out->prefix))
		return 0;
	if (!path_exists(m->stamp)) {
		if (path_list(m->out->prefix, &names, err) < 0)
			return -1;
		return names.n ? err_set(err, ERR_CONFLICT,
				     "'%s' is there and holds something else than a toolchain: "
				     "move it away, or choose another --prefix",
				     m->out->prefix)
			       : 0;
	}
	if (stanza_parse_file(m->a, m->stamp, STANZA_ONE, &list, err) < 0)
		return -1;
	const char *cuda = stanza_get(&list.v[0], "Cuda");
	m->out->version = host_toolkit_version(m->a, m->out->root, m->r->cuda);
	if (!str_eq(cuda, m->r->cuda) || !m->out->version)
		return err_set(err, ERR_CONFLICT,
		    "'%s' holds a toolchain for CUDA %s whose nvcc does not answer as one of %s: "
		    "remove it and try again",
		    m->out->prefix, cuda ? cuda : "of unknown release", m->r->cuda);
	return 1;
}

static int ask_arch(struct making *m, struct err *err)
{
	char *argv[] = {"dpkg", "--print-architecture", NULL};
	_cleanup_(buf_done) struct buf said = BUF_INIT(4096);
	if (proc_capture(argv, &said, err) < 0)
		return -1;
	m->arch = arena_strdup(m->a, str_trim(arena_strdup(m->a, buf_str(&said))));
	return 0;
}

static void on_retry(void *arg, const char *why)
{
	_free_ char *text = xasprintf("reading the repository again: %s", why);
	note(arg, text);
}

static int read_repository(struct making *m, struct err *err)
{
	const struct apt_source *s = &m->r->source;
	_free_ char *key = xasprintf("%s/key", m->tmp);
	const char *keyring;
	const char *roots[] = {arena_printf(m->a, "cuda-nvcc-%s", m->dashed),
	    arena_printf(m->a, "cuda-cudart-dev-%s", m->dashed), NULL};
	const char *suffix = arena_printf(m->a, "-%s", m->dashed);
	if (index_open(s->url, &m->x, err) < 0 ||
	    aptsource_key(m->a, m->x, s, key, &keyring, err) < 0 ||
	    aptsource_read(m->a, m->x, s, keyring, m->arch, on_retry, m, &m->release, err) < 0)
		return -1;
	if (aptclosure_make(m->a, &m->release.packages, roots, suffix, &m->closure, err) < 0)
		return err_wrap(err, "'%s' (%s, Release of %s)", s->url, m->arch, m->release.date);
	m->out->system = m->closure.system;
	m->out->n_system = m->closure.n_system;
	return 0;
}

/* Another release of a package has another hash, and so another name here. */
static char *deb_path(const struct making *m, const struct apt_package *p)
{
	return xasprintf("%s/%s_%.16s.deb", m->debs, p->name, p->sha256);
}

static int check_space(const struct making *m, struct err *err)
{
	uint64_t have, fetch = 0;
	_free_ char *where = path_dir(m->out->prefix);
	for (size_t i = 0; i < m->closure.n; i++) {
		_free_ char *deb = deb_path(m, m->closure.v[i]);
		fetch += path_exists(deb) ? 0 : m->closure.v[i]->size;
	}
	uint64_t need = fetch + m->closure.installed + SPACE_MORE;
	if (path_free_bytes(where, &have, err) < 0)
		return -1;
	if (have >= need)
		return 0;
	return err_set(err, ERR_SYSTEM,
	    "%llu MB are needed in '%s' (%llu to fetch, %llu unpacked), %llu are free: make room, "
	    "or choose another place with --prefix",
	    (unsigned long long)(need >> 20), where, (unsigned long long)(fetch >> 20),
	    (unsigned long long)(m->closure.installed >> 20), (unsigned long long)(have >> 20));
}

static void on_bytes(void *arg, uint64_t done, uint64_t total)
{
	const struct making *m = arg;
	if (m->events && m->events->bytes)
		m->events->bytes(m->events->arg, m->now->name, done, total);
}

static int fetch(struct making *m, const struct apt_package *p, struct err *err)
{
	_free_ char *path = deb_path(m, p);
	_free_ char *url = aptsource_url(&m->r->source, p->file);
	m->now = p;
	return index_fetch(m->x, url, p->sha256, p->size, path, on_bytes, m, err);
}

/* The package is what the index says, and all of it can be read. */
static int check_deb(
    struct making *m, const struct apt_package *p, const char *path, struct err *err)
{
	static const char *const fields[] = {"Package", "Version", "Architecture"};
	const char *want[] = {p->name, p->version, p->arch};
	struct deb_info info;
	if (deb_read(m->a, path, DEB_READ_SIGNED, NULL, NULL, &info, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const char *is = stanza_get(&info.control, fields[i]);
		if (!str_eq(is, want[i]))
			return err_set(err, ERR_TRUST, "'%s%s': its %s is '%s', expected '%s'",
			    m->r->source.url, p->file, fields[i], is ? is : "", want[i]);
	}
	return 0;
}

static int unpack(struct making *m, const struct apt_package *p, struct err *err)
{
	_free_ char *path = deb_path(m, p);
	_free_ char *part = xasprintf("%s/part", m->tmp);
	if (check_deb(m, p, path, err) < 0 || path_remove_tree(part, err) < 0 ||
	    deb_unpack(path, part, err) < 0 || merge_tree(part, m->tree, p->name, err) < 0)
		return -1;
	return path_remove_tree(part, err);
}

/* nvcc's profile, clang and the plan look for these; packages differ in who makes them. */
static int link_folder(const char *root, const char *name, const char *in_target, struct err *err)
{
	_cleanup_(strv_done) struct strv targets = STRV_INIT;
	_free_ char *path = path_join(root, name);
	_free_ char *dir = path_join(root, "targets");
	if (path_exists(path) || !path_is_dir(dir))
		return 0;
	if (path_list(dir, &targets, err) < 0)
		return -1;
	for (size_t i = 0; i < targets.n; i++) {
		_free_ char *to = xasprintf("targets/%s/%s", targets.v[i], in_target);
		_free_ char *full = path_join(root, to);
		if (!path_is_dir(full))
			continue;
		if (symlink(to, path) < 0)
			return err_sys(err, "cannot make the link '%s'", path);
		return 0;
	}
	return 0;
}

static int finish(struct making *m, struct err *err)
{
	_free_ char *root = xasprintf("%s/usr/local/cuda-%s", m->tree, m->r->cuda);
	_free_ char *stamp = xasprintf("%s/" STAMP, m->tree);
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	if (link_folder(root, "lib64", "lib", err) < 0 ||
	    link_folder(root, "include", "include", err) < 0)
		return -1;
	m->out->version = host_toolkit_version(m->a, root, m->r->cuda);
	if (!m->out->version)
		return err_set(err, ERR_TOOL,
		    "the packages of '%s' hold no nvcc of CUDA %s that runs on this machine",
		    m->r->source.url, m->r->cuda);
	buf_printf(&b, "Cuda: %s\nNvcc: %s\nRepository: %s\nKey: %s\nDate: %s\n", m->r->cuda,
	    m->out->version, m->r->source.url, m->r->source.fpr, m->release.date);
	for (size_t i = 0; i < m->closure.n_system; i++)
		buf_printf(&b, "%s %s\n", i ? "" : "Needs:", m->closure.system[i]);
	buf_puts(&b, "Packages:\n");
	for (size_t i = 0; i < m->closure.n; i++)
		buf_printf(&b, " %s %s %s\n", m->closure.v[i]->name, m->closure.v[i]->version,
		    m->closure.v[i]->sha256);
	if (outfile_put(stamp, 0644, b.data, b.len, err) < 0)
		return -1;
	if (rmdir(m->out->prefix) < 0 && errno != ENOENT)
		return err_sys(err, "cannot replace '%s'", m->out->prefix);
	if (rename(m->tree, m->out->prefix) < 0)
		return err_sys(err, "cannot rename '%s' to '%s'", m->tree, m->out->prefix);
	return path_remove_tree(m->debs, err);
}

static int make(struct making *m, struct err *err)
{
	if (path_remove_tree(m->tmp, err) < 0 || path_mkdirs(m->tmp, err) < 0 ||
	    ask_arch(m, err) < 0 || read_repository(m, err) < 0 || check_space(m, err) < 0)
		return -1;
	_free_ char *text =
	    xasprintf("fetching %zu packages, %llu MB, from Release of %s", m->closure.n,
		(unsigned long long)((m->closure.size + (1 << 20) - 1) >> 20), m->release.date);
	note(m, text);
	for (size_t i = 0; i < m->closure.n; i++)
		if (intr_check(err) < 0 || fetch(m, m->closure.v[i], err) < 0)
			return -1;
	for (size_t i = 0; i < m->closure.n; i++)
		if (intr_check(err) < 0 || unpack(m, m->closure.v[i], err) < 0)
			return -1;
	m->out->did_work = true;
	return finish(m, err);
}

int toolchain_get(struct arena *a, const struct toolchain_request *r,
    const struct toolchain_events *events, struct toolchain_result *out, struct err *err)
{
	struct making m = {.a = a, .r = r, .events = events, .out = out};
	_close_ int lock = -1;
	*out = (struct toolchain_result){0};
	if (check_cuda(r->cuda, err) < 0 || choose_prefix(&m, err) < 0)
		return -1;
	_free_ char *lock_path = xasprintf("%s.lock", out->prefix);
	if (path_mkdirs_for(out->prefix, err) < 0 ||
	    lock_take(lock_path, false, NULL, &lock, err) < 0)
		return -1;
	int made = find_made(&m, err);
	if (made != 0)
		return made < 0 ? -1 : 0;
	int rc = make(&m, err);
	making_done(&m);
	return rc;
}
