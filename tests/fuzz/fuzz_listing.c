/* The stanzas of an index add up to its text, and each says what was read of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../repo/index/listing.h"
#include "../../repo/index/piece.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_pkg(const struct pkg *p)
{
	size_t len;
	const char *v = piece_field(p->text, p->text_len, "Version", &len);
	if (!v || strlen(p->version) != len || memcmp(v, p->version, len) != 0 ||
	    !path_is_safe_member(p->path) || strlen(p->sha256) != SHA256_HEX - 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(pkg_list_done) struct pkg_list list = {0};
	_cleanup_(buf_done) struct buf text = BUF_INIT(64 << 20);
	struct err err = {0};
	size_t sum = 0;
	buf_append(&text, data, size);
	for (size_t n; (n = piece_stanza(buf_str(&text) + sum, text.len - sum)); sum += n)
		;
	if (sum != size)
		abort();
	if (listing_parse(&a, &text, "main", &list, &err) == 0)
		for (size_t i = 0; i < list.n; i++)
			check_pkg(&list.v[i]);
	else if (err.code != ERR_FORMAT)
		abort();
	return 0;
}
