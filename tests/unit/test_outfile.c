#include "unit.h"

#include <fcntl.h>

#include "../../lib/base/outfile.h"

#define NO_FILE "'%s' is there and is no regular file: move it away, or name another"

static const char *entries(struct unit *u)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	assert_int_equal(path_list(u->dir, &v, &u->err), 0);
	_free_ char *all = strv_join(&v, " ");
	return arena_strdup(&u->a, all);
}

static void name_is_old_until_commit(void **state)
{
	struct unit *u = *state;
	const char *path = unit_put(u, "f", "old");
	_cleanup_(outfile_done) struct outfile o = OUTFILE_INIT;
	assert_int_equal(outfile_open(&o, path, 0644, &u->err), 0);
	assert_int_equal(outfile_write(&o, "ne", 2, &u->err), 0);
	assert_int_equal(outfile_write(&o, NULL, 0, &u->err), 0);
	assert_int_equal(outfile_write(&o, "w\0x", 3, &u->err), 0);
	assert_string_equal(unit_read(u, path), "old");
	assert_int_equal(outfile_commit(&o, &u->err), 0);
	_cleanup_(buf_done) struct buf b = BUF_INIT(16);
	assert_int_equal(path_read(path, &b, &u->err), 0);
	assert_int_equal(b.len, 5);
	assert_memory_equal(b.data, "new\0x", 5);
	assert_string_equal(entries(u), "f");
}

static void uncommitted_file_leaves_nothing(void **state)
{
	struct unit *u = *state;
	struct outfile o = OUTFILE_INIT;
	outfile_done(&o);
	assert_int_equal(outfile_open(&o, unit_path(u, "f"), 0644, &u->err), 0);
	assert_int_equal(outfile_write(&o, "x", 1, &u->err), 0);
	outfile_done(&o);
	assert_string_equal(entries(u), "");
	assert_int_equal(outfile_open(&o, unit_path(u, "g"), 0644, &u->err), 0);
	assert_int_equal(outfile_commit_cache(&o, &u->err), 0);
	outfile_done(&o);
	assert_string_equal(entries(u), "g");
}

static void mode_is_that_asked_for(void **state)
{
	static const mode_t modes[] = {0644, 0755, 0600};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		const char *path = unit_path(u, "f");
		struct stat st;
		mode_t old = umask(0777);
		int rc = outfile_put(path, modes[i], "x", 1, &u->err);
		umask(old);
		assert_int_equal(rc, 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, modes[i]);
	}
}

static void failures_name_the_file(void **state)
{
	struct unit *u = *state;
	const char *lost = unit_path(u, "none/f"), *dir = unit_path(u, "d");
	assert_int_equal(outfile_put(lost, 0644, "x", 1, &u->err), -1);
	unit_error(u, ERR_SYSTEM,
	    arena_printf(&u->a, "cannot create '%s': No such file or directory", lost));
	unit_put(u, "d/inside", "");
	assert_int_equal(outfile_put(dir, 0644, "x", 1, &u->err), -1);
	unit_error(u, ERR_SYSTEM, arena_printf(&u->a, NO_FILE, dir));
	const char *fifo = unit_path(u, "fifo");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(outfile_put(fifo, 0644, "x", 1, &u->err), -1);
	unit_error(u, ERR_SYSTEM, arena_printf(&u->a, NO_FILE, fifo));
	assert_string_equal(entries(u), "d fifo");
}

static void same_bytes_leave_the_file_alone(void **state)
{
	struct unit *u = *state;
	const char *path = unit_path(u, "f");
	struct stat first, second, third;
	assert_int_equal(outfile_put_if_changed(path, 0644, "abc", 3, &u->err), 0);
	assert_int_equal(stat(path, &first), 0);
	assert_int_equal(outfile_put_if_changed(path, 0644, "abc", 3, &u->err), 0);
	assert_int_equal(stat(path, &second), 0);
	assert_int_equal(first.st_ino, second.st_ino);
	assert_int_equal(outfile_put_if_changed(path, 0644, "abd", 3, &u->err), 0);
	assert_int_equal(stat(path, &third), 0);
	assert_int_not_equal(first.st_ino, third.st_ino);
	assert_int_equal(outfile_put_if_changed(path, 0644, "", 0, &u->err), 0);
	assert_int_equal(outfile_put_if_changed(path, 0644, "", 0, &u->err), 0);
	assert_string_equal(unit_read(u, path), "");
}

/* A link is replaced, what it leads to is left alone. */
static void link_is_not_written_through(void **state)
{
	struct unit *u = *state;
	const char *target = unit_put(u, "target", "abc"), *link = unit_path(u, "link");
	assert_int_equal(symlink("target", link), 0);
	assert_int_equal(outfile_put_if_changed(link, 0644, "abc", 3, &u->err), 0);
	struct stat st;
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(outfile_put(link, 0644, "new", 3, &u->err), 0);
	assert_string_equal(unit_read(u, target), "abc");
}

static void temporary_name_is_not_inherited(void **state)
{
	struct unit *u = *state;
	_cleanup_(outfile_done) struct outfile o = OUTFILE_INIT;
	assert_int_equal(outfile_open(&o, unit_path(u, "f"), 0644, &u->err), 0);
	assert_true(fcntl(o.fd, F_GETFD) & FD_CLOEXEC);
	assert_true(str_starts(entries(u), "f."));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(name_is_old_until_commit),
	    CASE(uncommitted_file_leaves_nothing),
	    CASE(mode_is_that_asked_for),
	    CASE(failures_name_the_file),
	    CASE(same_bytes_leave_the_file_alone),
	    CASE(link_is_not_written_through),
	    CASE(temporary_name_is_not_inherited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
