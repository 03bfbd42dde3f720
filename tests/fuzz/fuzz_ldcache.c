/* /etc/ld.so.cache of a stranger's container. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../doctor/loader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct ldcache cache;
	struct err err = {0};
	if (ldcache_parse(&a, data, size, &cache, &err) < 0)
		return err.code == ERR_FORMAT ? 0 : (abort(), 0);
	for (size_t i = 0; i < cache.n; i++)
		if (strncmp(cache.v[i].soname, "libcuda", 7) != 0 || strlen(cache.v[i].path) > size)
			abort();
	return 0;
}
