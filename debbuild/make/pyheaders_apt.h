/* What apt offers of libpython3.X-dev, and the cache's record of its answer. For pyheaders.c. */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/digest.h"
#include <stddef.h>
#include <stdint.h>

struct arena;

struct apt_offer {
	const char *package; /* "libpython3.12-dev" */
	const char *version; /* of the package */
	const char *sha256;  /* of the .deb */
	uint64_t size;
};

struct apt_offers {
	struct apt_offer *v;
	size_t n;
};

/*
 * All that apt can download now of libpython3.X-dev for the architecture. record names the file
 * that keeps the answer until apt's lists or settings change; a record that cannot be written,
 * or an apt that cannot be asked, is no error.
 */
void apt_offers_get(struct arena *a, const char *arch, const char *record, struct apt_offers *out);
const struct apt_offer *apt_offers_find(
    const struct apt_offers *o, const char *package) _must_check_;
