/*
 * A folder of files that appears under its name by one rename, complete, or not at all. Until
 * then it is PATH.part; what a killed run left there is removed. Two processes that want the same
 * folder need a lock of their own.
 *
 *	_cleanup_(newdir_done) struct newdir d = NEWDIR_INIT;
 *	newdir_open(&d, "cache/sdk", err);
 *	newdir_create(&d, "include/a.h", 0644, err); newdir_write(&d, ...); newdir_finish(&d, ...);
 *	return newdir_commit(&d, err);
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/digest.h"
#include <stddef.h>
#include <sys/types.h>

struct err;

struct newdir {
	char *path, *tmp; /* tmp is path.part */
	char *folder;	  /* the last one made */
	char *file;	  /* the one being written, or NULL */
	int fd;
	struct digest *digest;
};
#define NEWDIR_INIT                                                                                \
	{                                                                                          \
		.path = NULL, .tmp = NULL, .folder = NULL, .file = NULL, .fd = -1, .digest = NULL  \
	}

int newdir_open(struct newdir *d, const char *path, struct err *err) _must_check_;
/* Begins a file; name is relative and safe (path_is_safe_member), and new. */
int newdir_create(struct newdir *d, const char *name, mode_t mode, struct err *err) _must_check_;
/* arg is the newdir, so that this may be a callback. */
int newdir_write(void *arg, const void *p, size_t n, struct err *err) _must_check_;
/* Ends the file; hex gets its hash. */
int newdir_finish(struct newdir *d, char hex[SHA256_HEX], struct err *err) _must_check_;
/* Makes all durable and renames; an empty folder is replaced, another is ERR_CONFLICT. */
int newdir_commit(struct newdir *d, struct err *err) _must_check_;
/* Removes what was not committed. */
void newdir_done(struct newdir *d);
