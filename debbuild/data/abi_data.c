#include "abi_data.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/elf.h"
#include "../../lib/deb/stanza.h"
#include "../../lib/deb/version.h"
#include "recipe.h"

/* "2.39" and "12.0.0", but not "2." and not "x". */
static bool is_number(const char *s)
{
	size_t n = strlen(s);
	return n && strspn(s, "0123456789.") == n && s[0] != '.' && s[n - 1] != '.' &&
	       !strstr(s, "..");
}

static int parse_suite(struct arena *a, const struct stanza *s, const char *source,
    struct abi_suite *out, struct err *err)
{
	static const char *const fields[] = {
	    "Suite", "Codename", "Python", "Glibc", "Glibcxx", "Cxxabi", "Gcc", "Also", NULL};
	const char **to[] = {&out->name, &out->codename, &out->python, &out->glibc, &out->glibcxx,
	    &out->cxxabi, &out->gcc};
	if (stanza_check_fields(s, fields, source, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(to); i++) {
		*to[i] = stanza_get(s, fields[i]);
		if (!*to[i])
			return err_set(err, ERR_FORMAT, "%s:%u: field '%s' is missing", source,
			    s->line, fields[i]);
		if (i >= 2 && !is_number(*to[i])) /* Python and what follows */
			return err_set(err, ERR_FORMAT,
			    "%s:%u: %s is '%s', expected a version such as 2.39", source,
			    stanza_find(s, fields[i])->line, fields[i], *to[i]);
	}
	out->also = recipe_words(a, stanza_get(s, "Also"));
	return 0;
}

static int load_suites(struct arena *a, const char *path, struct abi_data *d, struct err *err)
{
	struct stanza_list list = {0};
	if (stanza_parse_file(a, path, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	d->suites = arena_alloc(a, (list.n + 1) * sizeof *d->suites);
	for (size_t i = 0; i < list.n; i++) {
		struct abi_suite *s = &d->suites[d->n_suites];
		if (parse_suite(a, &list.v[i], path, s, err) < 0)
			return -1;
		for (size_t k = 0; k < d->n_suites; k++)
			if (!strcmp(d->suites[k].name, s->name))
				return err_set(err, ERR_FORMAT,
				    "%s:%u: suite '%s' stands here a second time", path,
				    list.v[i].line, s->name);
		d->n_suites++;
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

static size_t count(char **v)
{
	size_t n = 0;
	while (v[n])
		n++;
	return n;
}

/* Adds names to that Python, which is made if it is new. */
static void add_names(struct arena *a, struct abi_data *d, const char *version, char **names)
{
	struct abi_python *p = NULL;
	for (size_t i = 0; i < d->n_pythons && !p; i++)
		if (!strcmp(d->pythons[i].version, version))
			p = &d->pythons[i];
	if (!p) {
		p = &d->pythons[d->n_pythons++];
		p->version = version;
	}
	size_t n = count(names);
	const char **all = arena_alloc(a, (p->n + n + 1) * sizeof *all);
	if (p->n)
		memcpy(all, p->names, p->n * sizeof *all);
	memcpy(all + p->n, names, n * sizeof *all);
	p->names = all;
	p->n += n;
}

static int load_pythons(struct arena *a, const char *path, struct abi_data *d, struct err *err)
{
	static const char *const fields[] = {"Python", "Names", NULL};
	struct stanza_list list = {0};
	size_t most = 0;
	if (stanza_parse_file(a, path, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		const struct stanza *s = &list.v[i];
		if (stanza_check_fields(s, fields, path, err) < 0)
			return -1;
		if (!stanza_get(s, "Python") || !stanza_get(s, "Names"))
			return err_set(
			    err, ERR_FORMAT, "%s:%u: expected Python and Names", path, s->line);
		most += count(recipe_words(a, stanza_get(s, "Python")));
	}
	d->pythons = arena_alloc(a, (most + 1) * sizeof *d->pythons);
	for (size_t i = 0; i < list.n; i++) {
		char **names = recipe_words(a, stanza_get(&list.v[i], "Names"));
		for (char **v = recipe_words(a, stanza_get(&list.v[i], "Python")); *v; v++) {
			if (!is_number(*v))
				return err_set(err, ERR_FORMAT,
				    "%s:%u: Python has '%s', expected versions such as 3.11", path,
				    list.v[i].line, *v);
			add_names(a, d, *v, names);
		}
	}
	for (size_t i = 0; i < d->n_pythons; i++)
		qsort(d->pythons[i].names, d->pythons[i].n, sizeof(char *), by_name);
	return 0;
}

int abi_data_load(struct arena *a, const char *templates_dir, struct abi_data *out, struct err *err)
{
	_free_ char *suites = path_join(templates_dir, "suites");
	_free_ char *pythons = path_join(templates_dir, "cpython");
	struct abi_data d = {0};
	if (load_suites(a, suites, &d, err) < 0 || load_pythons(a, pythons, &d, err) < 0)
		return -1;
	*out = d;
	return 0;
}

const struct abi_python *abi_data_python(const struct abi_data *d, const char *version)
{
	for (size_t i = 0; i < d->n_pythons; i++)
		if (!strcmp(d->pythons[i].version, version))
			return &d->pythons[i];
	return NULL;
}

bool abi_python_has(const struct abi_python *p, const char *name)
{
	return p->n && bsearch(&name, p->names, p->n, sizeof *p->names, by_name);
}

/* The libraries' prefixes, and where a suite tells how far they go. */
static const struct {
	const char *prefix;
	size_t field;
} systems[] = {{"GLIBC_", offsetof(struct abi_suite, glibc)},
    {"GLIBCXX_", offsetof(struct abi_suite, glibcxx)},
    {"CXXABI_", offsetof(struct abi_suite, cxxabi)}, {"GCC_", offsetof(struct abi_suite, gcc)}};

bool abi_is_system_version(const char *version)
{
	for (size_t i = 0; i < ARRAY_SIZE(systems); i++)
		if (str_starts(version, systems[i].prefix))
			return true;
	return false;
}

bool abi_suite_has(const struct abi_suite *s, const char *version)
{
	for (char **w = s->also; *w; w++)
		if (!strcmp(*w, version))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(systems); i++) {
		if (!str_starts(version, systems[i].prefix))
			continue;
		const char *number = version + strlen(systems[i].prefix);
		const char *highest = *(const char *const *)((const char *)s + systems[i].field);
		return is_number(number) && version_compare(number, highest) <= 0;
	}
	return false;
}

size_t abi_suites(const struct abi_data *d, const struct elf_info *e, const struct abi_suite **fits)
{
	size_t n = 0;
	for (size_t i = 0; i < d->n_suites; i++) {
		bool fit = true;
		for (size_t k = 0; k < e->n_needs && fit; k++)
			fit = !abi_is_system_version(e->needs[k].version) ||
			      abi_suite_has(&d->suites[i], e->needs[k].version);
		if (fit)
			fits[n++] = &d->suites[i];
	}
	return n;
}
