#include "txn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "clock.h"
#include "err.h"
#include "path.h"
#include "strv.h"
#include "xalloc.h"

/* Staged files lie in ROOT/.debkit-txn-XXXXXX until commit renames them. */
#define STAGE_PREFIX ".debkit-txn-"
/* From this many files on, one syncfs is cheaper than an fsync for each. */
#define SYNCFS_FROM 32
#define SPREAD_FROM 64
#define SPREAD	    16

struct entry {
	unsigned phase;
	bool linked; /* a further name of bytes that are durable through another one */
	char *name, *staged;
};

struct txn {
	pthread_mutex_t mutex; /* over the fields below, while files are staged */
	char *root, *stage;
	struct entry *v;
	size_t n, serial;
	bool committed;
	struct strv placed, removed;
};

int txn_fault(const char *call)
{
	static long countdown = -1;
	static const char *how = "";
	if (countdown == -1) {
		const char *text = getenv("DEBKIT_FAULT");
		countdown = text ? atol(text) : 0;
		const char *colon = text ? strchr(text, ':') : NULL;
		how = colon ? colon + 1 : "kill";
	}
	if (countdown <= 0 || --countdown > 0)
		return 0;
	countdown = 0;
	(void)call;
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	errno = !strcmp(how, "ENOSPC") ? ENOSPC : EIO;
	return -1;
}

static struct txn_waits waits;

struct txn_waits txn_waited(void)
{
	return waits;
}

static int timed_sync(int fd, int (*sync)(int))
{
	double start = clock_monotonic();
	int rc = txn_fault("fsync") < 0 ? -1 : sync(fd);
	waits.seconds += clock_monotonic() - start;
	waits.n++;
	return rc;
}

struct txn *txn_new(const char *root)
{
	struct txn *t = xcalloc(1, sizeof *t);
	t->root = xstrdup(root);
	pthread_mutex_init(&t->mutex, NULL);
	return t;
}

static int check_name(const struct txn *t, const char *name, struct err *err)
{
	if (path_is_safe_member(name))
		return 0;
	return err_set(err, ERR_FORMAT, "'%s' is no name inside '%s'", name, t->root);
}

static int make_stage(struct txn *t, struct err *err)
{
	_free_ char *tmpl = xasprintf("%s/" STAGE_PREFIX "XXXXXX", t->root);
	if (path_mkdirs(t->root, err) < 0)
		return -1;
	if (txn_fault("mkdir") < 0 || !mkdtemp(tmpl))
		return err_sys(err, "cannot make a folder in '%s'", t->root);
	t->stage = take_ptr(tmpl);
	return 0;
}

/*
 * Many files are spread over folders, so that threads that create them do not wait for each
 * other. A folder that cannot be made shows when a file in it is created.
 */
static char *stage_name(struct txn *t)
{
	size_t i = t->serial++;
	if (i < SPREAD_FROM)
		return xasprintf("%s/%zu", t->stage, i);
	_free_ char *dir = xasprintf("%s/d%zu", t->stage, i % SPREAD);
	if (i < SPREAD_FROM + SPREAD)
		(void)!mkdir(dir, 0700);
	return xasprintf("%s/%zu", dir, i);
}

/* Returns the name under which to stage, owned by the transaction, or NULL. */
static const char *add_entry(
    struct txn *t, unsigned phase, const char *name, bool linked, struct err *err)
{
	const char *staged = NULL;
	if (check_name(t, name, err) < 0)
		return NULL;
	pthread_mutex_lock(&t->mutex);
	if (t->stage || make_stage(t, err) == 0) {
		if (!(t->n & (t->n + 1)))
			t->v = xreallocarray(t->v, 2 * (t->n + 1), sizeof *t->v);
		struct entry *e = &t->v[t->n];
		*e = (struct entry){.phase = phase,
		    .linked = linked,
		    .name = xstrdup(name),
		    .staged = stage_name(t)};
		staged = e->staged;
		t->n++;
	}
	pthread_mutex_unlock(&t->mutex);
	return staged;
}

