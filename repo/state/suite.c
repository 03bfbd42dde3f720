#include "suite.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/deb/stanza.h"

#define DEFAULT_VALID_DAYS 365
#define RELEASE_MAX	   ((size_t)16 << 20)
#define NAME_CHARS	   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._~"
#define NAME_MAX_LEN	   64

int suite_check_name(const char *what, const char *name, struct err *err)
{
	size_t n = strlen(name);
	if (n == 0 || n > NAME_MAX_LEN || strspn(name, NAME_CHARS) != n || name[0] == '.' ||
	    name[0] == '-')
		return err_set(err, ERR_USAGE,
		    "%s '%s': expected letters, digits and +-._~, at most %d", what, name,
		    NAME_MAX_LEN);
	return 0;
}

/* A field's value; of one with several lines where one is expected, the first. */
static const char *get(
    struct arena *a, const struct stanza *s, const char *name, const char *otherwise)
{
	const char *v = stanza_get(s, name);
	return v && *v && *v != '\n' ? arena_strndup(a, v, strcspn(v, "\n")) : otherwise;
}

static int read_dates(
    struct arena *a, const struct stanza *st, const char *path, struct suite *s, struct err *err)
{
	time_t until;
	const char *date = get(a, st, "Date", ""), *valid = stanza_get(st, "Valid-Until");
	if (clock_parse_release(date, &s->date) < 0)
		return err_set(err, ERR_FORMAT,
		    "'%s': Date is '%s', expected one like 'Mon, 30 Nov 2026 07:00:00 UTC'", path,
		    date);
	s->valid_days = 0;
	if (valid && clock_parse_release(valid, &until) == 0 && until > s->date)
		s->valid_days = (unsigned)((until - s->date) / 86400);
	return 0;
}

/* Names become folders and files: those of a foreign Release are checked like a user's. */
static int check_names(const struct suite *s, struct err *err)
{
	for (size_t i = 0; i < s->components.n; i++)
		if (suite_check_name("component", s->components.v[i], err) < 0)
			return -1;
	for (size_t i = 0; i < s->archs.n; i++)
		if (suite_check_name("architecture", s->archs.v[i], err) < 0)
			return -1;
	return 0;
}

/* The lines of a field of several, without what indents them. */
static const char *get_lines(struct arena *a, const struct stanza *s, const char *name)
{
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	const char *v = stanza_get(s, name), *out = NULL;
	strv_split(&lines, v ? v : "", "\n");
	for (size_t i = 0; i < lines.n; i++) {
		const char *line = str_trim(lines.v[i]);
		out = out ? arena_printf(a, "%s\n%s", out, line) : arena_strdup(a, line);
	}
	return out;
}

static void read_archs(struct arena *a, const struct stanza *st, struct suite *s)
{
	_cleanup_(strv_done) struct strv archs = STRV_INIT;
	strv_split(&archs, get(a, st, "Architectures", ""), " ");
	for (size_t i = 0; i < archs.n; i++)
		if (strcmp(archs.v[i], "all"))
			strv_add(&s->archs, archs.v[i]);
	strv_uniq(&s->archs);
}

void suite_init(struct suite *s, const char *name)
{
	*s = (struct suite){.name = name,
	    .codename = name,
	    .origin = "debkit",
	    .label = "debkit",
	    .valid_days = DEFAULT_VALID_DAYS};
}

int suite_parse(struct arena *a, const char *text, size_t len, const char *path, struct suite *s,
    struct err *err)
{
	struct stanza_list list = {0};
	if (stanza_parse(a, text, len, path, STANZA_ONE, &list, err) < 0)
		return -1;
	const struct stanza *st = &list.v[0];
	s->codename = get(a, st, "Codename", s->name);
	s->origin = get(a, st, "Origin", s->origin);
	s->label = get(a, st, "Label", s->label);
	s->description = get(a, st, "Description", NULL);
	s->snapshots = get(a, st, "Snapshots", NULL);
	s->snapshot_of = get(a, st, SUITE_SNAPSHOT_FIELD, NULL);
	s->withdrawn = get_lines(a, st, SUITE_WITHDRAWN_FIELD);
	strv_split(&s->components, get(a, st, "Components", ""), " ");
	strv_uniq(&s->components);
	read_archs(a, st, s);
	strv_split(&s->keys, get(a, st, "Signed-By", ""), ", ");
	s->half_signed = s->keys.n && !str_ends(path, "/InRelease");
	if (check_names(s, err) < 0)
		return err_wrap(err, "'%s'", path);
	if (release_parse_files(a, st, path, &s->files, err) < 0)
		return -1;
	s->no_gz = s->files.n > 0;
	for (size_t i = 0; i < s->files.n; i++) {
		s->no_gz &= !str_ends(s->files.v[i].name, "/Packages.gz");
		s->compat |= *s->files.v[i].sums.hex[SUM_SHA512] != '\0';
	}
	return read_dates(a, st, path, s, err);
}

int suite_load(
    struct arena *a, const char *root, const char *name, struct suite *s, struct err *err)
{
	suite_init(s, name);
	const char *path;
	_cleanup_(buf_done) struct buf text = BUF_INIT(RELEASE_MAX);
	if (suite_check_name("suite", name, err) < 0)
		return -1;
	int found = release_read(a, root, name, &text, &path, err);
	return found == 1 ? suite_parse(a, buf_str(&text), text.len, path, s, err) : found;
}

void suite_done(struct suite *s)
{
	strv_done(&s->components);
	strv_done(&s->archs);
	strv_done(&s->keys);
	release_list_done(&s->files);
}
