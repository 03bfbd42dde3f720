/* RECORD of a wheel: the hash and size of each of its files (PEP 376, PEP 427). */
#pragma once
#include "../../lib/base/arena.h"
#include "../../lib/base/compat.h"
#include "../../lib/base/digest.h"
#include <stddef.h>
#include <stdint.h>

struct err;

struct wheel_entry {
	const char *path;
	char sha256[SHA256_HEX]; /* "" for RECORD itself and its signatures */
	uint64_t size;
};

struct wheel_record {
	struct wheel_entry *v; /* sorted by path */
	size_t n;
	struct arena arena;
};
#define WHEEL_RECORD_INIT                                                                          \
	{                                                                                          \
		.v = NULL, .n = 0, .arena = ARENA_INIT                                             \
	}

/* Lines "path,sha256=BASE64URL,size", quoted as in CSV where needed. ERR_FORMAT names the line. */
int wheel_record_parse(
    struct wheel_record *r, const char *text, size_t len, struct err *err) _must_check_;
const struct wheel_entry *wheel_record_find(
    const struct wheel_record *r, const char *path) _must_check_;
void wheel_record_done(struct wheel_record *r);
