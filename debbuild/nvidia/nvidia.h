/* NVIDIA's own apt repositories, from templates/nvidia. */
#pragma once
#include "../../lib/base/compat.h"

struct apt_source;
struct arena;
struct err;

/*
 * The repository of that suite, or the first one if suite is NULL. ERR_USAGE with the known ones;
 * a wrong line is FILE:LINE with what was expected.
 */
int nvidia_source(struct arena *a, const char *templates_dir, const char *suite,
    struct apt_source *out, struct err *err) _must_check_;
/* ERR_USAGE unless it is 40 hex digits. */
int nvidia_check_fpr(const char *fpr, struct err *err) _must_check_;
