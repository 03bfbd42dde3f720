#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "../../lib/base/intr.h"
#include "../../lib/base/lock.h"

/* Ends of pipes through which a child says that it waits. */
static int tell;

static void say_waiting(const char *path)
{
	assert_int_equal(write(tell, "w", 1), 1);
}

static void lock_excludes_and_is_let_go(void **state)
{
	struct unit *u = *state;
	const char *path = unit_path(u, "lock");
	int fd = -1, other = 77;
	assert_int_equal(lock_take(path, false, NULL, &fd, &u->err), 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(lock_take(path, false, NULL, &other, &u->err), -1);
	unit_error(u, ERR_CONFLICT,
	    arena_printf(
		&u->a, "another debkit works here: '%s' is locked; wait for it to end", path));
	assert_int_equal(other, 77);
	close(fd);
	assert_true(path_exists(path));
	assert_int_equal(lock_take(path, false, NULL, &fd, &u->err), 0);
	close(fd);
}

static void lock_in_no_folder(void **state)
{
	struct unit *u = *state;
	const char *path = unit_path(u, "none/lock");
	int fd;
	assert_int_equal(lock_take(path, true, NULL, &fd, &u->err), -1);
	unit_error(u, ERR_SYSTEM,
	    arena_printf(&u->a, "cannot open the lock '%s': No such file or directory", path));
}

/*
 * Waits for the lock in a child; its status is 0, or the code of the error. held is the
 * parent's descriptor, which would hold the lock in the child too.
 */
static pid_t wait_in_child(const char *path, int held)
{
	int ends[2];
	char c;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct err err = {0};
		int fd;
		close(held);
		tell = ends[1];
		intr_install();
		alarm(30); /* ends a child that waits for ever */
		_exit(lock_take(path, true, say_waiting, &fd, &err) < 0 ? (int)err.code : 0);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &c, 1), 1);
	close(ends[0]);
	return pid;
}

static int status_of(pid_t pid)
{
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void waiter_gets_the_lock_next(void **state)
{
	struct unit *u = *state;
	const char *path = unit_path(u, "lock");
	int fd;
	assert_int_equal(lock_take(path, false, NULL, &fd, &u->err), 0);
	pid_t pid = wait_in_child(path, fd);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	close(fd);
	assert_int_equal(status_of(pid), 0);
}

/* True once the child sleeps, which it does in flock(2) alone. */
static bool sleeps(struct unit *u, pid_t pid)
{
	for (int i = 0; i < 1000; i++) {
		const char *stat = unit_read(u, arena_printf(&u->a, "/proc/%d/stat", (int)pid));
		if (str_starts(strrchr(stat, ')'), ") S"))
			return true;
		usleep(10000);
	}
	return false;
}

static void signal_ends_the_wait(void **state)
{
	struct unit *u = *state;
	const char *path = unit_path(u, "lock");
	int fd;
	assert_int_equal(lock_take(path, false, NULL, &fd, &u->err), 0);
	pid_t pid = wait_in_child(path, fd);
	assert_true(sleeps(u, pid));
	assert_int_equal(kill(pid, SIGINT), 0);
	assert_int_equal(status_of(pid), ERR_INTERRUPT);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(lock_excludes_and_is_let_go),
	    CASE(lock_in_no_folder),
	    CASE(waiter_gets_the_lock_next),
	    CASE(signal_ends_the_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
