/* C++ names as people write them. */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>

struct arena;

/*
 * Fills out with n names demangled by c++filt(1) of binutils, in the arena. Where that program is
 * absent or fails, the names stay as they are.
 */
void demangle(struct arena *a, const char *const *names, size_t n, const char **out);
