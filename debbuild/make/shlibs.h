/* Dependencies on Debian's libraries: dpkg-shlibdeps says them, our own reading checks them. */
#pragma once
#include "../../lib/base/compat.h"

struct arena;
struct err;
struct plan;
struct strv;

/*
 * Runs dpkg-shlibdeps over the shared objects of a package and stores its dependency list
 * ("libc6 (>= 2.34), libstdc++6 (>= 12)") in the arena. Fails with ERR_FORMAT
 * if the list allows a libc6 older than the highest GLIBC version that an object needs, or
 * leaves libstdc++6 out though one needs it.
 */
int shlibs_depends(struct arena *a, const struct plan *p, const char *work,
    const struct strv *objects, const char **out, struct err *err) _must_check_;
/* Fails with ERR_FORMAT unless each has full RELRO, no executable stack and no debug sections. */
int shlibs_check_hardened(const struct strv *objects, struct err *err) _must_check_;
