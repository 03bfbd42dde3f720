/* A project's page of a package index, as JSON and as HTML. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../debbuild/wheel/pyindex_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef int parse_fn(struct arena *a, const char *text, size_t len, const char *page,
    struct index_files *out, struct err *err);

static void run(parse_fn *parse, const struct buf *text)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct index_files files = {NULL, 0};
	struct err err = {0};
	if (parse(&a, buf_str(text), text->len, "page", &files, &err) < 0) {
		if (err.code != ERR_FORMAT || !err.msg[0])
			abort();
		return;
	}
	for (size_t i = 0; i < files.n; i++)
		if (!files.v[i].name || !files.v[i].url ||
		    (strlen(files.v[i].sha256) && strlen(files.v[i].sha256) != SHA256_HEX - 1))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(size);
	buf_append(&text, data, size);
	run(index_parse_json, &text);
	run(index_parse_html, &text);
	return 0;
}
