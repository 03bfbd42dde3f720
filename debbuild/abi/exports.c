#include "exports.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/dynsym.h"
#include "../wheel/flate.h"
#include "../wheel/pyindex.h"
#include "../data/lockfile.h"
#include "../wheel/peek.h"
#include "../wheel/wheel.h"

#define TEXT_MAX      ((size_t)128 << 20) /* a list is of 13 MB for torch 2.10 */
#define LIBRARIES_MAX 16

static const char wheel_word[] = "wheel ", library_word[] = "library ";

/* Libraries that an extension links: at the same places in every torch since 2.0. */
static bool is_wanted(const struct lock_entry *e, const char *member)
{
	static const char *const torch[] = {"libc10.so", "libc10_cuda.so", "libtorch.so",
	    "libtorch_cpu.so", "libtorch_cuda.so", "libtorch_python.so"};
	static const char torch_dir[] = "torch/lib/";
	if (strcmp(e->project, "torch"))
		return str_starts(path_base(member), "libcudart.so.");
	if (!str_starts(member, torch_dir))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(torch); i++)
		if (!strcmp(member + strlen(torch_dir), torch[i]))
			return true;
	return false;
}

static int add_library(struct peek *p, const char *member, struct buf *text, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct dynsym d;
	if (peek_member(p, member, err) < 0 ||
	    dynsym_exports(&a, peek_read, p, p->member->size, member, &d, err) < 0)
		return -1;
	buf_printf(text, "%s%s\n", library_word, path_base(member));
	for (size_t i = 0; i < d.n; i++) {
		if (strpbrk(d.names[i], " \n"))
			return err_set(
			    err, ERR_FORMAT, "member '%s' exports a name with a space", member);
		buf_puts(text, d.names[i]);
		buf_putc(text, '\n');
	}
	return buf_check(text, "the list of its exports", err);
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return strcmp(path_base(*x), path_base(*y));
}

/* The plain text of the list. */
static int make_text(
    struct index *x, const struct lock_entry *e, const char *url, struct buf *text, struct err *err)
{
	_cleanup_(peek_done) struct peek p = PEEK_INIT;
	struct wheel_pin pin = {.name = e->file, .url = url, .size = e->size};
	const char *members[LIBRARIES_MAX];
	size_t n = 0;
	if (peek_open(&p, x, &pin, err) < 0)
		return -1;
	for (size_t i = 0; i < p.dir.n && n < LIBRARIES_MAX; i++)
		if (is_wanted(e, p.dir.v[i].name))
			members[n++] = p.dir.v[i].name;
	if (!n)
		return err_set(err, ERR_FORMAT, "it holds no library that an extension links");
	qsort(members, n, sizeof *members, by_name);
	buf_printf(text, "%s%s\n", wheel_word, e->file);
	for (size_t i = 0; i < n; i++)
		if (add_library(&p, members[i], text, err) < 0)
			return -1;
	return 0;
}

/* Takes the next line out of the text, or NULL at its end. */
static char *next_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');
	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return line;
}

/* text is cut up and stays in use. Names in wrong order would be searched in vain: refused. */
static int parse(struct arena *a, char *text, struct exports *out, struct err *err)
{
	struct exports x = {0};
	size_t lines = 0;
	for (const char *c = text; (c = strchr(c, '\n')); c++)
		lines++;
	const char **names = arena_alloc(a, (lines + 1) * sizeof *names);
	x.libraries = arena_alloc(a, LIBRARIES_MAX * sizeof *x.libraries);
	char *line = next_line(&text);
	if (!line || !str_starts(line, wheel_word))
		return err_set(err, ERR_FORMAT, "it is no list of exports");
	x.wheel = line + strlen(wheel_word);
	while ((line = next_line(&text))) {
		struct exports_library *l = x.n ? &x.libraries[x.n - 1] : NULL;
		if (str_starts(line, library_word) && x.n < LIBRARIES_MAX) {
			x.libraries[x.n++] = (struct exports_library){
			    .name = line + strlen(library_word), .names = names};
			continue;
		}
		if (!l || (l->n && strcmp(l->names[l->n - 1], line) >= 0))
			return err_set(err, ERR_FORMAT, "it is no list of exports");
		l->names[l->n++] = line;
		names++;
	}
	*out = x;
	return 0;
}

