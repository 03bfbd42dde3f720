#include "state_index.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/xalloc.h"
#include "state_int.h"
#include "xz.h"

const char *const index_suffix[INDEX_FILES] = {
    [FILE_PLAIN] = "", [FILE_GZ] = ".gz", [FILE_ZST] = ".zst", [FILE_XZ] = ".xz"};

static int read_files(struct state *s, struct index_row *row, struct err *err)
{
	sqlite3_stmt *q;
	int rc = state_query(s, Q_FILES, &q, err, "i", row->id);
	for (; rc == 1; rc = state_next(s, q, err)) {
		int64_t kind = sqlite3_column_int64(q, 0);
		if (kind >= 0 && kind < INDEX_FILES)
			row->files[kind] = (struct ident){.ino = sqlite3_column_int64(q, 1),
			    .size = sqlite3_column_int64(q, 2),
			    .mtime = sqlite3_column_int64(q, 3)};
	}
	return rc;
}

/* A blob of another size (another libcrypto): false, and the index counts as stale. */
static bool read_blob(sqlite3_stmt *q, int column, void *to, size_t n)
{
	bool fits = (size_t)sqlite3_column_bytes(q, column) == n;
	if (fits)
		memcpy(to, sqlite3_column_blob(q, column), n);
	return fits;
}

static int read_pieces(struct state *s, struct arena *a, struct index_row *row, struct err *err)
{
	size_t cap = 0;
	uint64_t offset[INDEX_FILES] = {[FILE_XZ] = XZ_HEADER};
	_free_ struct piece *v = NULL;
	sqlite3_stmt *q;
	int rc = state_query(s, Q_PIECES, &q, err, "i", row->id);
	for (; rc == 1; rc = state_next(s, q, err)) {
		if (row->n_pieces == cap)
			v = xreallocarray(v, cap = cap ? 2 * cap : 16, sizeof *v);
		struct piece *p = &v[row->n_pieces++];
		*p = (struct piece){.seq = sqlite3_column_int64(q, 0)};
		if (!read_blob(q, 1, p->size, sizeof p->size) ||
		    !read_blob(q, 2, p->sums, sizeof p->sums))
			row->stale = true;
		for (int i = 0; i < INDEX_FILES; i++) {
			p->offset[i] = offset[i];
			offset[i] += p->size[i];
		}
	}
	row->pieces = arena_alloc(a, row->n_pieces * sizeof *v + 1);
	if (row->n_pieces)
		memcpy(row->pieces, v, row->n_pieces * sizeof *v);
	return rc;
}

int state_find_index(struct state *s, struct arena *a, int64_t suite, const char *component,
    const char *arch, struct index_row *out, struct err *err)
{
	*out = (struct index_row){0};
	sqlite3_stmt *q;
	int found = state_query(s, Q_FIND_INDEX, &q, err, "iss", suite, component, arch);
	if (found != 1)
		return found;
	out->id = sqlite3_column_int64(q, 0);
	out->stale = sqlite3_column_int64(q, 1) != 0;
	sqlite3_reset(q);
	if (read_files(s, out, err) < 0 || read_pieces(s, a, out, err) < 0)
		return -1;
	return 1;
}

int state_index_id(struct state *s, int64_t suite, const char *component, const char *arch,
    int64_t *id, struct err *err)
{
	sqlite3_stmt *q;
	int found = state_query(s, Q_FIND_INDEX, &q, err, "iss", suite, component, arch);
	return state_query_id(s, q, found, id);
}

int state_add_index(struct state *s, int64_t suite, const char *component, const char *arch,
    int64_t *id, struct err *err)
{
	sqlite3_stmt *q;
	int found = state_query(s, Q_ADD_INDEX, &q, err, "iss", suite, component, arch);
	return state_query_id(s, q, found, id) == 1 ? 0 : -1;
}

static int put_files(struct state *s, const struct index_row *row, struct err *err)
{
	if (state_query(s, Q_DROP_FILES, NULL, err, "i", row->id) < 0)
		return -1;
	for (int64_t i = 0; i < INDEX_FILES; i++) {
		const struct ident *f = &row->files[i];
		if (f->ino && state_query(s, Q_PUT_FILE, NULL, err, "iiiii", row->id, i, f->ino,
				  f->size, f->mtime) < 0)
			return -1;
	}
	return 0;
}

int state_put_index(struct state *s, const struct index_row *row, size_t from, struct err *err)
{
	int64_t seq = from ? row->pieces[from - 1].seq + 1 : 0;
	if (put_files(s, row, err) < 0 ||
	    state_query(s, Q_DROP_PIECES, NULL, err, "ii", row->id, seq) < 0)
		return -1;
	for (size_t i = from; i < row->n_pieces; i++) {
		const struct piece *p = &row->pieces[i];
		if (state_query(s, Q_PUT_PIECE, NULL, err, "iibb", row->id, p->seq, p->size,
			sizeof p->size, p->sums, sizeof p->sums) < 0)
			return -1;
	}
	return state_query(s, Q_FRESH_INDEX, NULL, err, "i", row->id);
}

int state_find_member(struct state *s, int64_t index, int64_t deb, int64_t *seq, struct err *err)
{
	sqlite3_stmt *q;
	int found = state_query(s, Q_FIND_MEMBER, &q, err, "ii", index, deb);
	return state_query_id(s, q, found, seq);
}

int state_put_member(struct state *s, int64_t index, int64_t deb, int64_t seq, struct err *err)
{
	return state_query(s, Q_PUT_MEMBER, NULL, err, "iii", index, deb, seq);
}

int state_drop_member(struct state *s, int64_t index, int64_t deb, struct err *err)
{
	return state_query(s, Q_DROP_MEMBER, NULL, err, "ii", index, deb);
}

int state_drop_members(struct state *s, int64_t index, struct err *err)
{
	return state_query(s, Q_DROP_MEMBERS, NULL, err, "i", index);
}

int state_move_members(struct state *s, int64_t index, int64_t from, int64_t to, struct err *err)
{
	return state_query(s, Q_MOVE_MEMBERS, NULL, err, "iii", index, from, to);
}

int state_each_member(struct state *s, int64_t suite, const char *component, const char *name,
    member_fn *fn, void *arg, struct err *err)
{
	sqlite3_stmt *q;
	int rc = name ? state_query(s, Q_EACH_NAMED, &q, err, "iss", suite, component, name)
		      : state_query(s, Q_EACH_MEMBER, &q, err, "is", suite, component);
	for (; rc == 1; rc = state_next(s, q, err)) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		struct deb_row row;
		state_read_deb(&a, q, &row);
		if (fn(arg, state_text(&a, q, 8), &row, err) < 0) {
			sqlite3_reset(q);
			return -1;
		}
	}
	return rc;
}

int state_copy_suite(struct state *s, int64_t from, int64_t to, struct err *err)
{
	static const enum query steps[] = {
	    Q_COPY_INDEXES, Q_COPY_FILES, Q_COPY_PIECES, Q_COPY_MEMBERS};
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (state_query(s, steps[i], NULL, err, "ii", from, to) < 0)
			return -1;
	return 0;
}
