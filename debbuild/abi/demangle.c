#include "demangle.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/path.h"
#include "../../lib/base/proc.h"
#include "../../lib/base/strv.h"

#define TEXT_MAX ((size_t)64 << 20)

void demangle(struct arena *a, const char *const *names, size_t n, const char **out)
{
	_cleanup_(buf_done) struct buf in = BUF_INIT(TEXT_MAX), text = BUF_INIT(TEXT_MAX);
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	_free_ char *program = path_find_program("c++filt", NULL);
	struct proc_result r = {.status = -1};
	for (size_t i = 0; i < n; i++) {
		out[i] = names[i];
		buf_puts(&in, names[i]);
		buf_putc(&in, '\n');
	}
	if (!n || !program || in.failed)
		return;
	char *argv[] = {program, NULL};
	struct proc_spec spec = {.argv = argv, .in = in.data, .in_len = in.len, .out = &text};
	if (proc_run(&spec, &r, NULL) < 0 || r.status != 0)
		return;
	strv_split(&lines, buf_str(&text), "\n");
	for (size_t i = 0; lines.n == n && i < n; i++)
		out[i] = arena_strdup(a, lines.v[i]);
}
