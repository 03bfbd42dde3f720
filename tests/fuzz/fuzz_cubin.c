/* Cubins: any bytes are read or refused. */
#include <stdint.h>
#include <stdlib.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/deb/kernels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct cubin c;
	struct err err = {0};
	if (cubin_read_mem(&a, data, size, "fuzz", &c, &err) < 0 &&
	    (err.code != ERR_FORMAT || !err.msg[0]))
		abort();
	return 0;
}
