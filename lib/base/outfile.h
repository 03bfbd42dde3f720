/*
 * One file written so that its name holds the old bytes or all of the new ones, never a part.
 *
 *	_cleanup_(outfile_done) struct outfile o = OUTFILE_INIT;
 *	if (outfile_open(&o, path, 0644, err) < 0 || outfile_write(&o, p, n, err) < 0)
 *		return -1;
 *	return outfile_commit(&o, err);     fsync, rename, fsync of the folder
 *
 * outfile_done removes the temporary file if there was no commit.
 */
#pragma once
#include "compat.h"
#include <stddef.h>
#include <sys/types.h>

struct err;
struct outfile {
	int fd;
	char *path, *tmp;
};
#define OUTFILE_INIT                                                                               \
	{                                                                                          \
		.fd = -1, .path = NULL, .tmp = NULL                                                \
	}

/* Opens a temporary file beside path (O_EXCL); mode is set whatever the umask. A path that is a
 * folder, device or the like is refused, and a link to one; another symbolic link is replaced. */
int outfile_open(struct outfile *o, const char *path, mode_t mode, struct err *err) _must_check_;
int outfile_write(struct outfile *o, const void *p, size_t n, struct err *err) _must_check_;
int outfile_commit(struct outfile *o, struct err *err) _must_check_;
/* As commit without fsync: for what can be made again, such as a cache. */
int outfile_commit_cache(struct outfile *o, struct err *err) _must_check_;
void outfile_done(struct outfile *o);

/* All of it in one call. */
int outfile_put(
    const char *path, mode_t mode, const void *p, size_t n, struct err *err) _must_check_;
/* As outfile_put, but leaves a file alone that holds these bytes already. */
int outfile_put_if_changed(
    const char *path, mode_t mode, const void *p, size_t n, struct err *err) _must_check_;
