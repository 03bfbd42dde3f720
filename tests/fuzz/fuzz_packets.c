/* Any bytes are a key with a primary part first, or an error. */
#include <stdint.h>
#include <stdlib.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/sign/packets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct packets p;
	struct err err = {0};
	if (packets_read(&a, data, size, &p, &err) < 0) {
		if (err.code != ERR_FORMAT)
			abort();
		return 0;
	}
	if (!p.n || p.v[0].kind != PACKETS_PRIMARY)
		abort();
	for (size_t i = 0; i < p.n; i++)
		if (!*packets_digest_name(p.v[i].digest))
			abort();
	return 0;
}
