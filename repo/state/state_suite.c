/* Rows about suites and by-hash names. */
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "state_int.h"

int state_find_suite(struct state *s, const char *name, struct suite_row *out, struct err *err)
{
	sqlite3_stmt *q;
	int found = state_query(s, Q_FIND_SUITE, &q, err, "s", name);
	if (found != 1)
		return found;
	*out = (struct suite_row){.id = sqlite3_column_int64(q, 0),
	    .generation = sqlite3_column_int64(q, 1),
	    .release = {.ino = sqlite3_column_int64(q, 2),
		.size = sqlite3_column_int64(q, 3),
		.mtime = sqlite3_column_int64(q, 4)}};
	sqlite3_reset(q);
	return 1;
}

int state_put_suite(struct state *s, const char *name, struct suite_row *row, struct err *err)
{
	const struct ident *i = &row->release;
	if (row->id)
		return state_query(s, Q_SET_SUITE, NULL, err, "siiii", name, row->generation,
		    i->ino, i->size, i->mtime);
	sqlite3_stmt *q;
	int found = state_query(
	    s, Q_ADD_SUITE, &q, err, "siiii", name, row->generation, i->ino, i->size, i->mtime);
	return state_query_id(s, q, found, &row->id) == 1 ? 0 : -1;
}

int state_drop_suite(struct state *s, const char *name, struct err *err)
{
	static const enum query steps[] = {Q_DROP_SUITE_MEMBERS, Q_DROP_SUITE_PIECES,
	    Q_DROP_SUITE_FILES, Q_DROP_SUITE_INDEXES, Q_DROP_SUITE_RETIRED, Q_DROP_SUITE};
	struct suite_row row;
	int found = state_find_suite(s, name, &row, err);
	for (size_t i = 0; found == 1 && i < ARRAY_SIZE(steps); i++)
		if (state_query(s, steps[i], NULL, err, "i", row.id) < 0)
			return -1;
	return found < 0 ? -1 : 0;
}

static int take_texts(struct state *s, sqlite3_stmt *q, int rc, struct strv *out, struct err *err)
{
	for (; rc == 1; rc = state_next(s, q, err))
		strv_add(out, (const char *)sqlite3_column_text(q, 0));
	return rc;
}

int state_suites(struct state *s, struct strv *names, struct err *err)
{
	sqlite3_stmt *q;
	int rc = state_query(s, Q_SUITES, &q, err, "");
	return take_texts(s, q, rc, names, err);
}

int state_retire(struct state *s, int64_t suite, const char *path, int64_t generation, time_t now,
    struct err *err)
{
	return state_query(s, Q_RETIRE, NULL, err, "isii", suite, path, generation, (int64_t)now);
}

int state_unretire(struct state *s, int64_t suite, const char *path, struct err *err)
{
	return state_query(s, Q_UNRETIRE, NULL, err, "is", suite, path);
}

int state_take_retired(struct state *s, int64_t suite, int64_t generation, time_t until,
    struct strv *paths, struct err *err)
{
	sqlite3_stmt *q;
	int rc = state_query(s, Q_RETIRED, &q, err, "iii", suite, generation, (int64_t)until);
	if (take_texts(s, q, rc, paths, err) < 0)
		return -1;
	return state_query(s, Q_DROP_RETIRED, NULL, err, "iii", suite, generation, (int64_t)until);
}

int state_retired(struct state *s, int64_t suite, struct strv *paths, struct err *err)
{
	sqlite3_stmt *q;
	int rc = state_query(s, Q_ALL_RETIRED, &q, err, "i", suite);
	return take_texts(s, q, rc, paths, err);
}