int txn_create(struct txn *t, unsigned phase, const char *name, struct err *err)
{
	const char *staged = add_entry(t, phase, name, false, err);
	if (!staged)
		return -1;
	int fd = txn_fault("open") < 0
		     ? -1
		     : open(staged, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(err, "cannot create '%s'", staged);
	fchmod(fd, 0644); /* whatever the umask; a failure shows when the file is served */
	return fd;
}

int txn_write(int fd, const void *p, size_t n, const char *name, struct err *err)
{
	for (const char *from = p; n;) {
		ssize_t done = txn_fault("write") < 0 ? -1 : write(fd, from, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_sys(err, "cannot write '%s'", name);
		from += done;
		n -= (size_t)done;
	}
	return 0;
}

int txn_put(
    struct txn *t, unsigned phase, const char *name, const void *p, size_t n, struct err *err)
{
	_close_ int fd = txn_create(t, phase, name, err);
	return fd < 0 ? -1 : txn_write(fd, p, n, name, err);
}

/* Copies inside the kernel; *n becomes what is left to do by reading and writing. */
static int kernel_copy(int fd, int in, off_t *from, size_t *n, const char *name, struct err *err)
{
	while (*n) {
		if (txn_fault("write") < 0)
			return err_sys(err, "cannot write '%s'", name);
		size_t ask = *n < (size_t)1 << 30 ? *n : (size_t)1 << 30;
		ssize_t done = copy_file_range(in, from, fd, NULL, ask, 0);
		if (done < 0 && (errno == ENOSPC || errno == EIO || errno == EDQUOT))
			return err_sys(err, "cannot write '%s'", name);
		if (done <= 0)
			return 0;
		*n -= (size_t)done;
	}
	return 0;
}

int txn_write_range(int fd, int in, off_t from, size_t n, const char *name, struct err *err)
{
	char block[65536];
	/* A small file is read and written faster than the kernel copies it. */
	if (n > sizeof block && kernel_copy(fd, in, &from, &n, name, err) < 0)
		return -1;
	while (n) {
		ssize_t got = pread(in, block, n < sizeof block ? n : sizeof block, from);
		if (got < 0)
			return err_sys(err, "cannot read for '%s'", name);
		if (got == 0)
			return err_set(
			    err, ERR_SYSTEM, "a file shrank while '%s' was copied", name);
		if (txn_write(fd, block, (size_t)got, name, err) < 0)
			return -1;
		from += got;
		n -= (size_t)got;
	}
	return 0;
}

int txn_copy(struct txn *t, unsigned phase, const char *name, const char *from, struct err *err)
{
	struct stat st;
	_close_ int in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0 || fstat(in, &st) < 0)
		return err_sys(err, "cannot read '%s'", from);
	_close_ int fd = txn_create(t, phase, name, err);
	return fd < 0 ? -1 : txn_write_range(fd, in, 0, (size_t)st.st_size, name, err);
}

/* A file without a name in the folder of path; -1 if the file system cannot make one. */
static int create_unnamed(const char *path, struct err *err)
{
	_free_ char *dir = path_dir(path);
	int fd = open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644);
	if (fd < 0 && errno == ENOENT && path_mkdirs(dir, err) == 0)
		fd = open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644);
	if (fd >= 0)
		fchmod(fd, 0644);
	return fd;
}

static int give_name(int fd, const char *path)
{
	char self[40];
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	return txn_fault("link") < 0 ? -1
				     : linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* 0 if the copy has its name, 1 if it must be staged instead. */
static int place_copy(const char *name, const char *path, const char *from, struct err *err)
{
	struct stat st;
	_close_ int fd = create_unnamed(path, NULL);
	if (fd < 0)
		return 1;
	_close_ int in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0 || fstat(in, &st) < 0)
		return err_sys(err, "cannot read '%s'", from);
	if (txn_write_range(fd, in, 0, (size_t)st.st_size, name, err) < 0)
		return -1;
	if (give_name(fd, path) == 0)
		return 0;
	if (errno == ENOSPC || errno == EDQUOT || errno == EIO)
		return err_sys(err, "cannot create '%s'", path);
	return 1;
}

