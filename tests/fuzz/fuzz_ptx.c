/* What drops unused variables of PTX: what is kept is made of whole parts of the text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../debbuild/make/ptx.h"
#include "../../lib/base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(size), again = BUF_INIT(size);
	ptx_drop_unused((const char *)data, size, &out);
	if (out.failed || out.len > size)
		abort();
	/* Nothing is left to drop. */
	ptx_drop_unused(buf_str(&out), out.len, &again);
	if (again.len != out.len)
		abort();
	return 0;
}
