#include "wheel_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "pyindex.h"
#include "wheel.h"

static int open_local(struct wheel_file *f, const struct wheel_pin *pin, struct err *err)
{
	struct stat st;
	f->fd = open(pin->path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0 || fstat(f->fd, &st) < 0)
		return err_sys(err, "cannot read '%s'", pin->path);
	f->size = (uint64_t)st.st_size;
	if (pin->size && pin->size != f->size)
		return err_set(err, ERR_FORMAT, "'%s' has %llu bytes, expected %llu", pin->path,
		    (unsigned long long)f->size, (unsigned long long)pin->size);
	return 0;
}

int wheel_file_open(
    struct wheel_file *f, struct index *x, const struct wheel_pin *pin, struct err *err)
{
	if (!pin->url)
		return open_local(f, pin, err);
	f->x = x;
	f->url = pin->url;
	f->size = pin->size;
	return f->size ? 0 : index_size(x, f->url, &f->size, err);
}

int wheel_file_read(void *arg, uint64_t offset, uint64_t n, struct buf *out, struct err *err)
{
	struct wheel_file *f = arg;
	if (n > f->size || offset > f->size - n)
		return err_set(err, ERR_FORMAT, "it ends at byte %llu, %llu more were to follow",
		    (unsigned long long)f->size,
		    (unsigned long long)(offset > f->size ? n : offset + n - f->size));
	if (f->url)
		return index_range(f->x, f->url, offset, n, out, err);
	char *to = buf_reserve(out, n);
	if (!to)
		return buf_check(out, "a part of it", err);
	for (uint64_t done = 0; done < n;) {
		ssize_t r = pread(f->fd, to + done, n - done, (off_t)(offset + done));
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_sys(err, "cannot read it");
		if (r == 0)
			return err_set(err, ERR_FORMAT, "it became shorter while it was read");
		done += (uint64_t)r;
	}
	out->len += n;
	out->data[out->len] = '\0';
	return 0;
}

void wheel_file_done(struct wheel_file *f)
{
	close_fd(&f->fd);
	f->fd = -1;
}
