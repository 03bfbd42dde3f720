#include "lockwrite.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/stanza.h"
#include "../abi/exports.h"
#include "../wheel/pyindex.h"
#include "../wheel/pyindexes.h"
#include "../data/lockfile.h"
#include "lockwant.h"
#include "../data/matrix.h"
#include "../data/recipe.h"
#include "../wheel/torchmeta.h"
#include "../wheel/wheel.h"

#define LOCK_MAX ((size_t)16 << 20)

static const char head[] =
    "# The lock: every file that a build may fetch, with the hash of the whole file and, for "
    "wheels that\n"
    "# are read by ranges, that of their RECORD. What differs from it is refused.\n";

struct writer {
	const struct lockwrite_request *r;
	struct lockwrite_result *res;
	struct arena arena;
	const char *path; /* of the lock */
	struct matrix matrix;
	struct lock_wants wants;
	struct stanza_list old;
	struct stanza *fresh; /* of the new lock */
	size_t n_fresh;
	struct indexes indexes;
	struct strv unreachable; /* addresses of indexes */
	size_t n_wrong;		 /* lines of the templates */
};

static void writer_done(struct writer *w)
{
	arena_done(&w->arena);
	indexes_done(&w->indexes);
	strv_done(&w->unreachable);
}

static void say(const struct writer *w, void (*to)(void *arg, const char *text), const char *fmt,
    ...) _printf_(3, 4);

static void say(
    const struct writer *w, void (*to)(void *arg, const char *text), const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	to(w->r->arg, text);
}

static const struct stanza *find(const struct stanza *v, size_t n, const char *file)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(stanza_get(&v[i], "File"), file))
			return &v[i];
	return NULL;
}

/* What the lock has for the want now, or NULL. */
static const struct stanza *pinned(const struct writer *w, const struct lock_want *want)
{
	for (size_t i = 0; i < w->old.n; i++) {
		const struct stanza *s = &w->old.v[i];
		if (lockwant_fits(want, stanza_get(s, "Project"), stanza_get(s, "File")))
			return s;
	}
	return NULL;
}

static void keep(struct writer *w, const struct lock_want *want)
{
	const struct stanza *s = pinned(w, want);
	if (s && !find(w->fresh, w->n_fresh, stanza_get(s, "File")))
		w->fresh[w->n_fresh++] = *s;
}

static void wrong(struct writer *w, const struct lock_want *want)
{
	w->n_wrong++;
	if (want->torch)
		say(w, w->r->warn,
		    "templates/matrix:%u: torch %s for CUDA %s has Python %s, the index has no "
		    "wheel "
		    "for it",
		    want->torch->line, want->torch->version, want->cuda, want->python);
	else if (want->file)
		say(w, w->r->warn, "the index has no file '%s', which a recipe names", want->file);
	else if (want->recipe)
		say(w, w->r->warn, "templates/%s/recipe: the index has no wheel of %s %s%s%s",
		    want->recipe, want->project, want->version, want->abi ? " for " : "",
		    want->abi ? want->abi : "");
	else
		say(w, w->r->warn, "templates/toolkits: the index has no wheel of %s %s",
		    want->project, want->version);
}

/* A stanza of its own with the fields of s, of which there may be none. */
static struct stanza copy(struct arena *a, const struct stanza *s)
{
	struct stanza out = {0};
	for (size_t i = 0; s && i < s->n; i++)
		stanza_set(a, &out, s->fields[i].name, s->fields[i].value);
	return out;
}

static int set_record(struct writer *w, struct index *x, const struct lock_entry *e,
    const char *url, struct stanza *s, struct err *err)
{
	char hex[SHA256_HEX];
	struct wheel_pin pin = {.name = e->file, .url = url, .size = e->size};
	if (stanza_get(s, "Record-Sha256") || !str_ends(e->file, ".whl"))
		return 0;
	if (wheel_record_sha256(x, &pin, hex, err) < 0)
		return -1;
	stanza_set(&w->arena, s, "Record-Sha256", hex);
	return 0;
}

static int set_exports(struct writer *w, struct index *x, const struct lock_entry *e,
    struct stanza *s, struct err *err)
{
	_cleanup_(arena_done) struct arena here = ARENA_INIT;
	struct exports exports;
	struct exports_cost cost;
	if (stanza_get(s, "Exports-Sha256"))
		return 0;
	if (exports_read(&here, x, e, &exports, &cost, err) < 0)
		return -1;
	stanza_set(&w->arena, s, "Exports-Sha256", exports.sha256);
	return 0;
}