/* The list with its hash; the names live in the arena. */
static int take(struct arena *a, const struct buf *text, struct exports *out, struct err *err)
{
	char hex[DIGEST_HEX_MAX];
	digest_hex(DIGEST_SHA256, buf_str(text), text->len, hex);
	if (parse(a, arena_strndup(a, buf_str(text), text->len), out, err) < 0)
		return -1;
	memcpy(out->sha256, hex, SHA256_HEX);
	return 0;
}

/* Fetches the text, and counts what that cost. */
static int fetch(struct index *x, const struct lock_entry *e, struct buf *text,
    struct exports_cost *cost, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	unsigned requests, requests_after;
	uint64_t bytes, bytes_after;
	struct index_file file;
	index_cost(x, &requests, &bytes);
	int rc = index_find_pinned(x, &a, e->project, e->file, e->sha256, e->size, &file, err);
	if (rc == 0 && (rc = make_text(x, e, file.url, text, err)) < 0)
		err_wrap(err, "wheel '%s'", e->file);
	index_cost(x, &requests_after, &bytes_after);
	*cost = (struct exports_cost){.requests = requests_after - requests,
	    .bytes = bytes_after - bytes,
	    .wheel_bytes = e->size};
	return rc;
}

int exports_read(struct arena *a, struct index *x, const struct lock_entry *e, struct exports *out,
    struct exports_cost *cost, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX);
	return fetch(x, e, &text, cost, err) < 0 ? -1 : take(a, &text, out, err);
}

/* Reads the cache's copy; false if it is not there or not what the lock pins. */
static bool load_cached(
    struct arena *a, const char *path, const struct lock_entry *e, struct exports *out)
{
	_cleanup_(buf_done) struct buf packed = BUF_INIT(TEXT_MAX), text = BUF_INIT(TEXT_MAX);
	char hex[DIGEST_HEX_MAX];
	if (!path_exists(path) || path_read(path, &packed, NULL) < 0 ||
	    flate_unpack(buf_str(&packed), packed.len, &text, NULL) < 0)
		return false;
	digest_hex(DIGEST_SHA256, buf_str(&text), text.len, hex);
	return !strcmp(hex, e->exports_sha256) && take(a, &text, out, NULL) == 0;
}

static int store(const char *path, const struct buf *text, struct err *err)
{
	_cleanup_(buf_done) struct buf packed = BUF_INIT(TEXT_MAX);
	_cleanup_(outfile_done) struct outfile o = OUTFILE_INIT;
	if (flate_pack(buf_str(text), text->len, &packed, err) < 0 ||
	    path_mkdirs_for(path, err) < 0 || outfile_open(&o, path, 0644, err) < 0 ||
	    outfile_write(&o, packed.data, packed.len, err) < 0)
		return -1;
	return outfile_commit_cache(&o, err);
}

int exports_load(struct arena *a, struct index *x, const struct lock_entry *e, const char *cache,
    struct exports *out, struct exports_cost *cost, struct err *err)
{
	*cost = (struct exports_cost){0};
	if (!e->exports_sha256)
		return err_set(err, ERR_TRUST,
		    "'%s' has no Exports-Sha256 in the lock, so nothing can be proved on it",
		    e->file);
	size_t stem = strlen(e->file) - (str_ends(e->file, ".whl") ? strlen(".whl") : 0);
	_free_ char *path = xasprintf("%s/abi/%.*s.gz", cache, (int)stem, e->file);
	if (load_cached(a, path, e, out))
		return 0;
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX);
	if (fetch(x, e, &text, cost, err) < 0 || take(a, &text, out, err) < 0)
		return err_wrap(err, "cannot read the exports");
	if (strcmp(out->sha256, e->exports_sha256))
		return err_set(err, ERR_TRUST,
		    "the exports of '%s' have SHA-256 %s, the lock says %s", e->file, out->sha256,
		    e->exports_sha256);
	return store(path, &text, err);
}

static int compare_names(const void *key, const void *member)
{
	return strcmp(key, *(const char *const *)member);
}

const struct exports_library *exports_find(const struct exports *e, const char *name)
{
	for (size_t i = 0; i < e->n; i++) {
		const struct exports_library *l = &e->libraries[i];
		if (l->n && bsearch(name, l->names, l->n, sizeof *l->names, compare_names))
			return l;
	}
	return NULL;
}

char *exports_cost_text(const struct lock_entry *e, const struct exports_cost *cost)
{
	return xasprintf("read the exports of %s: %llu bytes in %u requests, of a wheel of %llu",
	    e->file, (unsigned long long)cost->bytes, cost->requests,
	    (unsigned long long)cost->wheel_bytes);
}
