/* Rows about packages and input files. */
#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "pool.h"
#include "state_int.h"

#include <string.h>

void state_read_deb(struct arena *a, sqlite3_stmt *q, struct deb_row *out)
{
	*out = (struct deb_row){.id = sqlite3_column_int64(q, 0),
	    .name = state_text(a, q, 1),
	    .version = state_text(a, q, 2),
	    .arch = state_text(a, q, 3),
	    .path = state_text(a, q, 4),
	    .size = (uint64_t)sqlite3_column_int64(q, 5),
	    .unlisted = sqlite3_column_int64(q, 7)};
	const char *sha = (const char *)sqlite3_column_text(q, 6);
	if (sha && strlen(sha) == SHA256_HEX - 1)
		memcpy(out->sha256, sha, SHA256_HEX);
}

/* Reads the row that a query found; hands found on. */
static int one_deb(struct arena *a, sqlite3_stmt *q, int found, struct deb_row *out)
{
	if (found == 1) {
		state_read_deb(a, q, out);
		sqlite3_reset(q);
	}
	return found;
}

int state_find_deb(struct state *s, struct arena *a, const char *name, const char *version,
    const char *arch, struct deb_row *out, struct err *err)
{
	sqlite3_stmt *q;
	int found = state_query(s, Q_FIND_DEB, &q, err, "sss", name, version, arch);
	return one_deb(a, q, found, out);
}

int state_find_twin(struct state *s, struct arena *a, const char *name, const char *path,
    struct deb_row *out, struct err *err)
{
	sqlite3_stmt *q;
	int found = state_query(s, Q_FIND_TWIN, &q, err, "ss", name, path);
	return one_deb(a, q, found, out);
}

int state_get_deb(
    struct state *s, struct arena *a, int64_t id, struct deb_row *out, struct err *err)
{
	sqlite3_stmt *q;
	int found = state_query(s, Q_GET_DEB, &q, err, "i", id);
	return one_deb(a, q, found, out);
}

/* The one number that a statement answers; 1 found, 0 not. */
int state_query_id(struct state *s, sqlite3_stmt *q, int found, int64_t *out)
{
	if (found == 1) {
		*out = sqlite3_column_int64(q, 0);
		sqlite3_reset(q);
	}
	return found;
}

int state_put_deb(struct state *s, const struct pkg *p, int64_t *id, struct err *err)
{
	sqlite3_stmt *q;
	int found = state_query(s, Q_PUT_DEB, &q, err, "ssssis", p->name, p->version, p->arch,
	    p->path, (int64_t)p->size, p->sha256);
	return state_query_id(s, q, found, id) == 1 ? 0 : -1;
}

int state_drop_deb(struct state *s, int64_t id, struct err *err)
{
	if (state_query(s, Q_DROP_DEB_SOURCES, NULL, err, "i", id) < 0)
		return -1;
	return state_query(s, Q_DROP_DEB, NULL, err, "i", id);
}

int state_mark_unlisted(struct state *s, int64_t deb, time_t now, struct err *err)
{
	return state_query(s, Q_MARK_UNLISTED, NULL, err, "ii", deb, (int64_t)now);
}

int state_each_deb(struct state *s, deb_row_fn *fn, void *arg, struct err *err)
{
	sqlite3_stmt *q;
	int rc = state_query(s, Q_EACH_DEB, &q, err, "");
	for (; rc == 1; rc = state_next(s, q, err)) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		struct deb_row row;
		state_read_deb(&a, q, &row);
		if (fn(arg, &row, sqlite3_column_int(q, 8) != 0, err) < 0) {
			sqlite3_reset(q);
			return -1;
		}
	}
	return rc;
}

int state_find_source(struct state *s, const struct ident *i, int64_t *deb, struct err *err)
{
	sqlite3_stmt *q;
	int found =
	    state_query(s, Q_FIND_SOURCE, &q, err, "iiii", i->dev, i->ino, i->size, i->mtime);
	return state_query_id(s, q, found, deb);
}

int state_put_source(struct state *s, const struct ident *i, int64_t deb, struct err *err)
{
	return state_query(
	    s, Q_PUT_SOURCE, NULL, err, "iiiii", i->dev, i->ino, i->size, i->mtime, deb);
}
