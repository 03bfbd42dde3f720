/* Keys of apt's sources, binary and armored. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../doctor/aptsrc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct apt_key *keys;
	size_t n;
	struct err err = {0};
	if (aptkey_parse(&a, data, size, &keys, &n, &err) < 0)
		return err.code == ERR_FORMAT ? 0 : (abort(), 0);
	for (size_t i = 0; i < n; i++)
		if (strlen(keys[i].fpr) != 40 || !*aptkey_date(&a, keys[i].expires))
			abort();
	return 0;
}
