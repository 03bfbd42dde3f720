#include "manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/err.h"
#include "stanza.h"
#include "version.h"

static const char folder[] = "/triton-", file[] = "/manifest";

bool manifest_is(const char *path)
{
	const char *at = strstr(path, folder);
	return str_starts(path, "usr/lib/") && strstr(path, "/debkit/") && at &&
	       str_ends(at, file) && !strcmp(strchr(at + 1, '/'), file);
}

static int add_words(
    struct strv *to, const struct stanza *s, const char *name, const char *path, struct err *err)
{
	const char *value = stanza_get(s, name);
	if (!value || !*value)
		return err_set(err, ERR_FORMAT, "%s: %s is missing", path, name);
	strv_split(to, value, " \t\n");
	return 0;
}

int manifest_add(
    struct manifest_claims *m, const char *path, const char *text, size_t len, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct stanza_list list = {0};
	if (stanza_parse(&a, text, len, path, STANZA_ONE, &list, err) < 0)
		return -1;
	const struct stanza *s = &list.v[0];
	const char *at = strstr(path, folder) + strlen(folder), *triton = stanza_get(s, "Triton");
	size_t n = strcspn(at, "/");
	if (triton && (strlen(triton) != n || strncmp(triton, at, n)))
		return err_set(
		    err, ERR_FORMAT, "%s: it is the manifest of Triton '%s'", path, triton);
	size_t pythons = m->pythons.n, archs = m->archs.n;
	if (add_words(&m->tritons, s, "Triton", path, err) < 0 ||
	    add_words(&m->pythons, s, "Python", path, err) < 0 ||
	    add_words(&m->archs, s, "Archs", path, err) < 0 ||
	    add_words(&m->profiles, s, "Profiles", path, err) < 0)
		return -1;
	for (; pythons < m->pythons.n; pythons++)
		strv_addf(&m->said, "Triton %s: Python %s", triton, m->pythons.v[pythons]);
	_cleanup_(strv_done) struct strv files = STRV_INIT;
	const char *text_of_files = stanza_get(s, "Files");
	strv_split(&files, text_of_files ? text_of_files : "", "\n");
	for (size_t i = 0; i < files.n; i++)
		strv_addf(&m->listed, "Triton %s: %s", triton, str_trim(files.v[i]));
	for (; archs < m->archs.n; archs++)
		strv_addf(&m->said, "Triton %s: arch %s", triton, m->archs.v[archs]);
	return 0;
}

bool manifest_covers(const char *path)
{
	const char *at = strstr(path, folder);
	return str_starts(path, "usr/lib/") && strstr(path, "/debkit/") && at &&
	       strchr(at + 1, '/') && !manifest_is(path);
}

void manifest_note_file(struct manifest_claims *m, const char *path, const char *sha256)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	const char *at = strstr(path, folder) + strlen(folder);
	const char *triton = arena_strndup(&a, at, strcspn(at, "/")), *name = strchr(at, '/');
	unsigned sm, major, minor;
	int end = 0;
	strv_addf(&m->held, "Triton %s: %s %s", triton, sha256, name + 1);
	if (sscanf(name, "/sm_%3u%n", &sm, &end) != 1)
		return;
	if (!strcmp(name + end, ".pack"))
		strv_addf(&m->found, "Triton %s: arch %u.%u", triton, sm / 10, sm % 10);
	else if (sscanf(name + end, ".cp%1u%3u.keys", &major, &minor) == 2)
		strv_addf(&m->found, "Triton %s: Python %u.%u", triton, major, minor);
}

int manifest_check(const struct manifest_claims *m, struct err *err)
{
	for (size_t i = 0; i < m->listed.n; i++)
		if (!strv_has(&m->held, m->listed.v[i]))
			return err_set(err, ERR_TRUST,
			    "a manifest lists what its store does not hold: %s: build the "
			    "package again",
			    m->listed.v[i]);
	for (size_t i = 0; i < m->said.n; i++)
		if (!strv_has(&m->found, m->said.v[i]))
			return err_set(err, ERR_TRUST,
			    "a manifest names %s, for which its store has no file: build the "
			    "package again",
			    m->said.v[i]);
	for (size_t i = 0; i < m->found.n; i++)
		if (!strv_has(&m->said, m->found.v[i]))
			return err_set(err, ERR_TRUST,
			    "a store has a file for %s, which its manifest does not name: build "
			    "the package again",
			    m->found.v[i]);
	return 0;
}

static int by_version(const void *a, const void *b)
{
	return version_compare(*(char *const *)a, *(char *const *)b);
}

void manifest_sort(struct manifest_claims *m)
{
	struct strv *versions[] = {&m->tritons, &m->pythons, &m->archs};
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		strv_uniq(versions[i]);
		if (versions[i]->n)
			qsort(versions[i]->v, versions[i]->n, sizeof *versions[i]->v, by_version);
	}
	strv_uniq(&m->profiles);
}

void manifest_done(struct manifest_claims *m)
{
	strv_done(&m->tritons);
	strv_done(&m->pythons);
	strv_done(&m->archs);
	strv_done(&m->profiles);
	strv_done(&m->said);
	strv_done(&m->found);
	strv_done(&m->listed);
	strv_done(&m->held);
}
