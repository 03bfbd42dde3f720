/*
 * Looking at a machine. Every file and folder that a probe opens is opened here, below one root,
 * and noted, so that a report can say what it rests on. Names are those inside the root.
 *
 *	_cleanup_(arena_done) struct arena a = ARENA_INIT;
 *	struct probe p;
 *	probe_init(&p, &a, "");
 *	if (probe_read(&p, "/etc/os-release", 65536, &text) < 0)
 *		... errno says why
 *	probe_done(&p);
 */
#pragma once
#include "../lib/base/arena.h"
#include "../lib/base/buf.h"
#include "../lib/base/compat.h"
#include "../lib/base/strv.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct stanza_list;

/* The multiarch triplet of the machines that the packages are for. */
#if defined(__aarch64__)
#define PROBE_TRIPLET "aarch64-linux-gnu"
#define PROBE_ARCH    "arm64"
#else
#define PROBE_TRIPLET "x86_64-linux-gnu"
#define PROBE_ARCH    "amd64"
#endif

struct probe {
	struct arena *a;
	const char *root; /* "" for this machine, or a folder without a slash at its end */
	const char *home; /* of the user, or "" */
	struct strv seen; /* what was opened, in order, some of it twice */
	uint64_t skipped; /* files larger than their reader takes */
};

/* home is $HOME; root is kept, not copied. */
void probe_init(struct probe *p, struct arena *a, const char *root);
void probe_done(struct probe *p);

/* The name with the root before it, in the arena. */
const char *probe_path(struct probe *p, const char *name) _must_check_;
/* Appends a regular file; -1 with errno set: ENOENT, EACCES, EFBIG past out's maximum, EINVAL for
 * what is no regular file. Such a file is never opened: a FIFO would wait. */
int probe_read(struct probe *p, const char *name, struct buf *out) _must_check_;
/* The file's text in the arena, at most max bytes, or NULL with errno set. */
const char *probe_text(struct probe *p, const char *name, size_t max) _must_check_;
/* Entries sorted by bytes; -1 with errno set. */
int probe_list(struct probe *p, const char *dir, struct strv *names) _must_check_;
/* Nothing is opened by these. */
bool probe_stat(struct probe *p, const char *name, struct stat *st) _must_check_;
bool probe_is_dir(struct probe *p, const char *name) _must_check_;
bool probe_is_file(struct probe *p, const char *name) _must_check_;
/* Where links lead in the end, as a name inside the root; NULL if nowhere. */
const char *probe_real(struct probe *p, const char *name) _must_check_;
/* For what is opened by others (libarchive, the dynamic loader). */
void probe_note(struct probe *p, const char *name);

/* The text cut into lines in place: the next one, without its end, or NULL. */
char *probe_line(char **text);
/* The value in "KEY=value" or 'KEY = "value"' lines (os-release(5), pyvenv.cfg), in the arena,
 * without quotes; NULL if the key is not there. */
const char *probe_setting(struct probe *p, const char *text, const char *key) _must_check_;
/* A version's first two numbers: "2.10.0+cu128" gives "2.10". In the arena. */
const char *probe_minor(struct arena *a, const char *version) _must_check_;
/* Dotted numbers compared as numbers, "525.60.13" before "525.105"; letters end a number. */
int probe_compare(const char *a, const char *b) _must_check_;
