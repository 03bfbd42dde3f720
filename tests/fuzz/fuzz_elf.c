/* A shared object in memory; every string of what is read must be one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t touch(const char *s)
{
	return s ? strlen(s) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_free_ uint8_t *copy = xmalloc(size + 1);
	memcpy(copy, data, size);
	struct elf_info e;
	struct err err = {0};
	if (elf_read_mem(&a, copy, size, "input", &e, &err) < 0) {
		if (err.code != ERR_FORMAT)
			abort();
		return 0;
	}
	size_t sum = touch(e.soname) + touch(e.runpath) + touch(elf_floor(&a, &e, "GLIBC"));
	for (size_t i = 0; i < e.n_needed; i++)
		sum += touch(e.needed[i]);
	for (size_t i = 0; i < e.n_undefined; i++)
		sum += touch(e.undefined[i].name) + touch(e.undefined[i].version);
	for (size_t i = 0; i < e.n_defined; i++)
		sum += touch(e.defined[i].name) + touch(e.defined[i].version);
	for (size_t i = 0; i < e.n_needs; i++)
		sum += touch(e.needs[i].library) + touch(e.needs[i].version);
	if (sum > 8 * size + (2u << 20) || e.fatbin_offset + e.fatbin_size > size)
		abort();
	return 0;
}
