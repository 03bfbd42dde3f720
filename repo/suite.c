#include "suite.h"

#include <string.h>

#include "../debbuild/base/arena.h"
#include "../debbuild/base/clock.h"
#include "../debbuild/base/err.h"
#include "../debbuild/base/path.h"
#include "../debbuild/deb/stanza.h"

#define DEFAULT_VALID_DAYS 365
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

static const char *get(const struct stanza *s, const char *name, const char *otherwise)
{
	const char *v = stanza_get(s, name);
	return v && *v ? v : otherwise;
}

static int read_dates(const struct stanza *st, const char *path, struct suite *s, struct err *err)
{
	time_t until;
	const char *date = get(st, "Date", ""), *valid = stanza_get(st, "Valid-Until");
	if (clock_parse_release(date, &s->date) < 0)
		return err_set(err, ERR_FORMAT,
		    "'%s': Date is '%s', expected one like 'Mon, 30 Nov 2026 07:00:00 UTC'", path,
		    date);
	s->valid_days = 0;
	if (valid && clock_parse_release(valid, &until) == 0 && until > s->date)
		s->valid_days = (unsigned)((until - s->date) / 86400);
	return 0;
}

static int read_release(struct arena *a, const char *path, struct suite *s, struct err *err)
{
	struct stanza_list list = {0};
	if (stanza_parse_file(a, path, STANZA_ONE, &list, err) < 0)
		return -1;
	const struct stanza *st = &list.v[0];
	s->codename = get(st, "Codename", s->name);
	s->origin = get(st, "Origin", s->origin);
	s->label = get(st, "Label", s->label);
	s->description = get(st, "Description", NULL);
	strv_split(&s->components, get(st, "Components", ""), " ");
	strv_split(&s->archs, get(st, "Architectures", ""), " ");
	strv_split(&s->keys, get(st, "Signed-By", ""), ", ");
	return read_dates(st, path, s, err);
}

int suite_load(
    struct arena *a, const char *root, const char *name, struct suite *s, struct err *err)
{
	*s = (struct suite){.name = name,
	    .codename = name,
	    .origin = "debkit",
	    .label = "debkit",
	    .valid_days = DEFAULT_VALID_DAYS};
	const char *path = arena_printf(a, "%s/dists/%s/Release", root, name);
	if (suite_check_name("suite", name, err) < 0)
		return -1;
	return path_exists(path) ? read_release(a, path, s, err) : 0;
}

void suite_done(struct suite *s)
{
	strv_done(&s->components);
	strv_done(&s->archs);
	strv_done(&s->keys);
}

char *suite_index_dir(
    struct arena *a, const struct suite *s, const char *component, const char *arch)
{
	return arena_printf(a, "dists/%s/%s/binary-%s", s->name, component, arch);
}
