/*
 * One member of a wheel, local or remote, read here and there without the whole of it: what lies
 * near its beginning or near its end costs a small part of its bytes, even though deflate is a
 * sequential form (see flate_tail). Nothing is stored on disk.
 *
 *	_cleanup_(peek_done) struct peek p = PEEK_INIT;
 *	peek_open(&p, index, &pin, err);
 *	peek_member(&p, "torch/lib/libtorch_cpu.so", err);
 *	peek_read(&p, 0, 64, &header, err);
 *	peek_read(&p, p.member->size - 4096, 4096, &end, err);
 */
#pragma once
#include "../../lib/base/buf.h"
#include "../../lib/base/compat.h"
#include "wheel_file.h"
#include "zipdir.h"

struct flate;

/* The most that is held of the beginning and of the end of a member, unpacked. */
#define PEEK_HELD_MAX ((size_t)192 << 20)
/* The most that is fetched of the end of a member, packed. */
#define PEEK_TAIL_MAX ((size_t)64 << 20)

struct peek {
	struct wheel_file file;
	struct zipdir dir;
	const struct zip_member *member; /* being read, or NULL */
	uint64_t data;			 /* offset of its packed bytes in the wheel */
	uint64_t fed;			 /* packed bytes that head was made from */
	struct flate *flate;
	struct buf head, tail; /* its first and its last bytes, unpacked */
	struct buf packed_tail;
};
#define PEEK_INIT                                                                                  \
	{                                                                                          \
		.file = WHEEL_FILE_INIT, .dir = ZIPDIR_INIT, .head = BUF_INIT(PEEK_HELD_MAX),      \
		.tail = BUF_INIT(PEEK_HELD_MAX), .packed_tail = BUF_INIT(PEEK_TAIL_MAX)            \
	}

/* Opens the wheel and reads its directory. */
int peek_open(
    struct peek *p, struct index *x, const struct wheel_pin *pin, struct err *err) _must_check_;
/* Turns to a member; forgets what was held of another. ERR_FORMAT if there is none. */
int peek_member(struct peek *p, const char *name, struct err *err) _must_check_;
/* Appends n of the member's bytes from offset, fetching what is not held. arg is the peek. */
int peek_read(
    void *arg, uint64_t offset, uint64_t n, struct buf *out, struct err *err) _must_check_;
void peek_done(struct peek *p);
