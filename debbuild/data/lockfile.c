#include "lockfile.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/stanza.h"
#include "field.h"
#include "matrix.h"
#include "wheelname.h"

static const char *const fields[] = {
    "File", "Project", "Size", "Sha256", "Record-Sha256", "Exports-Sha256", "Index", NULL};

static int check_sha256(const struct field_source *f, const struct stanza *s, const char *name)
{
	const char *v = stanza_get(s, name);
	if (!v || (strlen(v) == 64 && strspn(v, "0123456789abcdef") == 64))
		return 0;
	return field_fail(f, s, name, "is '%.80s', expected 64 lower-case hexadecimal digits", v);
}

static int parse_entry(const struct stanza *s, const struct field_source *f, struct lock_entry *e)
{
	const char *size;
	unsigned long long bytes = 0;
	*e = (struct lock_entry){.record_sha256 = stanza_get(s, "Record-Sha256"),
	    .exports_sha256 = stanza_get(s, "Exports-Sha256"),
	    .index = stanza_get(s, "Index")};
	if (stanza_check_fields(s, fields, f->path, f->err) < 0 ||
	    !(e->file = field_need(f, s, "File")) || !(e->project = field_need(f, s, "Project")) ||
	    !(size = field_need(f, s, "Size")) || !(e->sha256 = field_need(f, s, "Sha256")) ||
	    check_sha256(f, s, "Sha256") < 0 || check_sha256(f, s, "Record-Sha256") < 0 ||
	    check_sha256(f, s, "Exports-Sha256") < 0)
		return -1;
	if (!path_is_safe_member(e->file) || strchr(e->file, '/'))
		return field_fail(f, s, "File", "is '%s', expected a name without '/'", e->file);
	if (str_parse_u64(size, 1ULL << 40, &bytes) < 0)
		return field_fail(f, s, "Size", "is '%s', expected a number of bytes", size);
	e->size = bytes;
	return 0;
}

int lockfile_load(struct arena *a, const char *path, struct lockfile *out, struct err *err)
{
	struct stanza_list list = {0};
	struct field_source f = {path, err};
	if (stanza_parse_file(a, path, STANZA_COMMENTS, &list, err) < 0 ||
	    field_check_some(&f, &list, "File: NAME") < 0)
		return -1;
	struct lockfile l = {
	    .source = arena_strdup(a, path), .v = arena_alloc(a, list.n * sizeof *l.v)};
	for (size_t i = 0; i < list.n; i++) {
		if (parse_entry(&list.v[i], &f, &l.v[l.n]) < 0)
			return -1;
		if (lockfile_find(&l, l.v[l.n].file))
			return field_fail(&f, &list.v[i], "File", "is '%s' again, expected it once",
			    l.v[l.n].file);
		l.n++;
	}
	*out = l;
	return 0;
}

const struct lock_entry *lockfile_find(const struct lockfile *l, const char *file)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].file, file))
			return &l->v[i];
	return NULL;
}

static enum wheel_fit fit(const char *file, const char *version, const char *python)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct wheel_name n;
	return wheel_name_parse(&a, file, &n) && !strcmp(n.version, version)
		   ? wheel_name_fit(&n, python)
		   : WHEEL_FIT_NONE;
}

const struct lock_entry *lockfile_wheel(
    const struct lockfile *l, const char *project, const char *version, const char *python)
{
	const struct lock_entry *best = NULL;
	enum wheel_fit most = WHEEL_FIT_NONE;
	for (size_t i = 0; i < l->n && most < WHEEL_FIT_EXACT; i++) {
		if (strcmp(l->v[i].project, project))
			continue;
		enum wheel_fit here = fit(l->v[i].file, version, python);
		if (here > most) {
			best = &l->v[i];
			most = here;
		}
	}
	return best;
}

const char *lockfile_torch_version(struct arena *a, const struct torch_release *t)
{
	size_t whole = strcspn(t->cuda, ".");
	if (!t->index)
		return t->version;
	return arena_printf(a, "%s+cu%.*s%s", t->version, (int)whole, t->cuda,
	    t->cuda + whole + (t->cuda[whole] == '.'));
}

const struct lock_entry *lockfile_torch(
    const struct lockfile *l, const struct torch_release *t, const char *python)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	return lockfile_wheel(l, "torch", lockfile_torch_version(&a, t), wheel_abi(&a, python));
}
