/* Private to deb/: the outer archive of a .deb, ar with BSD names as dpkg-deb writes it. */
#pragma once
#include "../base/compat.h"
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct deb_member;
struct err;
struct outfile;

/* One member to write: size bytes at p, or all of the file fd when p is NULL. */
struct ar_part {
	const char *name; /* at most 16 characters */
	const void *p;
	size_t size;
	int fd;
};

/* Writes a whole archive into out; every member root:root, mode 0644 and of this time. */
int ar_write(struct outfile *out, const struct ar_part *parts, size_t n, time_t mtime,
    struct err *err) _must_check_;
