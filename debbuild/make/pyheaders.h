/*
 * The headers of each Python that bindings are compiled for: of an interpreter that is installed
 * here, else of Debian's libpython3.X-dev, unpacked into the cache. Nothing is installed, and
 * root is not needed.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../plan/plan.h"

/* Pythons 3.FIRST up to, and without, 3.END are looked for. */
#define PYHEADERS_FIRST 8
#define PYHEADERS_END	30

/*
 * Fills h->pythons with those of the versions ("3.11") whose headers are here, in the cache, or
 * offered by apt; h->deb_arch and h->multiarch must be set. apt is asked only for what is nowhere
 * else, and not again before its lists or its settings change.
 */
void pyheaders_find(
    struct arena *a, const struct strv *versions, const char *cache, struct host *h);
/*
 * Unpacks the headers of a Python that apt offers; nothing to do if they are there. *fetched
 * says whether the package was downloaded. ERR_TOOL with apt's reason, ERR_TRUST for other bytes.
 */
int pyheaders_fetch(const struct host_python *py, bool *fetched, struct err *err) _must_check_;
