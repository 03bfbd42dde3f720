#include "sources.h"

#include <string.h>

#include "../base/buf.h"
#include "../base/strv.h"
#include "keyring.h"

#define KEY_MAX ((size_t)1 << 20)

/* The armored text as the continuation lines of a field; an empty line is " .". */
static void put_folded(struct buf *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		buf_puts(out, n ? " " : " .");
		buf_append(out, text, n);
		buf_putc(out, '\n');
		text += n + (text[n] == '\n');
	}
}

int sources_write(const char *url, const char *suite, const struct strv *components,
    const struct strv *fprs, struct buf *out, struct err *err)
{
	_free_ char *list = strv_join(components, " ");
	buf_printf(out, "Types: deb\nURIs: %s\nSuites: %s\nComponents: %s\n", url, suite, list);
	buf_puts(out, fprs->n ? "Signed-By:\n" : "Trusted: yes\n");
	for (size_t i = 0; i < fprs->n; i++) {
		_cleanup_(buf_done) struct buf key = BUF_INIT(KEY_MAX);
		if (keyring_export(fprs->v[i], true, &key, err) < 0)
			return -1;
		put_folded(out, buf_str(&key));
	}
	return buf_check(out, "debkit.sources", err);
}
