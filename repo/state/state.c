#include "state_int.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/txn.h"
#include "../../lib/base/xalloc.h"

#define VERSION "1"
#define LOG_MAX ((off_t)2 << 20)

static const char schema[] =
    "CREATE TABLE deb(id INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL,"
    " arch TEXT NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL,"
    " unlisted INTEGER NOT NULL DEFAULT 0);"
    "CREATE UNIQUE INDEX deb_key ON deb(name, version, arch);"
    "CREATE TABLE source(dev INTEGER, ino INTEGER, size INTEGER, mtime INTEGER, deb INTEGER,"
    " PRIMARY KEY(dev, ino)) WITHOUT ROWID;"
    "CREATE TABLE suite(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, generation INTEGER,"
    " ino INTEGER, size INTEGER, mtime INTEGER);"
    "CREATE TABLE retired(suite INTEGER, path TEXT, generation INTEGER, time INTEGER,"
    " PRIMARY KEY(suite, path)) WITHOUT ROWID;"
    "CREATE TABLE idx(id INTEGER PRIMARY KEY, suite INTEGER, component TEXT, arch TEXT,"
    " stale INTEGER, UNIQUE(suite, component, arch));"
    "CREATE TABLE file(idx INTEGER, kind INTEGER, ino INTEGER, size INTEGER, mtime INTEGER,"
    " PRIMARY KEY(idx, kind)) WITHOUT ROWID;"
    "CREATE TABLE piece(idx INTEGER, seq INTEGER, sizes BLOB, sums BLOB,"
    " PRIMARY KEY(idx, seq)) WITHOUT ROWID;"
    "CREATE TABLE member(idx INTEGER, deb INTEGER, seq INTEGER,"
    " PRIMARY KEY(deb, idx)) WITHOUT ROWID;"
    "PRAGMA user_version=" VERSION;

#define DEB_COLUMNS                                                                                \
	"deb.id, deb.name, deb.version, deb.arch, deb.path, deb.size, deb.sha256, "                \
	"deb.unlisted"
#define MEMBERS                                                                                    \
	"SELECT DISTINCT " DEB_COLUMNS ", idx.component FROM deb"                                  \
	" JOIN member ON member.deb = deb.id JOIN idx ON idx.id = member.idx"                      \
	" WHERE idx.suite = ?1 AND (?2 IS NULL OR idx.component = ?2)"
#define ORDER " ORDER BY deb.name, idx.component, deb.arch, deb.path"
#define TWINS /* an index of suite ?1 and its namesake in suite ?2 */                              \
	" JOIN idx o ON o.id = t.idx AND o.suite = ?1"                                             \
	" JOIN idx n ON n.suite = ?2 AND n.component = o.component AND n.arch = o.arch"
#define OF_SUITE "IN (SELECT id FROM idx WHERE suite = ?1)"

