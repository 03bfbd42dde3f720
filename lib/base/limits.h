/* What this process may use of the machine: its control group may allow less than there is. */
#pragma once
#include "compat.h"
#include <stdint.h>

/*
 * Bytes of memory that can be had without swapping: what /proc/meminfo calls available, or what a
 * control group (cgroups(7), version 1 or 2) leaves, whichever is less. 0: unknown. root is put
 * before all paths, for tests; else "".
 */
uint64_t limits_memory(const char *root) _must_check_;
/* Processors this process may run on, or the whole ones that its share comes to; at least 1. */
unsigned limits_cpus(const char *root) _must_check_;
