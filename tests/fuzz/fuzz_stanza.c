/* What parses is written as text that parses again to the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/deb/stanza.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_list(const struct stanza_list *l, struct buf *out)
{
	for (size_t i = 0; i < l->n; i++) {
		stanza_write(&l->v[i], out);
		buf_putc(out, '\n');
	}
}

static void check_written(struct arena *a, const struct stanza_list *l)
{
	_cleanup_(buf_done) struct buf once = BUF_INIT(64 << 20), twice = BUF_INIT(64 << 20);
	struct stanza_list again;
	struct err err = {0};
	write_list(l, &once);
	if (stanza_parse(a, buf_str(&once), once.len, "written", 0, &again, &err) < 0)
		abort();
	write_list(&again, &twice);
	if (again.n != l->n || once.len != twice.len ||
	    memcmp(buf_str(&once), buf_str(&twice), once.len) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned flags[] = {0, STANZA_COMMENTS, STANZA_ONE};
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		_cleanup_(arena_done) struct arena a = ARENA_INIT;
		struct stanza_list l;
		struct err err = {0};
		if (stanza_parse(&a, (const char *)data, size, "in", flags[i], &l, &err) == 0)
			check_written(&a, &l);
		else if (err.code != ERR_FORMAT || strncmp(err.msg, "in:", 3) != 0)
			abort();
	}
	return 0;
}
