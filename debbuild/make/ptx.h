/* PTX as NVRTC writes it, made the same bytes in every process (PTX ISA, "Variable declarations").
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>

struct buf;

/*
 * Appends the text without the variables of the module that nothing refers to. With functions for
 * the device by default, NVRTC makes one of every constexpr member and constant of a header, and
 * the names of those of a file hold the number of the process; nvcc keeps none of them. Goes on
 * until nothing more is to be dropped, as one may refer to another. Any text is taken: what is no
 * whole declaration on lines of its own stays as it is.
 */
void ptx_drop_unused(const char *text, size_t len, struct buf *out);