/* The stanza of a file that the index has, from the old one while its hash is the same. */
static int add(struct writer *w, const struct lock_want *want, struct index *x,
    const struct index_file *f, struct err *err)
{
	/* A wheel of the stable ABI serves several Pythons. */
	if (find(w->fresh, w->n_fresh, f->name))
		return 0;
	const struct stanza *old = find(w->old.v, w->old.n, f->name);
	struct lock_entry e = {
	    .file = f->name, .project = want->project, .sha256 = f->sha256, .size = f->size};
	if (!f->sha256[0])
		return err_set(err, ERR_TRUST,
		    "the package index announces no SHA-256 of '%s': it cannot be pinned", f->name);
	if (!e.size && index_size(x, f->url, &e.size, err) < 0)
		return -1;
	if (old && strcmp(stanza_get(old, "Sha256"), f->sha256))
		old = NULL;
	struct stanza s = copy(&w->arena, old);
	_free_ char *size = xasprintf("%llu", (unsigned long long)e.size);
	stanza_set(&w->arena, &s, "File", f->name);
	stanza_set(&w->arena, &s, "Project", want->project);
	stanza_set(&w->arena, &s, "Size", size);
	stanza_set(&w->arena, &s, "Sha256", f->sha256);
	/* A check tells of new files without reading them. */
	bool read = !w->r->check;
	if (read && (set_record(w, x, &e, f->url, &s, err) < 0 ||
			(want->exports && set_exports(w, x, &e, &s, err) < 0)))
		return -1;
	if (want->index)
		stanza_set(&w->arena, &s, "Index", want->index);
	else
		stanza_unset(&s, "Index");
	w->fresh[w->n_fresh++] = s;
	return 0;
}

/* An index that only a stanza of the matrix names need not answer. */
static bool may_be_absent(struct writer *w, const struct lock_want *want, struct err *err)
{
	if (!want->index || !err || err->code != ERR_NETWORK)
		return false;
	if (!strv_has(&w->unreachable, want->index)) {
		say(w, w->r->warn, "cannot read %s (%s): what the lock has of it stays",
		    want->index, err->msg);
		strv_add(&w->unreachable, want->index);
	}
	err_clear(err);
	return true;
}

/* What the matrix says of a torch beside its wheels: the Triton, and Pythons that it lacks. */
static int compare_torch(struct writer *w, const struct lock_want *want, struct index *x,
    const struct index_files *files, const struct index_file *f, struct err *err)
{
	_cleanup_(strv_done) struct strv pythons = STRV_INIT;
	const struct torch_release *t = want->torch;
	const char *triton = NULL, *newest = t->pythons[0];
	for (char **py = t->pythons; *py; py++)
		newest = matrix_compare(*py, newest) > 0 ? *py : newest;
	lockwant_pythons(want, files, &pythons);
	for (size_t i = 0; i < pythons.n; i++)
		if (matrix_compare(pythons.v[i], newest) > 0)
			say(w, w->r->warn,
			    "templates/matrix:%u: the index has torch %s for Python %s too",
			    t->line, t->version, pythons.v[i]);
	if (torchmeta_triton(&w->arena, x, f, &triton, err) < 0)
		return -1;
	if (torchmeta_allows(triton, t->triton))
		return 0;
	w->n_wrong++;
	say(w, w->r->warn, "templates/matrix:%u: torch %s has Triton %s, METADATA of '%s' says %s",
	    t->line, t->version, t->triton, f->name, triton);
	return 0;
}

static int settle(struct writer *w, const struct lock_want *want, bool first, struct err *err)
{
	_cleanup_(arena_done) struct arena here = ARENA_INIT;
	struct index_files files;
	struct index *x;
	if (strv_has(&w->unreachable, want->index ? want->index : "") ||
	    (w->r->cuda && want->cuda && strcmp(want->cuda, w->r->cuda))) {
		keep(w, want);
		return 0;
	}
	if (indexes_get(&w->indexes, want->index, &x, err) < 0)
		return -1;
	if (index_list(x, &here, want->project, &files, err) < 0) {
		if (!may_be_absent(w, want, err))
			return -1;
		keep(w, want);
		return 0;
	}
	const struct stanza *now = pinned(w, want);
	const struct index_file *f =
	    lockwant_pick(want, &files, now ? stanza_get(now, "File") : NULL);
	if (!f) {
		wrong(w, want);
		return 0;
	}
	if (first && want->torch && compare_torch(w, want, x, &files, f, err) < 0)
		return -1;
	return add(w, want, x, f, err);
}

static int settle_all(struct writer *w, struct err *err)
{
	const struct torch_release *last = NULL;
	w->fresh = arena_alloc(&w->arena, (w->wants.n + w->old.n + 1) * sizeof *w->fresh);
	for (size_t i = 0; i < w->wants.n; i++) {
		const struct lock_want *want = &w->wants.v[i];
		w->r->progress(w->r->arg, i, w->wants.n,
		    want->file	  ? want->file
		    : want->torch ? want->torch->version
				  : want->project);
		if (intr_check(err) < 0 || settle(w, want, want->torch != last, err) < 0)
			return -1;
		last = want->torch;
	}
	for (size_t i = 0; i < w->indexes.n; i++) {
		unsigned requests;
		uint64_t bytes;
		index_cost(w->indexes.v[i].x, &requests, &bytes);
		w->res->requests += requests;
		w->res->bytes += bytes;
	}
	return 0;
}

