#include "recipe.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/digest.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/stanza.h"
#include "../../lib/deb/version.h"
#include "field.h"

/* The fields of each kind; those behind NULL may be absent. */
static const char *const extension[] = {"Recipe", "Version", "Debian-Revision", "Date", "Project",
    "Sdist", "Module", "Include", "Device-Sources", "Host-Source", "Python-Packages", NULL,
    "Slow-Sources", "Nvcc-Flags", "Clang-Flags", "Nvrtc-Flags", "Max-Stack", "Cxx-Libraries",
    "Build-Requires", NULL};
static const char *const triton[] = {"Recipe", "Kind", "Version", "Debian-Revision", "Date",
    "Wheels", "Torch", "Environment", "Tritons", "Archs", "Python-Packages", NULL, "Meta", NULL};
static const char *const files[] = {"Sdist", "Include", "Device-Sources", "Slow-Sources",
    "Host-Source", "Python-Packages", "Cxx-Libraries", NULL};

static const char file_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789_.+-/";
static const char module_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_";

char **recipe_words(struct arena *a, const char *text)
{
	_cleanup_(strv_done) struct strv words = STRV_INIT;
	strv_split(&words, text ? text : "", " \t\n");
	char **out = arena_alloc(a, (words.n + 1) * sizeof *out);
	for (size_t i = 0; i < words.n; i++)
		out[i] = arena_strdup(a, words.v[i]);
	return out;
}

static int check_fields(
    const struct field_source *f, const struct stanza *s, const char *const *fields)
{
	const char *allowed[32] = {NULL};
	size_t needed = 0, n = 0;
	while (fields[needed])
		allowed[n++] = fields[needed++];
	for (size_t i = needed + 1; fields[i]; i++)
		allowed[n++] = fields[i];
	if (stanza_check_fields(s, allowed, f->path, f->err) < 0)
		return -1;
	for (size_t i = 0; i < needed; i++)
		if (!field_need(f, s, fields[i]))
			return -1;
	return 0;
}

/* Names of files that stand in command lines, keys and build.ninja as they are. */
static int check_files(
    struct arena *a, const struct field_source *f, const struct stanza *s, const char *name)
{
	for (char **w = recipe_words(a, stanza_get(s, name)); *w; w++)
		if (!path_is_safe_member(*w) || strspn(*w, file_chars) != strlen(*w))
			return field_fail(f, s, name,
			    "has '%s', expected a relative path of letters, digits and _ . + -",
			    *w);
	return 0;
}

static size_t stem_len(const char *source)
{
	return strcspn(path_base(source), ".");
}

/* Objects are named by the stems of their sources. */
static int check_sources(
    const struct field_source *f, const struct stanza *s, const struct recipe *r)
{
	for (char **x = r->device_sources; *x; x++)
		for (char **y = r->device_sources; y < x; y++)
			if (stem_len(*x) == stem_len(*y) &&
			    !strncmp(path_base(*x), path_base(*y), stem_len(*x)))
				return field_fail(f, s, "Device-Sources",
				    "has '%s' and '%s', expected different names before the first "
				    "dot",
				    *y, *x);
	for (char **slow = r->slow_sources; *slow; slow++) {
		char **x = r->device_sources;
		while (*x && strcmp(*x, *slow))
			x++;
		if (!*x)
			return field_fail(f, s, "Slow-Sources",
			    "has '%s', expected one of the Device-Sources", *slow);
	}
	return 0;
}

static int check_names(const struct field_source *f, const struct stanza *s, const char *folder)
{
	const char *name = stanza_get(s, "Recipe");
	if (strcmp(name, folder))
		return field_fail(
		    f, s, "Recipe", "is '%s', expected the folder's name '%s'", name, folder);
	if (version_check_package(name, f->err) < 0)
		return err_wrap(f->err, "%s:%u", f->path, stanza_find(s, "Recipe")->line);
	return 0;
}

static int parse_extension(
    struct arena *a, const struct field_source *f, const struct stanza *s, struct recipe *r)
{
	r->project = stanza_get(s, "Project");
	r->sdist = stanza_get(s, "Sdist");
	r->module = stanza_get(s, "Module");
	r->include = stanza_get(s, "Include");
	r->host_source = stanza_get(s, "Host-Source");
	r->device_sources = recipe_words(a, stanza_get(s, "Device-Sources"));
	r->slow_sources = recipe_words(a, stanza_get(s, "Slow-Sources"));
	r->build_requires = recipe_words(a, stanza_get(s, "Build-Requires"));
	r->nvcc_flags = recipe_words(a, stanza_get(s, "Nvcc-Flags"));
	r->clang_flags = recipe_words(a, stanza_get(s, "Clang-Flags"));
	r->nvrtc_flags = recipe_words(a, stanza_get(s, "Nvrtc-Flags"));
	r->torch_libraries = recipe_words(a, stanza_get(s, "Cxx-Libraries"));
	if (strspn(r->module, module_chars) != strlen(r->module) ||
	    (*r->module >= '0' && *r->module <= '9'))
		return field_fail(
		    f, s, "Module", "is '%s', expected the name of a Python module", r->module);
	r->max_stack = stanza_get(s, "Max-Stack");
	unsigned long long bytes;
	if (r->max_stack && str_parse_u64(r->max_stack, UINT32_MAX, &bytes) < 0)
		return field_fail(
		    f, s, "Max-Stack", "is '%s', expected a number of bytes", r->max_stack);
	return check_sources(f, s, r);
}

