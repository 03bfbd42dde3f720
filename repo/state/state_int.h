/* Shared by the files of the state: statements by number, and one way to run them. */
#pragma once
#include "state.h"
#include <sqlite3.h>

enum query {
	Q_FIND_DEB,
	Q_FIND_TWIN,
	Q_GET_DEB,
	Q_PUT_DEB,
	Q_DROP_DEB,
	Q_DROP_DEB_SOURCES,
	Q_MARK_UNLISTED,
	Q_EACH_DEB,
	Q_FIND_SOURCE,
	Q_PUT_SOURCE,
	Q_FIND_SUITE,
	Q_ADD_SUITE,
	Q_SET_SUITE,
	Q_DROP_SUITE,
	Q_DROP_SUITE_MEMBERS,
	Q_DROP_SUITE_PIECES,
	Q_DROP_SUITE_FILES,
	Q_DROP_SUITE_INDEXES,
	Q_DROP_SUITE_RETIRED,
	Q_SUITES,
	Q_RETIRE,
	Q_UNRETIRE,
	Q_RETIRED,
	Q_ALL_RETIRED,
	Q_DROP_RETIRED,
	Q_FIND_INDEX,
	Q_ADD_INDEX,
	Q_FRESH_INDEX,
	Q_FILES,
	Q_PUT_FILE,
	Q_DROP_FILES,
	Q_PIECES,
	Q_PUT_PIECE,
	Q_DROP_PIECES,
	Q_FIND_MEMBER,
	Q_PUT_MEMBER,
	Q_DROP_MEMBER,
	Q_DROP_MEMBERS,
	Q_MOVE_MEMBERS,
	Q_EACH_MEMBER,
	Q_EACH_NAMED,
	Q_COPY_INDEXES,
	Q_COPY_FILES,
	Q_COPY_PIECES,
	Q_COPY_MEMBERS,
	QUERIES
};

struct state {
	sqlite3 *db;
	char *path;
	bool in_transaction;
	sqlite3_stmt *stmts[QUERIES];
};

/*
 * Binds the arguments (types: 's' const char * or NULL, 'i' int64_t, 'b' const void * and size_t)
 * and makes the first step. 1: a row lies in *out (read it, then step on with state_next);
 * 0: done; -1: error. out may be NULL for statements without rows.
 */
int state_query(struct state *s, enum query q, sqlite3_stmt **out, struct err *err,
    const char *types, ...) _must_check_;
int state_next(struct state *s, sqlite3_stmt *q, struct err *err) _must_check_;
int state_error(struct state *s, struct err *err);
/* Column as text in the arena. */
const char *state_text(struct arena *a, sqlite3_stmt *q, int column) _must_check_;
/* The first number of a row that state_query found; hands found on. */
int state_query_id(struct state *s, sqlite3_stmt *q, int found, int64_t *out) _must_check_;
/* The columns of DEB_COLUMNS. */
void state_read_deb(struct arena *a, sqlite3_stmt *q, struct deb_row *out);
