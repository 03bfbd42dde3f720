/* UTF-8, RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
#pragma once
#include "../base/compat.h"
#include <stddef.h>

/* The offset of the first byte that begins no complete character; n if all of it is UTF-8. */
size_t utf8_check(const char *p, size_t n) _must_check_;
