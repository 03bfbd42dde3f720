#include "recipe.h"

#include <string.h>

#include "../base/arena.h"
#include "../base/clock.h"
#include "../base/err.h"
#include "../base/path.h"
#include "../deb/stanza.h"
#include "../deb/version.h"
#include "field.h"

static const char *const required[] = {"Recipe", "Version", "Debian-Revision", "Date", "Project",
    "Sdist", "Module", "Include", "Device-Sources", "Host-Source", "Python-Packages", NULL};
static const char *const optional[] = {
    "Slow-Sources", "Nvcc-Flags", "Clang-Flags", "Cxx-Libraries", "Build-Requires", NULL};
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

static int check_fields(const struct field_source *f, const struct stanza *s)
{
	const char *allowed[ARRAY_SIZE(required) + ARRAY_SIZE(optional)] = {NULL};
	size_t n = 0;
	for (size_t i = 0; required[i]; i++)
		allowed[n++] = required[i];
	for (size_t i = 0; optional[i]; i++)
		allowed[n++] = optional[i];
	if (stanza_check_fields(s, allowed, f->path, f->err) < 0)
		return -1;
	for (size_t i = 0; required[i]; i++)
		if (!field_need(f, s, required[i]))
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
	const char *name = stanza_get(s, "Recipe"), *module = stanza_get(s, "Module");
	if (strcmp(name, folder))
		return field_fail(
		    f, s, "Recipe", "is '%s', expected the folder's name '%s'", name, folder);
	if (version_check_package(name, f->err) < 0)
		return err_wrap(f->err, "%s:%u", f->path, stanza_find(s, "Recipe")->line);
	if (strspn(module, module_chars) != strlen(module) || (*module >= '0' && *module <= '9'))
		return field_fail(
		    f, s, "Module", "is '%s', expected the name of a Python module", module);
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
	if (check_fields(&f, s) < 0 || check_names(&f, s, name) < 0)
		return -1;
	for (size_t i = 0; files[i]; i++)
		if (check_files(a, &f, s, files[i]) < 0)
			return -1;
	struct recipe r = {.dir = arena_strdup(a, dir),
	    .name = stanza_get(s, "Recipe"),
	    .version = stanza_get(s, "Version"),
	    .revision = stanza_get(s, "Debian-Revision"),
	    .project = stanza_get(s, "Project"),
	    .sdist = stanza_get(s, "Sdist"),
	    .module = stanza_get(s, "Module"),
	    .include = stanza_get(s, "Include"),
	    .host_source = stanza_get(s, "Host-Source"),
	    .device_sources = recipe_words(a, stanza_get(s, "Device-Sources")),
	    .slow_sources = recipe_words(a, stanza_get(s, "Slow-Sources")),
	    .python_packages = recipe_words(a, stanza_get(s, "Python-Packages")),
	    .build_requires = recipe_words(a, stanza_get(s, "Build-Requires")),
	    .nvcc_flags = recipe_words(a, stanza_get(s, "Nvcc-Flags")),
	    .clang_flags = recipe_words(a, stanza_get(s, "Clang-Flags")),
	    .torch_libraries = recipe_words(a, stanza_get(s, "Cxx-Libraries"))};
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
	if (check_sources(&f, s, &r) < 0)
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
