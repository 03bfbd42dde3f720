/*
 * Many files published as one change: everything is staged and made durable under temporary
 * names first; commit then renames phase by phase, in the order in which files were added. A kill
 * at any instant leaves each name with its old or its new bytes, and no name of a later phase
 * new while one of an earlier is old. Where the power fails the same holds between the phases
 * below TXN_BARRIER and those from it on: the folders of the former are durable first.
 *
 *	struct txn *t = txn_new(root);
 *	txn_put(t, 0, "pool/a/a_1.deb", ...);   phase 0 before 1 before 2 ...
 *	txn_put(t, TXN_BARRIER, "dists/stable/Release.gpg", ...);
 *	txn_put(t, TXN_BARRIER + 1, "dists/stable/InRelease", ...);
 *	if (txn_commit(t, err) < 0) ...
 *	txn_free(t);                            without a commit: staged files are removed
 *
 * Paths are relative to root. Leftovers of a killed run are removed by txn_sweep. Few files are
 * made durable one by one, many with one syncfs.
 * DEBKIT_FAULT=N[:ENOSPC|:EIO|:kill] makes the N-th open, write, rename, fsync, link, mkdir or
 * unlink of the process fail or kill it: the one place of fault injection, for tests.
 */
#pragma once
#include "compat.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
struct txn;

#define TXN_BARRIER 8

struct txn *txn_new(const char *root) _malloc_;
/* Stages bytes. All calls that stage are safe in several threads; the other calls are not. */
int txn_put(struct txn *t, unsigned phase, const char *name, const void *p, size_t n,
    struct err *err) _must_check_;
/* Stages a copy of a file, by reflink or copy_file_range where the file systems allow it. */
int txn_copy(struct txn *t, unsigned phase, const char *name, const char *from,
    struct err *err) _must_check_;
/* Stages a new file that the caller writes with txn_write; returns a descriptor to close, or -1. */
int txn_create(struct txn *t, unsigned phase, const char *name, struct err *err) _must_check_;
int txn_write(int fd, const void *p, size_t n, const char *name, struct err *err) _must_check_;
/* Appends n bytes at offset from of in, by the kernel's own copying where it can. */
int txn_write_range(
    int fd, int in, off_t from, size_t n, const char *name, struct err *err) _must_check_;
/* A further name (a hard link) for a file that was staged under the name staged. */
int txn_link_staged(struct txn *t, unsigned phase, const char *name, const char *staged,
    struct err *err) _must_check_;
/* A further name for a file that lies in the root already, under the name existing. */
int txn_link(struct txn *t, unsigned phase, const char *name, const char *existing,
    struct err *err) _must_check_;
/*
 * Copies a file to a name that nobody looks for before a later phase tells of it (a package in a
 * pool), at once; it becomes durable with the staged files, and goes again if there is no commit.
 * A name that is taken already is replaced at the commit, as by txn_copy. With may_link it may be a
 * hard link: for files that nobody changes in place.
 */
int txn_place(struct txn *t, unsigned phase, const char *name, const char *from, bool may_link,
    struct err *err) _must_check_;
/* Takes a staged or placed file back; a name that was neither is no error. */
void txn_unstage(struct txn *t, const char *name);
/* Removes a name after all phases have been committed; absent is success, a name outside the root
 * fails the commit before it changes anything. */
void txn_remove(struct txn *t, const char *name);
int txn_commit(struct txn *t, struct err *err) _must_check_;
void txn_free(struct txn *t); /* accepts NULL */
/* Removes temporary files that a killed run left in root (the caller holds the lock). */
int txn_sweep(const char *root, struct err *err) _must_check_;
/* How often this process waited for the disk (fsync, syncfs), and for how long. */
struct txn_waits {
	unsigned n;
	double seconds;
};
struct txn_waits txn_waited(void);
/* The fault counter: call before a system call of the named kind; -1 with errno set to fail. */
int txn_fault(const char *call);