static const char *const sql[QUERIES] = {
    [Q_FIND_DEB] = "SELECT " DEB_COLUMNS " FROM deb WHERE name = ?1 AND version = ?2 AND arch = ?3",
    [Q_FIND_TWIN] = "SELECT " DEB_COLUMNS " FROM deb WHERE name = ?1 AND path = ?2",
    [Q_GET_DEB] = "SELECT " DEB_COLUMNS " FROM deb WHERE id = ?1",
    [Q_PUT_DEB] = "INSERT INTO deb(name, version, arch, path, size, sha256)"
		  " VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT(name, version, arch) DO UPDATE SET"
		  " path = ?4, size = ?5, sha256 = ?6, unlisted = 0 RETURNING id",
    [Q_DROP_DEB] = "DELETE FROM deb WHERE id = ?1",
    [Q_DROP_DEB_SOURCES] = "DELETE FROM source WHERE deb = ?1",
    [Q_MARK_UNLISTED] = "UPDATE deb SET unlisted = CASE WHEN EXISTS"
			" (SELECT 1 FROM member WHERE deb = ?1) THEN 0 ELSE ?2 END WHERE id = ?1",
    [Q_EACH_DEB] =
	"SELECT " DEB_COLUMNS ", EXISTS (SELECT 1 FROM member WHERE member.deb = deb.id) FROM deb",
    [Q_FIND_SOURCE] = "SELECT deb FROM source WHERE dev = ?1 AND ino = ?2 AND size = ?3"
		      " AND mtime = ?4",
    [Q_PUT_SOURCE] = "INSERT OR REPLACE INTO source VALUES(?1, ?2, ?3, ?4, ?5)",
    [Q_FIND_SUITE] = "SELECT id, generation, ino, size, mtime FROM suite WHERE name = ?1",
    [Q_ADD_SUITE] = "INSERT INTO suite(name, generation, ino, size, mtime)"
		    " VALUES(?1, ?2, ?3, ?4, ?5) RETURNING id",
    [Q_SET_SUITE] = "UPDATE suite SET generation = ?2, ino = ?3, size = ?4, mtime = ?5"
		    " WHERE name = ?1",
    [Q_DROP_SUITE] = "DELETE FROM suite WHERE id = ?1",
    [Q_DROP_SUITE_MEMBERS] = "DELETE FROM member WHERE idx " OF_SUITE,
    [Q_DROP_SUITE_PIECES] = "DELETE FROM piece WHERE idx " OF_SUITE,
    [Q_DROP_SUITE_FILES] = "DELETE FROM file WHERE idx " OF_SUITE,
    [Q_DROP_SUITE_INDEXES] = "DELETE FROM idx WHERE suite = ?1",
    [Q_DROP_SUITE_RETIRED] = "DELETE FROM retired WHERE suite = ?1",
    [Q_SUITES] = "SELECT name FROM suite ORDER BY name",
    [Q_RETIRE] = "INSERT OR IGNORE INTO retired VALUES(?1, ?2, ?3, ?4)",
    [Q_UNRETIRE] = "DELETE FROM retired WHERE suite = ?1 AND path = ?2",
    [Q_RETIRED] = "SELECT path FROM retired WHERE suite = ?1 AND generation <= ?2 AND time <= ?3",
    [Q_ALL_RETIRED] = "SELECT path FROM retired WHERE suite = ?1",
    [Q_DROP_RETIRED] = "DELETE FROM retired WHERE suite = ?1 AND generation <= ?2 AND time <= ?3",
    [Q_FIND_INDEX] = "SELECT id, stale FROM idx WHERE suite = ?1 AND component = ?2 AND arch = ?3",
    [Q_ADD_INDEX] = "INSERT INTO idx(suite, component, arch, stale) VALUES(?1, ?2, ?3, 1)"
		    " RETURNING id",
    [Q_FRESH_INDEX] = "UPDATE idx SET stale = 0 WHERE id = ?1",
    [Q_FILES] = "SELECT kind, ino, size, mtime FROM file WHERE idx = ?1",
    [Q_PUT_FILE] = "INSERT INTO file VALUES(?1, ?2, ?3, ?4, ?5)",
    [Q_DROP_FILES] = "DELETE FROM file WHERE idx = ?1",
    [Q_PIECES] = "SELECT seq, sizes, sums FROM piece WHERE idx = ?1 ORDER BY seq",
    [Q_PUT_PIECE] = "INSERT OR REPLACE INTO piece VALUES(?1, ?2, ?3, ?4)",
    [Q_DROP_PIECES] = "DELETE FROM piece WHERE idx = ?1 AND seq >= ?2",
    [Q_FIND_MEMBER] = "SELECT seq FROM member WHERE idx = ?1 AND deb = ?2",
    [Q_PUT_MEMBER] = "INSERT OR REPLACE INTO member VALUES(?1, ?2, ?3)",
    [Q_DROP_MEMBER] = "DELETE FROM member WHERE idx = ?1 AND deb = ?2",
    [Q_DROP_MEMBERS] = "DELETE FROM member WHERE idx = ?1",
    [Q_MOVE_MEMBERS] = "UPDATE member SET seq = ?3 WHERE idx = ?1 AND seq = ?2",
    [Q_EACH_MEMBER] = MEMBERS ORDER,
    [Q_EACH_NAMED] = MEMBERS " AND deb.name = ?3" ORDER,
    [Q_COPY_INDEXES] = "INSERT INTO idx(suite, component, arch, stale)"
		       " SELECT ?2, component, arch, stale FROM idx WHERE suite = ?1",
    [Q_COPY_FILES] =
	"INSERT INTO file SELECT n.id, t.kind, t.ino, t.size, t.mtime FROM file t" TWINS,
    [Q_COPY_PIECES] = "INSERT INTO piece SELECT n.id, t.seq, t.sizes, t.sums FROM piece t" TWINS,
    [Q_COPY_MEMBERS] = "INSERT INTO member SELECT n.id, t.deb, t.seq FROM member t" TWINS,
};

static int ident_of(const struct stat *st, struct ident *out)
{
	*out = (struct ident){.dev = (int64_t)st->st_dev,
	    .ino = (int64_t)st->st_ino,
	    .size = st->st_size,
	    .mtime = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec};
	return S_ISREG(st->st_mode) ? 0 : -1;
}

int ident_get_fd(int fd, struct ident *out)
{
	struct stat st;
	return fstat(fd, &st) < 0 ? -1 : ident_of(&st, out);
}

int ident_get(const char *path, struct ident *out)
{
	struct stat st;
	return stat(path, &st) < 0 ? -1 : ident_of(&st, out);
}

bool ident_same(const struct ident *a, const struct ident *b)
{
	return a->ino == b->ino && a->size == b->size && a->mtime == b->mtime;
}

int state_error(struct state *s, struct err *err)
{
	return err_set(err, ERR_SYSTEM, "state '%s': %s", s->path, sqlite3_errmsg(s->db));
}