/* Stanzas of projects that the templates do not name belong to somebody else. */
static void keep_others(struct writer *w)
{
	for (size_t i = 0; i < w->old.n; i++) {
		bool named = false;
		for (size_t k = 0; k < w->wants.n; k++)
			named |=
			    !strcmp(w->wants.v[k].project, stanza_get(&w->old.v[i], "Project"));
		if (!named)
			w->fresh[w->n_fresh++] = w->old.v[i];
	}
}

static void count(struct writer *w, const char *text)
{
	w->res->n_changes++;
	w->r->change(w->r->arg, text);
}

static void compare_stanza(struct writer *w, const struct stanza *old, const struct stanza *fresh)
{
	const char *file = stanza_get(fresh, "File");
	for (size_t i = 0; i < fresh->n; i++) {
		const struct field *f = &fresh->fields[i];
		const char *before = stanza_get(old, f->name);
		if (str_eq(before, f->value))
			continue;
		_free_ char *text = xasprintf("changed %s: %s %s, now %s", file, f->name,
		    before ? before : "absent", f->value);
		count(w, text);
	}
	if (w->r->check && !stanza_get(fresh, "Record-Sha256") && str_ends(file, ".whl") &&
	    str_eq(stanza_get(old, "Sha256"), stanza_get(fresh, "Sha256"))) {
		_free_ char *text = xasprintf("changed %s: Record-Sha256 is absent", file);
		count(w, text);
	}
}

static void compare(struct writer *w)
{
	for (size_t i = 0; i < w->n_fresh; i++) {
		const char *file = stanza_get(&w->fresh[i], "File");
		const struct stanza *old = find(w->old.v, w->old.n, file);
		_free_ char *text = xasprintf("added %s", file);
		if (old)
			compare_stanza(w, old, &w->fresh[i]);
		else
			count(w, text);
	}
	for (size_t i = 0; i < w->old.n; i++) {
		const char *file = stanza_get(&w->old.v[i], "File");
		_free_ char *text = xasprintf("removed %s", file);
		if (!find(w->fresh, w->n_fresh, file))
			count(w, text);
	}
}

/* The comment at the top of the old lock. */
static int put_head(const struct writer *w, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(LOCK_MAX);
	if (!path_exists(w->path)) {
		buf_puts(out, head);
		return 0;
	}
	if (path_read(w->path, &text, err) < 0)
		return -1;
	const char *p = buf_str(&text);
	while (*p == '#')
		p += strcspn(p, "\n") + (p[strcspn(p, "\n")] == '\n');
	buf_append(out, buf_str(&text), (size_t)(p - buf_str(&text)));
	return 0;
}

static int put(const struct writer *w, struct err *err)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(LOCK_MAX);
	if (put_head(w, &out, err) < 0)
		return -1;
	for (size_t i = 0; i < w->n_fresh; i++) {
		if (out.len)
			buf_putc(&out, '\n');
		stanza_write(&w->fresh[i], &out);
	}
	if (buf_check(&out, "the lock", err) < 0)
		return -1;
	return outfile_put_if_changed(w->path, 0644, out.data, out.len, err);
}

/* Every folder of templates that holds a recipe. */
static int load_recipes(
    struct arena *a, const char *templates, struct recipe **out, size_t *n, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_list(templates, &names, err) < 0)
		return -1;
	*out = arena_alloc(a, (names.n + 1) * sizeof **out);
	*n = 0;
	for (size_t i = 0; i < names.n; i++) {
		_free_ char *path = xasprintf("%s/%s/recipe", templates, names.v[i]);
		if (path_exists(path) &&
		    recipe_load(a, templates, names.v[i], &(*out)[(*n)++], err) < 0)
			return -1;
	}
	return 0;
}

static int load(struct writer *w, struct err *err)
{
	struct arena *a = &w->arena;
	struct recipe *recipes;
	struct lockfile lock;
	size_t n;
	w->path = arena_printf(a, "%s/lock", w->r->templates);
	if (matrix_load(a, w->r->templates, &w->matrix, err) < 0 ||
	    (w->r->cuda && matrix_check_cuda(&w->matrix, w->r->cuda, err) < 0) ||
	    load_recipes(a, w->r->templates, &recipes, &n, err) < 0)
		return -1;
	/* What is wrong in it is told with its line; what is absent is made. */
	if (path_exists(w->path) &&
	    (lockfile_load(a, w->path, &lock, err) < 0 ||
		stanza_parse_file(a, w->path, STANZA_COMMENTS, &w->old, err) < 0))
		return -1;
	lockwant_make(a, recipes, n, &w->matrix, &w->wants);
	return 0;
}

int lockwrite_run(const struct lockwrite_request *r, struct lockwrite_result *out, struct err *err)
{
	_cleanup_(writer_done) struct writer w = {.r = r, .res = out};
	*out = (struct lockwrite_result){0};
	if (load(&w, err) < 0 || settle_all(&w, err) < 0)
		return -1;
	if (w.n_wrong)
		return err_set(err, ERR_FORMAT,
		    "%zu lines of the templates are not what the package index says; '%s' is left "
		    "as it is",
		    w.n_wrong, w.path);
	keep_others(&w);
	compare(&w);
	out->n_files = w.n_fresh;
	return r->check ? 0 : put(&w, err);
}