/* Words in pairs: PROJECT VERSION. */
static int parse_wheels(struct arena *a, const struct field_source *f, const struct stanza *s,
    const char *name, struct recipe_wheel **out, size_t *n)
{
	char **w = recipe_words(a, stanza_get(s, name));
	size_t words = 0;
	while (w[words])
		words++;
	*out = arena_alloc(a, (words / 2 + 1) * sizeof **out);
	for (*n = 0; *n < words / 2; (*n)++)
		(*out)[*n] = (struct recipe_wheel){w[*n * 2], w[*n * 2 + 1]};
	return words % 2 ? field_fail(f, s, name,
			       "ends with '%s', expected pairs of 'PROJECT VERSION'", w[words - 1])
			 : 0;
}

/* The names stand in command lines and in names of files. */
static int check_profile(const struct field_source *f, const struct stanza *s,
    const struct recipe *r, size_t n, const char *name)
{
	if (!name)
		return -1;
	if (!*name || strspn(name, file_chars) != strlen(name) || strchr(name, '/') ||
	    *name == '.' || *name == '-')
		return field_fail(f, s, "Profile",
		    "is '%s', expected a name of letters, digits and _ . + -", name);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(r->profiles[i], name))
			return field_fail(f, s, "Profile", "is '%s' again, expected it once", name);
	return 0;
}

static int load_profiles(struct arena *a, struct recipe *r, struct err *err)
{
	_free_ char *path = path_join(r->dir, "profiles");
	struct stanza_list list = {0};
	struct field_source f = {arena_strdup(a, path), err};
	if (stanza_parse_file(a, path, STANZA_COMMENTS, &list, err) < 0 ||
	    field_check_some(&f, &list, "Profile: NAME") < 0)
		return -1;
	r->profiles = arena_alloc(a, (list.n + 1) * sizeof *r->profiles);
	r->profile_ids = arena_alloc(a, (list.n + 1) * sizeof *r->profile_ids);
	for (size_t i = 0; i < list.n; i++) {
		_cleanup_(buf_done) struct buf text = BUF_INIT(PATH_READ_MAX);
		const char *name = field_need(&f, &list.v[i], "Profile");
		char hex[DIGEST_HEX_MAX];
		if (check_profile(&f, &list.v[i], r, i, name) < 0)
			return -1;
		stanza_write(&list.v[i], &text);
		digest_hex(DIGEST_SHA256, buf_str(&text), text.len, hex);
		r->profiles[i] = arena_strdup(a, name);
		r->profile_ids[i] = arena_strdup(a, hex);
	}
	return 0;
}

static int parse_triton(
    struct arena *a, const struct field_source *f, const struct stanza *s, struct recipe *r)
{
	r->kind = RECIPE_TRITON;
	r->torch = field_version(f, s, "Torch", 3);
	r->tritons = recipe_words(a, stanza_get(s, "Tritons"));
	r->archs = field_versions(a, f, s, "Archs");
	r->meta = stanza_get(s, "Meta");
	if (!r->archs || !r->torch || load_profiles(a, r, f->err) < 0 ||
	    parse_wheels(a, f, s, "Wheels", &r->wheels, &r->n_wheels) < 0 ||
	    parse_wheels(a, f, s, "Environment", &r->environment, &r->n_environment) < 0)
		return -1;
	if (r->meta && version_check_package(r->meta, f->err) < 0)
		return err_wrap(f->err, "%s:%u", f->path, stanza_find(s, "Meta")->line);
	return 0;
}

int recipe_load(struct arena *a, const char *templates_dir, const char *name, struct recipe *out,
    struct err *err)
{
	_free_ char *dir = path_join(templates_dir, name);
	_free_ char *path = path_join(dir, "recipe");
	struct stanza_list list = {0};
	struct field_source f = {path, err};
	if (stanza_parse_file(a, path, STANZA_COMMENTS | STANZA_ONE, &list, err) < 0)
		return -1;
	const struct stanza *s = &list.v[0];
	const char *kind = stanza_get(s, "Kind");
	if (kind && strcmp(kind, "triton"))
		return field_fail(&f, s, "Kind", "is '%s', expected triton or no such field", kind);
	if (check_fields(&f, s, kind ? triton : extension) < 0 || check_names(&f, s, name) < 0)
		return -1;
	for (size_t i = 0; files[i]; i++)
		if (check_files(a, &f, s, files[i]) < 0)
			return -1;
	struct recipe r = {.dir = arena_strdup(a, dir),
	    .name = stanza_get(s, "Recipe"),
	    .version = stanza_get(s, "Version"),
	    .revision = stanza_get(s, "Debian-Revision"),
	    .python_packages = recipe_words(a, stanza_get(s, "Python-Packages"))};
	if (clock_parse_release(stanza_get(s, "Date"), &r.date) < 0)
		return field_fail(&f, s, "Date",
		    "is '%s', expected one like 'Mon, 30 Nov 2026 07:00:00 UTC'",
		    stanza_get(s, "Date"));
	if (strchr(r.revision, '-'))
		return field_fail(
		    &f, s, "Debian-Revision", "is '%s', expected one without '-'", r.revision);
	r.deb_version = arena_printf(a, "%s-%s", r.version, r.revision);
	if (version_check(r.deb_version, err) < 0)
		return err_wrap(err, "%s:%u", path, stanza_find(s, "Version")->line);
	if ((kind ? parse_triton : parse_extension)(a, &f, s, &r) < 0)
		return -1;
	*out = r;
	return 0;
}

bool recipe_is_slow(const struct recipe *r, const char *source)
{
	for (char **s = r->slow_sources; *s; s++)
		if (!strcmp(*s, source))
			return true;
	return false;
}

char *recipe_nvrtc_dir(const struct recipe *r)
{
	return xasprintf("%s/../nvrtc", r->dir);
}
