/* An advisory lock, flock(2) on a file that is made once and never removed. */
#pragma once
#include "compat.h"
#include <stdbool.h>

struct err;

/*
 * Takes the lock and stores its descriptor in *fd (close it to let go). If another process
 * holds it: wait false gives ERR_CONFLICT at once; wait true calls waiting(path) once, if not
 * NULL, and blocks until the lock is free or a signal comes (ERR_INTERRUPT).
 */
int lock_take(const char *path, bool wait, void (*waiting)(const char *path), int *fd,
    struct err *err) _must_check_;
