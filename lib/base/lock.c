#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "err.h"
#include "intr.h"

int lock_take(
    const char *path, bool wait, void (*waiting)(const char *path), int *out, struct err *err)
{
	_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(err, "cannot open the lock '%s'", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return err_sys(err, "cannot lock '%s'", path);
		if (!wait)
			return err_set(err, ERR_CONFLICT,
			    "another debkit works here: '%s' is locked; wait for it to end", path);
		if (waiting)
			waiting(path);
		while (flock(fd, LOCK_EX) < 0) {
			if (errno != EINTR)
				return err_sys(err, "cannot lock '%s'", path);
			if (intr_check(err) < 0)
				return -1;
		}
	}
	*out = take_fd(&fd);
	return 0;
}
