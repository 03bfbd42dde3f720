/* What parses is printed as a field that parses again to the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/deb/relation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_list(const struct relation_list *l, struct buf *out)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct relation *r = &l->v[i];
		if (i)
			buf_puts(out, r->group == r[-1].group ? " | " : ", ");
		buf_puts(out, r->package);
		if (r->arch_qualifier)
			buf_printf(out, ":%s", r->arch_qualifier);
		if (r->op)
			buf_printf(out, " (%s %s)", r->op, r->version);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf once = BUF_INIT(64 << 20), twice = BUF_INIT(64 << 20);
	struct relation_list l, again;
	struct err err = {0};
	char *text = arena_strndup(&a, (const char *)data, size);
	if (relation_parse(&a, text, &l, &err) < 0) {
		if (err.code != ERR_FORMAT || !*err.msg)
			abort();
		return 0;
	}
	for (size_t i = 0; relation_fields[i]; i++)
		(void)!relation_check(relation_fields[i], &l, &err);
	print_list(&l, &once);
	if (relation_parse(&a, buf_str(&once), &again, &err) < 0)
		abort();
	print_list(&again, &twice);
	if (again.n != l.n || strcmp(buf_str(&once), buf_str(&twice)) != 0)
		abort();
	return 0;
}
