/* The bytes of a .nv_fatbin section. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/deb/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf archs = BUF_INIT(1 << 20);
	struct fatbin_info f;
	struct err err = {0};
	if (fatbin_read(&a, data, size, &f, &err) < 0) {
		if (err.code != ERR_FORMAT)
			abort();
		return 0;
	}
	uint64_t sum = 0;
	for (size_t i = 0; i < f.n; i++) {
		sum += f.v[i].size;
		if (f.v[i].container >= f.n_containers)
			abort();
		_cleanup_(buf_done) struct buf plain = BUF_INIT(1 << 20);
		if (f.v[i].plain_size > 1 << 20 || f.v[i].offset + f.v[i].size > size)
			continue;
		int rc = fatbin_unpack(&f.v[i], data + f.v[i].offset, "x", &plain, NULL);
		(void)rc;
	}
	if (sum > size)
		abort();
	fatbin_archs(&f, &archs);
	return 0;
}
