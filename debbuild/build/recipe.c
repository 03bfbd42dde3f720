#include "recipe.h"

#include <string.h>

#include "../base/arena.h"
#include "../base/clock.h"
#include "../base/err.h"
#include "../base/path.h"
#include "../deb/stanza.h"
#include "../deb/version.h"

static const char *const required[] = {"Recipe", "Version", "Debian-Revision", "Date", "Project",
    "Sdist", "Module", "Include", "Device-Sources", "Host-Source", "Python-Packages", NULL};
static const char *const optional[] = {
    "Slow-Sources", "Nvcc-Flags", "Clang-Flags", "Cxx-Libraries", "Build-Requires", NULL};

char **recipe_words(struct arena *a, const char *text)
{
	_cleanup_(strv_done) struct strv words = STRV_INIT;
	strv_split(&words, text ? text : "", " \t\n");
	char **out = arena_alloc(a, (words.n + 1) * sizeof *out);
	for (size_t i = 0; i < words.n; i++)
		out[i] = arena_strdup(a, words.v[i]);
	return out;
}

static int check_fields(const struct stanza *s, const char *path, struct err *err)
{
	const char *allowed[ARRAY_SIZE(required) + ARRAY_SIZE(optional)] = {NULL};
	size_t n = 0;
	for (size_t i = 0; required[i]; i++) {
		if (!stanza_get(s, required[i]))
			return err_set(err, ERR_FORMAT, "%s:%u: field '%s' is missing", path,
			    s->line, required[i]);
		allowed[n++] = required[i];
	}
	for (size_t i = 0; optional[i]; i++)
		allowed[n++] = optional[i];
	return stanza_check_fields(s, allowed, path, err);
}

int recipe_load(struct arena *a, const char *templates_dir, const char *name, struct recipe *out,
    struct err *err)
{
	_free_ char *dir = path_join(templates_dir, name);
	_free_ char *path = path_join(dir, "recipe");
	struct stanza_list list = {0};
	if (stanza_parse_file(a, path, STANZA_COMMENTS | STANZA_ONE, &list, err) < 0)
		return -1;
	const struct stanza *s = &list.v[0];
	if (check_fields(s, path, err) < 0)
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
		return err_set(err, ERR_FORMAT,
		    "%s:%u: Date is not like 'Mon, 30 Nov 2026 07:00:00 UTC'", path,
		    stanza_find(s, "Date")->line);
	r.deb_version = arena_printf(a, "%s-%s", r.version, r.revision);
	if (version_check(r.deb_version, err) < 0 || version_check_package(r.name, err) < 0)
		return err_wrap(err, "%s:%u", path, s->line);
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