static int try_link(const char *path, const char *from)
{
	return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* As place_copy. Anything that prevents a link leaves the copy to be tried. */
static int place_link(const char *path, const char *from, struct err *err)
{
	if (txn_fault("link") < 0)
		return err_sys(err, "cannot create '%s'", path);
	if (try_link(path, from) == 0)
		return 0;
	if (errno != ENOENT)
		return 1;
	return path_mkdirs_for(path, err) < 0 ? -1 : try_link(path, from) < 0;
}

/* Folders that were made for a file that did not come to stay; one that is not empty stays. */
static void remove_empty_parents(const struct txn *t, const char *path)
{
	_free_ char *dir = xstrdup(path);
	for (char *slash; (slash = strrchr(dir, '/')) > dir + strlen(t->root);) {
		*slash = '\0';
		if (rmdir(dir) < 0)
			return;
	}
}

static void remove_placed(struct txn *t, size_t i)
{
	_free_ char *path = path_join(t->root, t->placed.v[i]);
	unlink(path); /* an unused file in the pool is no harm */
	remove_empty_parents(t, path);
}

int txn_place(struct txn *t, unsigned phase, const char *name, const char *from, bool may_link,
    struct err *err)
{
	_free_ char *path = path_join(t->root, name);
	if (check_name(t, name, err) < 0)
		return -1;
	int rc = may_link ? place_link(path, from, err) : 1;
	if (rc == 1)
		rc = place_copy(name, path, from, err);
	if (rc == 1)
		return txn_copy(t, phase, name, from, err);
	if (rc < 0) {
		remove_empty_parents(t, path);
		return -1;
	}
	pthread_mutex_lock(&t->mutex);
	strv_add(&t->placed, name);
	pthread_mutex_unlock(&t->mutex);
	return 0;
}

static int stage_link(
    struct txn *t, unsigned phase, const char *name, const char *existing, struct err *err)
{
	const char *staged = add_entry(t, phase, name, true, err);
	if (!staged)
		return -1;
	if (txn_fault("link") < 0 || link(existing, staged) < 0)
		return err_sys(err, "cannot link '%s' to '%s'", existing, name);
	return 0;
}

int txn_link_staged(
    struct txn *t, unsigned phase, const char *name, const char *staged, struct err *err)
{
	for (size_t i = t->n; i-- > 0;) {
		if (strcmp(t->v[i].name, staged))
			continue;
		_free_ char *existing = xstrdup(t->v[i].staged);
		return stage_link(t, phase, name, existing, err);
	}
	return err_set(err, ERR_SYSTEM, "'%s' was never staged", staged);
}

int txn_link(struct txn *t, unsigned phase, const char *name, const char *existing, struct err *err)
{
	_free_ char *full = path_join(t->root, existing);
	return stage_link(t, phase, name, full, err);
}

void txn_unstage(struct txn *t, const char *name)
{
	for (size_t i = t->n; i-- > 0;) {
		struct entry *e = &t->v[i];
		if (strcmp(e->name, name))
			continue;
		unlink(e->staged); /* what stays goes with the folder */
		free(e->name);
		free(e->staged);
		memmove(e, e + 1, (--t->n - i) * sizeof *e);
	}
	for (size_t i = t->placed.n; i-- > 0;) {
		if (strcmp(t->placed.v[i], name))
			continue;
		remove_placed(t, i);
		free(t->placed.v[i]);
		memmove(&t->placed.v[i], &t->placed.v[i + 1],
		    (t->placed.n-- - i) * sizeof *t->placed.v); /* with the NULL at the end */
	}
}

void txn_remove(struct txn *t, const char *name)
{
	strv_add(&t->removed, name);
}

static int sync_path(const char *path, int flags, struct err *err)
{
	_close_ int fd = open(path, flags | O_CLOEXEC);
	if (fd < 0 || timed_sync(fd, fsync) < 0)
		return err_sys(err, "cannot make '%s' durable", path);
	return 0;
}

static int sync_fs(const struct txn *t, struct err *err)
{
	_close_ int fd = open(t->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || timed_sync(fd, syncfs) < 0)
		return err_sys(err, "cannot make '%s' durable", t->root);
	return 0;
}

static int sync_staged(const struct txn *t, struct err *err)
{
	if (t->n + t->placed.n >= SYNCFS_FROM)
		return sync_fs(t, err);
	for (size_t i = 0; i < t->placed.n; i++) {
		_free_ char *path = path_join(t->root, t->placed.v[i]);
		if (sync_path(path, O_RDONLY, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < t->n; i++)
		if (!t->v[i].linked && sync_path(t->v[i].staged, O_RDONLY, err) < 0)
			return -1;
	return 0;
}

/* The folder of name and all above it inside the root: a new one must be durable in its parent. */
static void add_parents(const char *name, struct strv *dirs)
{
	size_t n = (size_t)(path_base(name) - name);
	const char *last = dirs->n ? dirs->v[dirs->n - 1] : NULL;
	if (last && n && strlen(last) == n - 1 && !strncmp(last, name, n - 1))
		return; /* as for the file before */
	strv_add(dirs, ".");
	for (size_t i = 0; i < n; i++)
		if (name[i] == '/')
			strv_take(dirs, xstrndup(name, i));
}

static int sync_dirs(const struct txn *t, struct strv *dirs, struct err *err)
{
	strv_uniq(dirs);
	if (dirs->n >= SYNCFS_FROM)
		return sync_fs(t, err);
	for (size_t i = 0; i < dirs->n; i++) {
		_free_ char *full = path_join(t->root, dirs->v[i]);
		if (sync_path(full, O_RDONLY | O_DIRECTORY, err) < 0)
			return -1;
	}
	return 0;
}

static int commit_phase(struct txn *t, unsigned phase, struct strv *dirs, struct err *err)
{
	for (size_t i = 0; i < t->n; i++) {
		struct entry *e = &t->v[i];
		if (e->phase != phase)
			continue;
		_free_ char *full = path_join(t->root, e->name);
		if (path_mkdirs_for(full, err) < 0)
			return -1;
		if (txn_fault("rename") < 0 || rename(e->staged, full) < 0)
			return err_sys(err, "cannot rename a file to '%s'", full);
		add_parents(e->name, dirs);
	}
	return 0;
}

static int commit_phases(struct txn *t, unsigned from, unsigned to, struct err *err)
{
	_cleanup_(strv_done) struct strv dirs = STRV_INIT;
	for (size_t i = 0; from == 0 && i < t->placed.n; i++)
		add_parents(t->placed.v[i], &dirs);
	for (unsigned phase = from; phase < to; phase++)
		if (commit_phase(t, phase, &dirs, err) < 0)
			return -1;
	return sync_dirs(t, &dirs, err);
}

int txn_commit(struct txn *t, struct err *err)
{
	for (size_t i = 0; i < t->removed.n; i++)
		if (check_name(t, t->removed.v[i], err) < 0)
			return -1;
	if (sync_staged(t, err) < 0)
		return -1;
	unsigned end = 0;
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].phase >= end)
			end = t->v[i].phase + 1;
	unsigned barrier = end < TXN_BARRIER ? end : TXN_BARRIER;
	if (commit_phases(t, 0, barrier, err) < 0)
		return -1;
	t->committed = true; /* from here on an index may name what was placed */
	if (commit_phases(t, barrier, end, err) < 0)
		return -1;
	for (size_t i = 0; i < t->removed.n; i++) {
		_free_ char *full = path_join(t->root, t->removed.v[i]);
		if ((txn_fault("unlink") < 0 || unlink(full) < 0) && errno != ENOENT)
			return err_sys(err, "cannot remove '%s'", full);
	}
	return 0;
}

void txn_free(struct txn *t)
{
	if (!t)
		return;
	if (t->stage && path_remove_tree(t->stage, NULL) < 0)
		(void)0; /* txn_sweep takes what is left */
	for (size_t i = 0; !t->committed && i < t->placed.n; i++)
		remove_placed(t, i);
	strv_done(&t->placed);
	pthread_mutex_destroy(&t->mutex);
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i].name);
		free(t->v[i].staged);
	}
	free(t->v);
	strv_done(&t->removed);
	free(t->stage);
	free(t->root);
	free(t);
}

int txn_sweep(const char *root, struct err *err)
{
	if (!path_is_dir(root))
		return 0;
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_list(root, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		if (!str_starts(names.v[i], STAGE_PREFIX))
			continue;
		_free_ char *full = path_join(root, names.v[i]);
		if (path_remove_tree(full, err) < 0)
			return -1;
	}
	return 0;
}
