/* The text inside a cleartext signature (RFC 9580, section 7), not verified: signer.h does that. */
#pragma once
#include "../base/compat.h"
#include <stdbool.h>

struct buf;
struct err;

bool cleartext_is(const struct buf *text) _must_check_;
/* Appends what was signed, without the dash escapes; path is for messages. ERR_FORMAT. */
int cleartext_unwrap(
    const struct buf *clear, const char *path, struct buf *out, struct err *err) _must_check_;
