/* What dpkg-genbuildinfo(1) says of this machine, for a build with the plan's tools. */
#pragma once
#include "../../lib/base/compat.h"

struct arena;
struct err;
struct plan;
struct stanza;

/*
 * Fills out with Build-Origin, Build-Architecture, Build-Date, Build-Tainted-By,
 * Installed-Build-Depends and Environment of deb-buildinfo(5), as far as they are known. work is a
 * folder for a small source tree that is made and removed.
 */
int buildenv_read(struct arena *a, const struct plan *p, const char *work, struct stanza *out,
    struct err *err) _must_check_;