static int exec(struct state *s, const char *text, struct err *err)
{
	return sqlite3_exec(s->db, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : state_error(s, err);
}

static bool version_fits(struct state *s)
{
	sqlite3_stmt *q = NULL;
	bool fits = sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &q, NULL) == SQLITE_OK &&
		    sqlite3_step(q) == SQLITE_ROW &&
		    !strcmp((const char *)sqlite3_column_text(q, 0), VERSION);
	sqlite3_finalize(q);
	return fits;
}

static int open_file(struct state *s, struct err *err)
{
	if (sqlite3_open_v2(s->path, &s->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
		NULL) != SQLITE_OK)
		return state_error(s, err);
	/* With a write-ahead log a commit needs no fsync: power lost, a commit lost, and the
	 * suite's InRelease then tells that the state is old. The log is folded in when it has
	 * grown, not each time that a process ends. */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_wal_autocheckpoint(s->db, 0);
	return exec(s,
	    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
	    "PRAGMA cache_size=-4096",
	    err);
}

static void close_file(struct state *s)
{
	for (size_t i = 0; i < QUERIES; i++)
		sqlite3_finalize(s->stmts[i]);
	memset(s->stmts, 0, sizeof s->stmts);
	sqlite3_close(s->db);
	s->db = NULL;
}

void state_forget(const char *path)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		_free_ char *name = xasprintf("%s%s", path, suffixes[i]);
		unlink(name);
	}
}

int state_open(const char *path, struct state **out, bool *fresh, struct err *err)
{
	struct state *s = xcalloc(1, sizeof *s);
	s->path = xstrdup(path);
	*fresh = false;
	if (open_file(s, NULL) < 0 || !version_fits(s)) {
		close_file(s);
		state_forget(path);
		*fresh = true;
		if (open_file(s, err) < 0 || exec(s, schema, err) < 0) {
			state_close(s);
			return -1;
		}
	}
	*out = s;
	return 0;
}

void state_close(struct state *s)
{
	if (!s)
		return;
	state_rollback(s);
	close_file(s);
	free(s->path);
	free(s);
}

int state_begin(struct state *s, struct err *err)
{
	if (exec(s, "BEGIN", err) < 0)
		return -1;
	s->in_transaction = true;
	return 0;
}

/* The next process reads the whole log, so it is kept short. A failure leaves it for later. */
static void fold_log(struct state *s)
{
	_free_ char *log = xasprintf("%s-wal", s->path);
	struct stat st;
	if (stat(log, &st) == 0 && st.st_size > LOG_MAX)
		sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

int state_commit(struct state *s, struct err *err)
{
	if (txn_fault("commit") < 0)
		return err_sys(err, "cannot write the state '%s'", s->path);
	if (exec(s, "COMMIT", err) < 0)
		return -1;
	s->in_transaction = false;
	fold_log(s);
	return 0;
}

void state_rollback(struct state *s)
{
	if (s->in_transaction)
		(void)exec(s, "ROLLBACK", NULL);
	s->in_transaction = false;
}

static sqlite3_stmt *prepared(struct state *s, enum query q)
{
	if (s->stmts[q]) {
		sqlite3_reset(s->stmts[q]);
		sqlite3_clear_bindings(s->stmts[q]);
	} else if (sqlite3_prepare_v3(s->db, sql[q], -1, SQLITE_PREPARE_PERSISTENT, &s->stmts[q],
		       NULL) != SQLITE_OK) {
		return NULL;
	}
	return s->stmts[q];
}

int state_next(struct state *s, sqlite3_stmt *q, struct err *err)
{
	int rc = sqlite3_step(q);
	if (rc == SQLITE_ROW)
		return 1;
	sqlite3_reset(q);
	return rc == SQLITE_DONE ? 0 : state_error(s, err);
}

int state_query(
    struct state *s, enum query q, sqlite3_stmt **out, struct err *err, const char *types, ...)
{
	sqlite3_stmt *stmt = prepared(s, q);
	if (!stmt)
		return state_error(s, err);
	va_list ap;
	va_start(ap, types);
	for (int column = 1; *types; types++, column++) {
		if (*types == 's') {
			sqlite3_bind_text(
			    stmt, column, va_arg(ap, const char *), -1, SQLITE_STATIC);
		} else if (*types == 'i') {
			sqlite3_bind_int64(stmt, column, va_arg(ap, int64_t));
		} else {
			const void *p = va_arg(ap, const void *);
			sqlite3_bind_blob64(stmt, column, p, va_arg(ap, size_t), SQLITE_STATIC);
		}
	}
	va_end(ap);
	int rc = state_next(s, stmt, err);
	if (out)
		*out = stmt;
	else if (rc == 1) /* a row nobody asked for: the statement must not stay open */
		sqlite3_reset(stmt);
	return rc;
}

const char *state_text(struct arena *a, sqlite3_stmt *q, int column)
{
	const char *text = (const char *)sqlite3_column_text(q, column);
	return arena_strdup(a, text ? text : "");
}
