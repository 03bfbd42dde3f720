/* An index as apt keeps it in /var/lib/apt/lists: plain, or compressed as apt was told to. */
#pragma once
#include "../base/compat.h"

struct buf;
struct err;

/* Appends the text of a regular file that is plain or compressed by gzip, bzip2, xz, lz4 or zstd;
 * no program is run for it. ERR_FORMAT if it is damaged or larger than out may be. */
int deb_list_read(const char *path, struct buf *out, struct err *err) _must_check_;
