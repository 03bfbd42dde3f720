#include "retention.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/stanza.h"

#define DAYS_MAX 36500

static int parse(const char *path, const struct stanza *s, struct retention *out, struct err *err)
{
	static const char *const fields[] = {"Suite", "Keep-Snapshots-Days", "Frozen", NULL};
	const char *days = stanza_get(s, "Keep-Snapshots-Days"), *frozen = stanza_get(s, "Frozen");
	unsigned long long n = 0;
	*out = (struct retention){0};
	if (stanza_check_fields(s, fields, path, err) < 0)
		return -1;
	if (!stanza_get(s, "Suite"))
		return err_set(err, ERR_USAGE, "%s:%u: expected a field Suite", path, s->line);
	if (days && (str_parse_u64(days, DAYS_MAX, &n) < 0 || !n))
		return err_set(err, ERR_USAGE,
		    "%s:%u: Keep-Snapshots-Days is '%s', expected a number of days from 1 to %d",
		    path, stanza_find(s, "Keep-Snapshots-Days")->line, days, DAYS_MAX);
	if (frozen && strcmp(frozen, "yes") && strcmp(frozen, "no"))
		return err_set(err, ERR_USAGE, "%s:%u: Frozen is '%s', expected yes or no", path,
		    stanza_find(s, "Frozen")->line, frozen);
	*out = (struct retention){.frozen = str_eq(frozen, "yes"), .snapshot_days = (unsigned)n};
	return 0;
}

int retention_load(const char *root, const char *suite, struct retention *out, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ char *path = path_join(root, RETENTION_FILE);
	struct stanza_list list = {0};
	*out = (struct retention){0};
	if (!path_exists(path))
		return 0;
	if (stanza_parse_file(&a, path, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		struct retention r;
		if (parse(path, &list.v[i], &r, err) < 0)
			return -1;
		if (str_eq(stanza_get(&list.v[i], "Suite"), suite))
			*out = r;
	}
	return 0;
}

int retention_check(const char *root, const char *suite, struct err *err)
{
	struct retention r;
	if (retention_load(root, suite, &r, err) < 0)
		return -1;
	if (!r.frozen)
		return 0;
	return err_set(err, ERR_CONFLICT,
	    "suite '%s' is frozen by '%s/" RETENTION_FILE
	    "': packages may only be withdrawn; publish into another suite",
	    suite, root);
}
