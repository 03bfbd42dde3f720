#include "txn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "err.h"
#include "path.h"
#include "strv.h"
#include "xalloc.h"

/* Staged files lie in ROOT/.debkit-txn-XXXXXX until commit renames them. */
#define STAGE_PREFIX ".debkit-txn-"
/* From this many files on, one syncfs is cheaper than an fsync for each. */
#define SYNCFS_FROM 32

struct entry {
	unsigned phase;
	char *name, *staged;
};

struct txn {
	char *root, *stage;
	struct entry *v;
	size_t n;
	struct strv removed;
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

struct txn *txn_new(const char *root)
{
	struct txn *t = xcalloc(1, sizeof *t);
	t->root = xstrdup(root);
	return t;
}

static int check_name(const struct txn *t, const char *name, struct err *err)
{
	if (path_is_safe_member(name))
		return 0;
	return err_set(err, ERR_FORMAT, "'%s' is no name inside '%s'", name, t->root);
}

static struct entry *add_entry(struct txn *t, unsigned phase, const char *name, struct err *err)
{
	if (check_name(t, name, err) < 0)
		return NULL;
	if (!t->stage) {
		_free_ char *tmpl = xasprintf("%s/" STAGE_PREFIX "XXXXXX", t->root);
		if (path_mkdirs(t->root, err) < 0)
			return NULL;
		if (txn_fault("mkdir") < 0 || !mkdtemp(tmpl)) {
			err_sys(err, "cannot make a folder in '%s'", t->root);
			return NULL;
		}
		t->stage = take_ptr(tmpl);
	}
	if (!(t->n & (t->n + 1)))
		t->v = xreallocarray(t->v, 2 * (t->n + 1), sizeof *t->v);
	struct entry *e = &t->v[t->n];
	*e = (struct entry){
	    .phase = phase, .name = xstrdup(name), .staged = xasprintf("%s/%zu", t->stage, t->n)};
	t->n++;
	return e;
}

static int create(const struct entry *e, struct err *err)
{
	int fd = txn_fault("open") < 0
		     ? -1
		     : open(e->staged, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(err, "cannot create '%s'", e->staged);
	fchmod(fd, 0644); /* whatever the umask; a failure shows when the file is served */
	return fd;
}

static int write_all(int fd, const void *p, size_t n, const char *name, struct err *err)
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
	struct entry *e = add_entry(t, phase, name, err);
	if (!e)
		return -1;
	_close_ int fd = create(e, err);
	return fd < 0 ? -1 : write_all(fd, p, n, name, err);
}

int txn_copy(struct txn *t, unsigned phase, const char *name, const char *from, struct err *err)
{
	_close_ int in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return err_sys(err, "cannot read '%s'", from);
	struct entry *e = add_entry(t, phase, name, err);
	if (!e)
		return -1;
	_close_ int fd = create(e, err);
	if (fd < 0)
		return -1;
	bool kernel_copies = true;
	for (;;) {
		ssize_t n = -1;
		if (kernel_copies) {
			if (txn_fault("write") < 0)
				return err_sys(err, "cannot write '%s'", name);
			n = copy_file_range(in, NULL, fd, NULL, (size_t)1 << 30, 0);
			if (n < 0 && (errno == ENOSPC || errno == EIO || errno == EDQUOT))
				return err_sys(err, "cannot write '%s'", name);
			kernel_copies = n >= 0;
		}
		if (!kernel_copies) {
			char block[65536];
			n = read(in, block, sizeof block);
			if (n < 0)
				return err_sys(err, "cannot read '%s'", from);
			if (write_all(fd, block, (size_t)n, name, err) < 0)
				return -1;
		}
		if (n == 0)
			return 0;
	}
}

void txn_remove(struct txn *t, const char *name)
{
	strv_add(&t->removed, name);
}

static int sync_path(const char *path, int flags, struct err *err)
{
	_close_ int fd = open(path, flags | O_CLOEXEC);
	if (fd < 0 || txn_fault("fsync") < 0 || fsync(fd) < 0)
		return err_sys(err, "cannot make '%s' durable", path);
	return 0;
}

static int sync_fs(const struct txn *t, struct err *err)
{
	_close_ int fd = open(t->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || txn_fault("syncfs") < 0 || syncfs(fd) < 0)
		return err_sys(err, "cannot make '%s' durable", t->root);
	return 0;
}

static int sync_staged(const struct txn *t, struct err *err)
{
	if (t->n >= SYNCFS_FROM)
		return sync_fs(t, err);
	for (size_t i = 0; i < t->n; i++)
		if (sync_path(t->v[i].staged, O_RDONLY, err) < 0)
			return -1;
	return 0;
}

/* The folder of name and all above it inside the root: a new one must be durable in its parent. */
static void add_parents(const char *name, struct strv *dirs)
{
	_free_ char *dir = path_dir(name);
	while (strcmp(dir, ".")) {
		strv_add(dirs, dir);
		char *up = path_dir(dir);
		free(dir);
		dir = up;
	}
	strv_add(dirs, ".");
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

static int commit_phase(struct txn *t, unsigned phase, struct err *err)
{
	_cleanup_(strv_done) struct strv dirs = STRV_INIT;
	for (size_t i = 0; i < t->n; i++) {
		struct entry *e = &t->v[i];
		if (e->phase != phase)
			continue;
		_free_ char *full = path_join(t->root, e->name);
		if (path_mkdirs_for(full, err) < 0)
			return -1;
		if (txn_fault("rename") < 0 || rename(e->staged, full) < 0)
			return err_sys(err, "cannot rename a file to '%s'", full);
		add_parents(e->name, &dirs);
	}
	return sync_dirs(t, &dirs, err);
}

int txn_commit(struct txn *t, struct err *err)
{
	for (size_t i = 0; i < t->removed.n; i++)
		if (check_name(t, t->removed.v[i], err) < 0)
			return -1;
	if (sync_staged(t, err) < 0)
		return -1;
	unsigned last = 0;
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].phase > last)
			last = t->v[i].phase;
	for (unsigned phase = 0; t->n && phase <= last; phase++)
		if (commit_phase(t, phase, err) < 0)
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
