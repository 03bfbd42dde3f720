#include "built.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/deb.h"
#include "../data/recipe.h"

#define TABLE_MAX ((size_t)4 << 20)

static int take_table(void *arg, const struct deb_file *f, const void *p, size_t n, struct err *err)
{
	if (!str_starts(f->path, "usr/lib/") || !str_ends(f->path, "/bindings"))
		return 0;
	buf_append(arg, p, n);
	return buf_check(arg, f->path, err);
}

/* "cp311" to "3.11" */
static const char *python_of(struct arena *a, const char *tag)
{
	return str_starts(tag, "cp") && strlen(tag) > 3 ? arena_printf(a, "%c.%s", tag[2], tag + 3)
							: NULL;
}

static int read_table(
    struct arena *a, const struct buf *text, struct built_package *p, struct err *err)
{
	struct stanza_list list = {0};
	if (stanza_parse(a, buf_str(text), text->len, "bindings", 0, &list, err) < 0)
		return -1;
	p->v = arena_alloc(a, (list.n + 1) * sizeof *p->v);
	for (size_t i = 0; i < list.n; i++) {
		const char *tag = stanza_get(&list.v[i], "Python");
		const char *torch = stanza_get(&list.v[i], "Torch");
		struct built_binding b = {.file = stanza_get(&list.v[i], "File"),
		    .python = tag ? python_of(a, tag) : NULL,
		    .proved = torch ? recipe_words(a, torch) : NULL};
		if (!b.file || !b.python || !b.proved || !b.proved[0])
			return err_set(err, ERR_FORMAT,
			    "bindings:%u: expected File, Python and Torch", list.v[i].line);
		b.torch = b.proved[0];
		p->v[p->n++] = b;
	}
	return 0;
}

/* "python3-flash-linear-attention-cu128" to "12.8": the last digit is the minor. */
static const char *cuda_of(struct arena *a, const char *package)
{
	const char *mark = package ? strrchr(package, '-') : NULL;
	size_t n = mark && str_starts(mark, "-cu") ? strspn(mark + 3, "0123456789") : 0;
	return n > 1 && !mark[3 + n] ? arena_printf(a, "%.*s.%c", (int)n - 1, mark + 3, mark[2 + n])
				     : NULL;
}

static int read_package(
    struct arena *a, const char *path, struct built_package *out, struct err *err)
{
	_cleanup_(buf_done) struct buf table = BUF_INIT(TABLE_MAX);
	struct deb_info info;
	if (deb_read(a, path, DEB_READ_FILES | DEB_READ_SIGNED, take_table, &table, &info, err) < 0)
		return -1;
	const char *archs = stanza_get(&info.control, "Debkit-Cuda-Archs");
	out->path = arena_strdup(a, path);
	out->cuda = stanza_get(&info.control, "Debkit-Cuda");
	if (!out->cuda)
		out->cuda = cuda_of(a, stanza_get(&info.control, "Package"));
	out->archs = archs ? archs : "";
	out->version = stanza_get(&info.control, "Version");
	const char *tritons = stanza_get(&info.control, "Debkit-Triton");
	const char *pythons = stanza_get(&info.control, "Debkit-Python");
	if (tritons && pythons) {
		out->tritons = recipe_words(a, tritons);
		out->pythons = recipe_words(a, pythons);
	}
	if (!out->cuda)
		return err_set(
		    err, ERR_FORMAT, "'%s' has no field Debkit-Cuda and no CUDA in its name", path);
	return read_table(a, &table, out, err) < 0 ? err_wrap(err, "'%s'", path) : 0;
}

int built_read_files(struct arena *a, const struct strv *paths, struct built *out, struct err *err)
{
	*out = (struct built){.v = arena_alloc(a, (paths->n + 1) * sizeof *out->v)};
	for (size_t i = 0; i < paths->n; i++) {
		out->v[i] = (struct built_package){0};
		if (read_package(a, paths->v[i], &out->v[i], err) < 0)
			return -1;
		out->n++;
	}
	return 0;
}

int built_read(
    struct arena *a, const struct recipe *r, const char *dir, struct built *out, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT, paths = STRV_INIT;
	_free_ char *stem = xasprintf("python3-%s-cu", r->name);
	_free_ char *version = xasprintf("_%s_", r->deb_version);
	*out = (struct built){0};
	if (!path_is_dir(dir))
		return 0;
	if (path_list(dir, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++)
		if (str_starts(names.v[i], stem) && strstr(names.v[i], version) &&
		    str_ends(names.v[i], ".deb"))
			strv_take(&paths, path_join(dir, names.v[i]));
	return built_read_files(a, &paths, out, err);
}
