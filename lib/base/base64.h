/* Base64 as in RFC 4648, section 4: with padding, on one line. */
#pragma once
#include "compat.h"
#include <stddef.h>

struct buf;

void base64_encode(const void *p, size_t n, struct buf *out);
