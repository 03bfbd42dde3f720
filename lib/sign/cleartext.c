#include "cleartext.h"

#include <string.h>

#include "../base/buf.h"
#include "../base/err.h"
#include "../base/strv.h"

#define CLEAR_BEGIN	"-----BEGIN PGP SIGNED MESSAGE-----\n"
#define CLEAR_SIGNATURE "-----BEGIN PGP SIGNATURE-----\n"

bool cleartext_is(const struct buf *text)
{
	return str_starts(buf_str(text), CLEAR_BEGIN);
}

int cleartext_unwrap(const struct buf *clear, const char *path, struct buf *out, struct err *err)
{
	const char *p = buf_str(clear);
	const char *body = strstr(p, "\n\n"), *end = strstr(p, "\n" CLEAR_SIGNATURE);
	if (!cleartext_is(clear) || !body || !end || end < body + 1)
		return err_set(err, ERR_FORMAT, "'%s' is no signed text", path);
	for (p = body + 2; p < end + 1;) {
		size_t n = strcspn(p, "\n") + 1;
		bool escaped = p[0] == '-' && p[1] == ' ';
		buf_append(out, p + 2 * escaped, n - 2 * escaped);
		p += n;
	}
	return buf_check(out, path, err);
}
