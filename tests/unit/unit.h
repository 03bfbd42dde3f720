/*
 * What unit tests share: a folder of their own, whole files in one call, golden files.
 *
 *	CASE(fn) runs fn with a struct unit in *state; the folder goes with the test.
 */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"

#define UNIT_FILE_MAX ((size_t)8 << 20)

struct unit {
	char dir[32];
	struct arena a;
	struct err err;
};

static inline int unit_setup_in(void **state, const char *where)
{
	struct unit *u = xcalloc(1, sizeof *u);
	*state = u;
	snprintf(u->dir, sizeof u->dir, "%s/debkit-unit.XXXXXX", where);
	return mkdtemp(u->dir) ? 0 : -1;
}

static inline int unit_setup(void **state)
{
	return unit_setup_in(state, "/tmp");
}

/* In memory where there is such a place: for tests that call fsync a thousand times. */
static inline int unit_setup_memory(void **state)
{
	return unit_setup_in(state, access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}

static inline int unit_teardown(void **state)
{
	struct unit *u = *state;
	int rc = path_remove_tree(u->dir, &u->err);
	arena_done(&u->a);
	free(u);
	return rc;
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, unit_setup, unit_teardown)

/* A name in the test's folder; lives in its arena. */
static inline const char *unit_path(struct unit *u, const char *name)
{
	return arena_printf(&u->a, "%s/%s", u->dir, name);
}

/* Writes a file in the test's folder with stdio alone, and returns its path. */
static inline const char *unit_put(struct unit *u, const char *name, const char *text)
{
	const char *path = unit_path(u, name);
	struct err err = {0};
	if (path_mkdirs_for(path, &err) < 0)
		fail_msg("%s", err.msg);
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	return path;
}

/* The text of a file, which must be there; lives in the test's arena. */
static inline const char *unit_read(struct unit *u, const char *path)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(UNIT_FILE_MAX);
	struct err err = {0};
	if (path_read(path, &b, &err) < 0)
		fail_msg("%s", err.msg);
	return arena_strdup(&u->a, buf_str(&b));
}

/* What a shell command writes, without the last newline: how judges are asked. */
static inline const char *unit_sh(struct unit *u, const char *command)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(UNIT_FILE_MAX);
	char *argv[] = {"sh", "-c", (char *)command, NULL};
	struct err err = {0};
	if (proc_run(&(struct proc_spec){.argv = argv, .dir = u->dir, .out = &b},
		&(struct proc_result){0}, &err) < 0)
		fail_msg("%s", err.msg);
	if (b.len && b.data[b.len - 1] == '\n')
		buf_truncate(&b, b.len - 1);
	return arena_strdup(&u->a, buf_str(&b));
}

/* Fails unless the error has that code and text; forgets it. */
static inline void unit_error(struct unit *u, enum err_code code, const char *msg)
{
	assert_string_equal(u->err.msg, msg);
	assert_int_equal(u->err.code, code);
	err_clear(&u->err);
}

/* Fails unless the file tests/golden/NAME has these bytes; UPDATE_GOLDEN=1 writes it anew. */
static inline void unit_golden(struct unit *u, const char *name, const struct buf *got)
{
	const char *path = arena_printf(&u->a, "tests/golden/%s", name);
	if (getenv("UPDATE_GOLDEN")) {
		FILE *f = fopen(path, "we");
		assert_non_null(f);
		assert_int_equal(fwrite(buf_str(got), 1, got->len, f), got->len);
		assert_int_equal(fclose(f), 0);
	}
	_cleanup_(buf_done) struct buf want = BUF_INIT(UNIT_FILE_MAX);
	if (path_read(path, &want, &u->err) < 0)
		fail_msg("%s", u->err.msg);
	unsigned line = 1;
	for (size_t i = 0; i < got->len || i < want.len; i++) {
		if (i == got->len || i == want.len || got->data[i] != want.data[i])
			fail_msg("%s:%u differs (UPDATE_GOLDEN=1 renews it)", path, line);
		line += got->data[i] == '\n';
	}
}
