/* What an index has of a project; the answer's form is the server's choice (PEP 691). */
#include "pyindex.h"

#include <ctype.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "pyindex_int.h"

#define PAGE_MAX ((size_t)64 << 20)

/* PEP 503: lower case, each run of '-', '_' and '.' becomes one '-'. */
static char *normalise(const char *project)
{
	char *out = xstrdup(project), *to = out;
	for (const char *p = project; *p; p++) {
		if (!strchr("-_.", *p))
			*to++ = (char)tolower((unsigned char)*p);
		else if (to == out || to[-1] != '-')
			*to++ = '-';
	}
	*to = '\0';
	return out;
}

struct index_file *index_files_add(struct arena *a, struct index_files *files, size_t *cap)
{
	if (files->n == *cap) {
		*cap = *cap ? *cap * 2 : 64;
		struct index_file *v = arena_alloc(a, *cap * sizeof *v);
		if (files->n)
			memcpy(v, files->v, files->n * sizeof *v);
		files->v = v;
	}
	return &files->v[files->n++];
}

bool index_take_sha256(const char *hex, char out[SHA256_HEX])
{
	if (strlen(hex) != SHA256_HEX - 1 ||
	    strspn(hex, "0123456789abcdefABCDEF") != SHA256_HEX - 1)
		return false;
	for (size_t i = 0; i < SHA256_HEX; i++)
		out[i] = (char)tolower((unsigned char)hex[i]);
	return true;
}

static int parse(struct arena *a, const struct buf *page, const char *type, const char *url,
    struct index_files *files, struct err *err)
{
	if (str_starts(type, "application/vnd.pypi.simple.v1+json"))
		return index_parse_json(a, buf_str(page), page->len, url, files, err);
	if (str_starts(type, "text/html") ||
	    str_starts(type, "application/vnd.pypi.simple.v1+html"))
		return index_parse_html(a, buf_str(page), page->len, url, files, err);
	return err_set(err, ERR_FORMAT,
	    "'%s' answered with '%s', not with a package index page; check PIP_INDEX_URL", url,
	    type);
}

/* Names must be good for a file beside others; addresses become absolute. */
static int finish(struct arena *a, struct index_files *files, const char *base, struct err *err)
{
	for (size_t i = 0; i < files->n; i++) {
		struct index_file *f = &files->v[i];
		if (!path_is_safe_member(f->name) || strchr(f->name, '/')) {
			err_set(err, ERR_FORMAT, "'%s' is no file name", f->name);
			return err_wrap(err, "'%s'", base);
		}
		_free_ char *url = index_resolve(base, f->url, err);
		if (!url)
			return err_wrap(err, "'%s': %s", base, f->name);
		f->url = arena_strdup(a, url);
	}
	return 0;
}

static int load(struct index *x, const char *project, struct index_files *out, struct err *err)
{
	_cleanup_(buf_done) struct buf page = BUF_INIT(PAGE_MAX);
	const char *top = index_url(x, err);
	if (!top)
		return -1;
	_free_ char *url = xasprintf("%s/%s/", top, project);
	_free_ char *final_url = NULL;
	char type[INDEX_TYPE_MAX] = "";
	bool missing;
	if (index_get_page(x, url, &page, &missing, type, &final_url, err) < 0)
		return -1;
	if (missing)
		return err_set(err, ERR_NETWORK,
		    "the package index '%s' has no project '%s'; check PIP_INDEX_URL", top,
		    project);
	struct index_files files = {NULL, 0};
	if (parse(index_arena(x), &page, type, final_url, &files, err) < 0 ||
	    finish(index_arena(x), &files, final_url, err) < 0)
		return -1;
	*out = files;
	return 0;
}

static int find_project(
    struct index *x, const char *project, const struct index_files **out, struct err *err)
{
	_free_ char *name = normalise(project);
	struct index_project **at = index_projects(x);
	for (; *at; at = &(*at)->next)
		if (!strcmp((*at)->name, name))
			break;
	if (!*at) {
		struct index_files files;
		if (load(x, name, &files, err) < 0)
			return -1;
		struct index_project *p = arena_alloc(index_arena(x), sizeof *p);
		p->name = arena_strdup(index_arena(x), name);
		p->files = files;
		*at = p;
	}
	*out = &(*at)->files;
	return 0;
}

static void copy_file(struct arena *a, const struct index_file *from, struct index_file *to)
{
	*to = *from;
	to->name = arena_strdup(a, from->name);
	to->url = arena_strdup(a, from->url);
}

int index_list(
    struct index *x, struct arena *a, const char *project, struct index_files *out, struct err *err)
{
	const struct index_files *known;
	if (find_project(x, project, &known, err) < 0)
		return -1;
	out->n = known->n;
	out->v = arena_alloc(a, (known->n + 1) * sizeof *out->v);
	for (size_t i = 0; i < known->n; i++)
		copy_file(a, &known->v[i], &out->v[i]);
	return 0;
}

int index_find(struct index *x, struct arena *a, const char *project, const char *filename,
    struct index_file *out, struct err *err)
{
	const struct index_files *known;
	if (find_project(x, project, &known, err) < 0)
		return -1;
	for (size_t i = 0; i < known->n; i++)
		if (!strcmp(known->v[i].name, filename)) {
			copy_file(a, &known->v[i], out);
			return 0;
		}
	const char *newest = NULL;
	for (size_t i = 0; i < known->n; i++)
		if (!known->v[i].yanked && (!newest || strverscmp(known->v[i].name, newest) > 0))
			newest = known->v[i].name;
	if (!newest)
		return err_set(err, ERR_NETWORK, "index has no file '%s', nor any other of '%s'",
		    filename, project);
	return err_set(err, ERR_NETWORK, "index has no file '%s' (newest of that project: %s)",
	    filename, newest);
}

int index_find_pinned(struct index *x, struct arena *a, const char *project, const char *filename,
    const char *sha256, uint64_t size, struct index_file *out, struct err *err)
{
	if (index_find(x, a, project, filename, out, err) < 0)
		return -1;
	if (sha256 && out->sha256[0] && strcmp(out->sha256, sha256))
		return err_set(err, ERR_TRUST,
		    "the package index announces '%s' with SHA-256 %s, the lock pins %s", filename,
		    out->sha256, sha256);
	if (size && out->size && out->size != size)
		return err_set(err, ERR_TRUST,
		    "the package index announces '%s' with %llu bytes, the lock pins %llu",
		    filename, (unsigned long long)out->size, (unsigned long long)size);
	return 0;
}

int index_metadata(struct index *x, const struct index_file *f, struct buf *out, struct err *err)
{
	_free_ char *url = xasprintf("%s.metadata", f->url);
	_free_ char *final_url = NULL;
	char type[INDEX_TYPE_MAX];
	bool missing;
	if (index_get_page(x, url, out, &missing, type, &final_url, err) < 0)
		return -1;
	return missing ? err_set(err, ERR_NETWORK,
			     "the package index promises METADATA of '%s' and has none", f->name)
		       : 0;
}
