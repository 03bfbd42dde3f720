/* Names of files, and the small questions one asks of them. */
#pragma once
#include "compat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct err;
struct strv;

/* "dir/name" with one slash between; name absolute: name alone. Owned by the caller. */
char *path_join(const char *dir, const char *name) _malloc_;
/* The last component; points into path. */
const char *path_base(const char *path) _must_check_;
/* All but the last component ("." if there is none). Owned by the caller. */
char *path_dir(const char *path) _malloc_;
/* An absolute name without "." or ".." parts, links kept; the file need not exist. */
char *path_absolute(const char *path, struct err *err) _must_check_;
/* Where a symbolic link leads in the end, for a caller that exchanges the file itself; path if it
 * is no link, or leads nowhere. Owned by the caller. */
char *path_follow(const char *path) _malloc_;
/* Makes the whole file system of a folder durable: for a folder of many new files. */
int path_sync(const char *dir, struct err *err) _must_check_;
/* A relative member name with no empty, "." or ".." part and no NUL or newline: may be joined. */
bool path_is_safe_member(const char *name) _must_check_;
bool path_exists(const char *path) _must_check_;
bool path_is_dir(const char *path) _must_check_;
bool path_is_exec(const char *path) _must_check_; /* a regular file this user may run */

/* mkdir -p with mode 0755 whatever the umask. */
int path_mkdirs(const char *path, struct err *err) _must_check_;
/* mkdir -p of the folder that will hold path. */
int path_mkdirs_for(const char *path, struct err *err) _must_check_;
/* rm -rf; absent is success; never follows a link. */
int path_remove_tree(const char *path, struct err *err) _must_check_;
/* Appends the whole file to b; fails past b's maximum. */
int path_read(const char *path, struct buf *b, struct err *err) _must_check_;
/* Appends the entries of a folder (no "." and ".."), sorted by bytes. */
int path_list(const char *dir, struct strv *names, struct err *err) _must_check_;
/*
 * Appends all regular files and links below dir as names relative to it, sorted by bytes;
 * folders are entered and not listed.
 */
int path_walk(const char *dir, struct strv *names, struct err *err) _must_check_;
/* The first executable NAME in PATH (or the environment's when NULL); NULL if none. */
char *path_find_program(const char *name, const char *search) _must_check_;
/* Copies a regular file's bytes into a new file of mode (0644, 0755); atomic; not fsynced. */
int path_copy(const char *from, const char *to, mode_t mode, struct err *err) _must_check_;
/* Bytes free to this user on the file system that holds path (or its nearest parent). */
int path_free_bytes(const char *path, uint64_t *out, struct err *err) _must_check_;
/* Sets the maximum of a whole-file read where nothing smaller is known. */
#define PATH_READ_MAX ((size_t)64 << 20)

/* $XDG_CACHE_HOME/debkit, ~/.cache/debkit, or $DEBKIT_CACHE. Owned by the caller. */
char *path_cache_dir(struct err *err) _must_check_;
/* Where the templates lie: $DEBKIT_TEMPLATES, beside the program's source, or installed. */
char *path_templates_dir(struct err *err) _must_check_;
