/*
 * A .deb without its signatures: what was there before an origin signature was appended, and what
 * two builds of a package have in common.
 */
#pragma once
#include "../base/compat.h"
#include "../base/digest.h"
#include <stdint.h>

struct buf;
struct deb_info;
struct err;

/* Bytes of the file before its first member whose name begins with "_gpg"; all, if there is none.
 */
uint64_t deb_unsigned_size(const struct deb_info *d) _must_check_;
/* The SHA-256 of these bytes. */
int deb_unsigned_digest(
    const struct deb_info *d, char sha256[SHA256_HEX], struct err *err) _must_check_;
/*
 * Compares two packages but for their signatures. 0: the same bytes; 1: why gets the first
 * difference in one line (a field of control, a file, a member, or an offset); -1.
 */
int deb_compare(const char *one, const char *other, struct buf *why, struct err *err) _must_check_;
