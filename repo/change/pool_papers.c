#include "pool_papers.h"

#include <string.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/txn.h"
#include "../index/phase.h"
#include "../state/pool.h"

#define BUILDINFO_MAX ((size_t)16 << 20)

static const char *const endings[] = {".buildinfo", ".spdx.json", ".spdx.json.asc", ".intoto.json"};

void papers_names(const char *deb, struct strv *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		strv_addf(out, "%.*s%s", (int)(strlen(deb) - strlen(".deb")), deb, endings[i]);
}

bool papers_is(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (str_ends(name, endings[i]))
			return true;
	return false;
}

/* Its Checksums-Sha256 has the package's digest. */
static int check(const char *buildinfo, const struct pkg *p, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(BUILDINFO_MAX);
	if (path_read(buildinfo, &text, err) < 0)
		return -1;
	if (strstr(buf_str(&text), p->sha256))
		return 0;
	return err_set(err, ERR_CONFLICT,
	    "'%s' describes another build than '%s', whose SHA-256 is %s: build again, or remove "
	    "the "
	    ".buildinfo",
	    buildinfo, p->from, p->sha256);
}

int papers_stage(struct txn *t, const struct pkg *p, struct err *err)
{
	_cleanup_(strv_done) struct strv from = STRV_INIT, to = STRV_INIT;
	if (!p->from || !str_ends(p->from, ".deb"))
		return 0;
	papers_names(p->from, &from);
	papers_names(p->path, &to);
	if (path_exists(from.v[0]) && check(from.v[0], p, err) < 0)
		return -1;
	for (size_t i = 0; i < from.n; i++)
		if (path_exists(from.v[i]) && strcmp(from.v[i], to.v[i]) &&
		    txn_copy(t, PHASE_POOL, to.v[i], from.v[i], err) < 0)
			return -1;
	return 0;
}
