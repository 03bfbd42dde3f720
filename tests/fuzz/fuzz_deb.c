/* A package as it comes, and once more with the checksums of its plain tars put right. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/deb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct deb_info *info)
{
	if (!stanza_get(&info->control, "Package") || info->n_members < 3)
		abort();
	for (size_t i = 0; i < info->n_members; i++)
		if (info->members[i].offset + info->members[i].size > info->size)
			abort();
	for (size_t i = 0; i < info->n_files; i++) {
		const struct deb_file *f = &info->files[i];
		if (!path_is_safe_member(f->path) || !strchr("fdlh", f->type))
			abort();
		if (f->type == 'h' && !path_is_safe_member(f->link))
			abort();
	}
}

static void run(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[64];
	if (fd < 0)
		fd = memfd_create("deb", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct deb_info info;
	struct err err = {0};
	if (deb_read(&a, path, DEB_READ_FILES | DEB_READ_SIGNED, NULL, NULL, &info, &err) == 0)
		check(&info);
	else if (err.code != ERR_FORMAT)
		abort();
}

static size_t number(const uint8_t *p, size_t width, unsigned base)
{
	char text[16] = {0};
	memcpy(text, p, width);
	return strtoul(text, NULL, (int)base) & 0xffffff;
}

static void mend_tar(uint8_t *p, size_t n)
{
	while (n >= 512) {
		unsigned sum = 0;
		memset(p + 148, ' ', 8);
		for (size_t i = 0; i < 512; i++)
			sum += p[i];
		if (sum == 8 * ' ') { /* the end mark */
			memset(p + 148, 0, 8);
			return;
		}
		snprintf((char *)p + 148, 8, "%06o", sum);
		size_t next = 512 + (number(p + 124, 12, 8) + 511) / 512 * 512;
		if (next > n)
			return;
		p += next;
		n -= next;
	}
}

static void mend(uint8_t *p, size_t n)
{
	for (size_t at = 8; at + 60 <= n;) {
		size_t size = number(p + at + 48, 10, 10);
		if (size > n - at - 60)
			return;
		if (!memcmp(p + at + 3, "trol.tar ", 9) || !memcmp(p + at, "data.tar ", 9))
			mend_tar(p + at + 60, size);
		at += 60 + size + (size & 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run(data, size);
	_free_ uint8_t *copy = xmalloc(size + 1);
	memcpy(copy, data, size);
	mend(copy, size);
	run(copy, size);
	return 0;
}
