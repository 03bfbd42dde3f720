/* Release, Release.gpg and InRelease of a suite, and the lines about files in them. */
#pragma once
#include "../debbuild/base/compat.h"
#include "../debbuild/base/digest.h"
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct buf;
struct err;
struct suite;

/* A file that the Release names, by its path below dists/SUITE. */
struct release_file {
	const char *name;
	uint64_t size;
	char sha256[SHA256_HEX];
};

/* Appends the Release text. now becomes Date, but never earlier than the last one. */
void release_write(
    const struct suite *s, const struct release_file *files, size_t n, time_t now, struct buf *out);
