#include "site.h"

#include "../debbuild/base/buf.h"
#include "../debbuild/base/err.h"
#include "../debbuild/base/strv.h"
#include "../debbuild/sign/keyring.h"
#include "../debbuild/sign/sources.h"
#include "suite.h"

int site_keyring(const struct strv *fprs, struct buf *out, struct err *err)
{
	for (size_t i = 0; i < fprs->n; i++)
		if (keyring_export(fprs->v[i], false, out, err) < 0)
			return -1;
	return buf_check(out, "keyring", err);
}

int site_sources(const struct suite *s, const char *url, struct buf *out, struct err *err)
{
	return sources_write(url, s->name, &s->components, &s->keys, out, err);
}
