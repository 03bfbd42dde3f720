/* The exports of a shared object in memory: sorted, each once, and every one a string. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/deb/dynsym.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
};

static int read_input(void *arg, uint64_t offset, uint64_t n, struct buf *out, struct err *err)
{
	const struct input *in = arg;
	if (offset > in->size || n > in->size - offset)
		return err_set(err, ERR_FORMAT, "it ends before that");
	buf_append(out, in->data + offset, n);
	return buf_check(out, "a part", err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct input in = {data, size};
	struct dynsym d;
	struct err err = {0};
	if (dynsym_exports(&a, read_input, &in, size, "input", &d, &err) < 0) {
		if (err.code != ERR_FORMAT)
			abort();
		return 0;
	}
	for (size_t i = 0; i < d.n; i++)
		if (!*d.names[i] || (i && strcmp(d.names[i - 1], d.names[i]) >= 0))
			abort();
	return 0;
}
