/* Private to deb/: the bytes of a compressed ar member, as a stream. */
#pragma once
#include "../base/compat.h"
#include <stddef.h>
#include <stdint.h>

struct ar_reader;
struct decoder;
struct err;

/*
 * Decodes the present member of r. ext is what follows ".tar" in its name: "" for plain,
 * ".gz", ".xz", ".zst"; anything else is ERR_FORMAT. More than max bytes of output are
 * ERR_FORMAT too, before they are made.
 */
struct decoder *decoder_new(
    struct ar_reader *r, const char *ext, uint64_t max, struct err *err) _must_check_;
/* Hands out the next bytes, valid until the next call; *n 0 at the end, with checksums right. */
int decoder_data(struct decoder *d, const void **p, size_t *n, struct err *err) _must_check_;
void decoder_free(struct decoder *d); /* accepts NULL */
