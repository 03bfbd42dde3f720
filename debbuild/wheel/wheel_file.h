/* The bytes of a wheel at any offset: from a local file, or from the index by range requests. */
#pragma once
#include "../../lib/base/compat.h"
#include <stdint.h>

struct buf;
struct err;
struct index;
struct wheel_pin;

struct wheel_file {
	struct index *x;
	const char *url; /* NULL: fd is a local file */
	int fd;
	uint64_t size;
};
#define WHEEL_FILE_INIT                                                                            \
	{                                                                                          \
		.x = NULL, .url = NULL, .fd = -1, .size = 0                                        \
	}

/* A local file must have pin->size bytes if that is not 0; a remote one of size 0 is asked. */
int wheel_file_open(struct wheel_file *f, struct index *x, const struct wheel_pin *pin,
    struct err *err) _must_check_;
/* Appends exactly n bytes from offset. arg is the wheel_file. */
int wheel_file_read(
    void *arg, uint64_t offset, uint64_t n, struct buf *out, struct err *err) _must_check_;
void wheel_file_done(struct wheel_file *f);
