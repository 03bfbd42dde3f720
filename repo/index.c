#include "index.h"

#include <string.h>

#include "../debbuild/base/arena.h"
#include "../debbuild/base/buf.h"
#include "../debbuild/base/err.h"
#include "../debbuild/base/path.h"
#include "../debbuild/base/txn.h"
#include "../debbuild/base/xalloc.h"
#include "../debbuild/deb/stanza.h"
#include "compress.h"
#include "publish.h"
#include "suite.h"

#define INDEX_MAX ((size_t)1 << 30)

static struct pkg *find(const struct index *x, const struct pkg *p)
{
	for (size_t i = 0; i < x->packages.n; i++) {
		struct pkg *q = &x->packages.v[i];
		if (!strcmp(q->name, p->name) && !strcmp(q->version, p->version) &&
		    !strcmp(q->arch, p->arch))
			return q;
	}
	return NULL;
}

int index_add(struct index *x, const struct pkg *p, struct err *err)
{
	const struct pkg *q = find(x, p);
	if (!q) {
		pkg_list_add(&x->packages, p);
		return 1;
	}
	if (!strcmp(q->sha256, p->sha256))
		return 0;
	return err_set(err, ERR_CONFLICT,
	    "'%s': %s %s %s is published with other bytes: SHA256 %s there, %s here; raise the "
	    "version",
	    p->from, p->name, p->version, p->arch, q->sha256, p->sha256);
}

int index_load(struct arena *a, const char *root, const struct suite *s, const char *component,
    struct index *x, struct err *err)
{
	*x = (struct index){.component = component};
	for (size_t i = 0; i < s->archs.n; i++) {
		const char *path = arena_printf(
		    a, "%s/%s/Packages", root, suite_index_dir(a, s, component, s->archs.v[i]));
		struct stanza_list list = {0};
		if (!path_exists(path))
			continue;
		if (stanza_parse_file(a, path, 0, &list, err) < 0)
			return -1;
		for (size_t k = 0; k < list.n; k++) {
			struct pkg p;
			if (pool_from_stanza(a, &list.v[k], path, &p, err) < 0 ||
			    index_add(x, &p, err) < 0)
				return -1;
		}
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	return pkg_compare(a, b);
}

static int stage_one(struct arena *a, const char *suite_dir, const char *name, const struct buf *b,
    struct txn *t, struct release_file *file, struct err *err)
{
	char hex[DIGEST_HEX_MAX];
	digest_hex(DIGEST_SHA256, buf_str(b), b->len, hex);
	*file = (struct release_file){.name = name, .size = b->len};
	memcpy(file->sha256, hex, SHA256_HEX);
	const char *dir = arena_strndup(a, name, (size_t)(path_base(name) - name));
	const char *by_hash = arena_printf(a, "%s/%sby-hash/SHA256/%s", suite_dir, dir, hex);
	if (txn_put(t, PHASE_BY_HASH, by_hash, buf_str(b), b->len, err) < 0)
		return -1;
	const char *full = arena_printf(a, "%s/%s", suite_dir, name);
	return txn_put(t, PHASE_INDEX, full, buf_str(b), b->len, err);
}

int index_stage(struct arena *a, const struct suite *s, const struct index *x, const char *arch,
    struct txn *t, struct release_file *files, struct err *err)
{
	_cleanup_(buf_done) struct buf plain = BUF_INIT(INDEX_MAX);
	_cleanup_(buf_done) struct buf gz = BUF_INIT(INDEX_MAX);
	_cleanup_(buf_done) struct buf zst = BUF_INIT(INDEX_MAX);
	if (x->packages.n)
		qsort(x->packages.v, x->packages.n, sizeof *x->packages.v, compare);
	for (size_t i = 0; i < x->packages.n; i++) {
		const struct pkg *p = &x->packages.v[i];
		if (strcmp(p->arch, "all") && strcmp(p->arch, arch))
			continue;
		if (plain.len)
			buf_putc(&plain, '\n');
		buf_puts(&plain, p->text);
	}
	if (buf_check(&plain, "index", err) < 0 ||
	    compress_gz(buf_str(&plain), plain.len, &gz, err) < 0 ||
	    compress_zst(buf_str(&plain), plain.len, &zst, err) < 0)
		return -1;
	const char *suite_dir = arena_printf(a, "dists/%s", s->name);
	const char *name = arena_printf(a, "%s/binary-%s/Packages", x->component, arch);
	if (stage_one(a, suite_dir, name, &plain, t, &files[0], err) < 0 ||
	    stage_one(a, suite_dir, arena_printf(a, "%s.gz", name), &gz, t, &files[1], err) < 0)
		return -1;
	return stage_one(a, suite_dir, arena_printf(a, "%s.zst", name), &zst, t, &files[2], err);
}

void index_done(struct index *x)
{
	pkg_list_done(&x->packages);
}
