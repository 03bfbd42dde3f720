/* An InRelease or Release that is read is written as one that reads the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/sign/cleartext.h"
#include "../../repo/state/suite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_files(const struct suite *s, const struct suite *again)
{
	if (s->files.n != again->files.n || s->components.n != again->components.n ||
	    s->archs.n != again->archs.n || s->date != again->date || s->compat != again->compat ||
	    s->no_gz != again->no_gz)
		abort();
	for (size_t i = 0; i < s->files.n; i++) {
		const struct release_file *f = &s->files.v[i],
					  *g = release_list_find(&again->files, f->name);
		if (!g || memcmp(&f->sums, &g->sums, sizeof f->sums) != 0)
			abort();
	}
}

static void check_suite(const char *text, size_t len)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(suite_done) struct suite s, again;
	_cleanup_(buf_done) struct buf out = BUF_INIT(64 << 20);
	struct err err = {0};
	suite_init(&s, "stable");
	suite_init(&again, "stable");
	if (suite_parse(&a, text, len, "in", &s, &err) < 0) {
		if (err.code != ERR_FORMAT && err.code != ERR_USAGE)
			abort();
		return;
	}
	release_write(&s, &s.files, &out);
	if (suite_parse(&a, buf_str(&out), out.len, "written", &again, &err) < 0)
		abort();
	check_files(&s, &again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(buf_done) struct buf clear = BUF_INIT(64 << 20), text = BUF_INIT(64 << 20);
	struct err err = {0};
	buf_append(&clear, data, size);
	if (cleartext_unwrap(&clear, "in", &text, &err) == 0)
		check_suite(buf_str(&text), text.len);
	else if (err.code != ERR_FORMAT)
		abort();
	check_suite(buf_str(&clear), clear.len);
	return 0;
}
