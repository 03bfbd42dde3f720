/*
 * Many files published as one change: everything is staged and made durable under temporary
 * names first; commit then renames in the order in which files were added, and fsyncs the
 * folders of each phase before the next begins. A kill at any instant leaves each name with its
 * old or its new bytes, and no name of a later phase new while one of an earlier is old.
 *
 *	struct txn *t = txn_new(root);
 *	txn_put(t, 0, "pool/a/a_1.deb", ...);   phase 0 before 1 before 2 ...
 *	txn_put(t, 1, "dists/stable/Release.gpg", ...);
 *	txn_put(t, 2, "dists/stable/InRelease", ...);
 *	if (txn_commit(t, err) < 0) ...
 *	txn_free(t);                            without a commit: staged files are removed
 *
 * Paths are relative to root. Leftovers of a killed run are removed by txn_sweep.
 * DEBKIT_FAULT=N[:ENOSPC|:EIO|:kill] makes the N-th open, mkdir, write, rename, fsync or unlink
 * of the process fail or kill it: the one place of fault injection, for tests.
 */
#pragma once
#include "compat.h"
#include <stddef.h>

struct err;
struct txn;

struct txn *txn_new(const char *root) _malloc_;
/* Stages bytes. */
int txn_put(struct txn *t, unsigned phase, const char *name, const void *p, size_t n,
    struct err *err) _must_check_;
/* Stages a copy of a file, by reflink or copy_file_range where the file systems allow it. */
int txn_copy(struct txn *t, unsigned phase, const char *name, const char *from,
    struct err *err) _must_check_;
/* Removes a name after all phases have been committed; absent is success, a name outside the root
 * fails the commit before it changes anything. */
void txn_remove(struct txn *t, const char *name);
int txn_commit(struct txn *t, struct err *err) _must_check_;
void txn_free(struct txn *t); /* accepts NULL */
/* Removes temporary files that a killed run left in root (the caller holds the lock). */
int txn_sweep(const char *root, struct err *err) _must_check_;
/* The fault counter: call before a system call of the named kind; -1 with errno set to fail. */
int txn_fault(const char *call);
