/* The inputs of a triton recipe: upstream's wheels, and an environment for each Triton. */
#pragma once
#include "../../lib/base/compat.h"

struct err;
struct fetch;
struct lock_entry;
struct plan;

/* Fetches what the cache lacks; called by inputs_fetch. */
int fetch_triton(struct fetch *f, struct err *err) _must_check_;
/* The work folder's links; called by inputs_link. */
int link_triton(
    const struct plan *p, const char *cache, const char *work, struct err *err) _must_check_;
/* The folder that holds an unpacked wheel. Owned by the caller. */
char *inputs_wheel_dir(const char *cache, const struct lock_entry *e);
