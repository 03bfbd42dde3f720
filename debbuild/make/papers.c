#include "papers.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/deb.h"
#include "../../lib/deb/unsigned.h"
#include "../../lib/sign/signer.h"
#include "../data/licences.h"
#include "pack.h"
#include "../plan/plan.h"
#include "stage.h"

#define TEXT_MAX ((size_t)16 << 20)

/* The name of a paper: FILE.deb with another ending. */
static char *paper_path(const struct pack_result *res, const char *ending)
{
	size_t n = strlen(res->path);
	return xasprintf("%.*s%s", (int)(n - strlen(".deb")), res->path, ending);
}

bool papers_are_current(const struct stage_context *c, const struct pack_result *res)
{
	static const char *const signed_only[] = {PAPERS_SIGNATURE, PAPERS_PROVENANCE};
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX);
	_free_ char *info = paper_path(res, PAPERS_BUILDINFO);
	_free_ char *sbom = paper_path(res, PAPERS_SBOM);
	if (!path_exists(info) || path_read(info, &text, NULL) < 0 || !path_exists(sbom))
		return false;
	for (size_t i = 0; c->sign_key && i < ARRAY_SIZE(signed_only); i++) {
		_free_ char *path = paper_path(res, signed_only[i]);
		if (!path_exists(path))
			return false;
	}
	return strstr(buf_str(&text), res->sha256) != NULL;
}

static int put(
    const struct pack_result *res, const char *ending, const struct buf *text, struct err *err)
{
	_free_ char *path = paper_path(res, ending);
	if (buf_check(text, path, err) < 0)
		return -1;
	return outfile_put(path, 0644, buf_str(text), text->len, err);
}

/* Writes the text under the signature of the key, or as it is without a key. */
static int put_signed(const struct papers_facts *f, const char *ending, const struct buf *text,
    enum signer_mode mode, struct buf *out, struct err *err)
{
	const char *fpr = f->c->sign_key;
	if (fpr && signer_sign(buf_str(text), text->len, &fpr, 1, mode, out, err) < 0)
		return -1;
	if (!fpr)
		buf_append(out, buf_str(text), text->len);
	return put(f->res, ending, out, err);
}

static void describe(struct arena *a, const struct papers_facts *f, const char *ending,
    const struct buf *text, struct papers_file *out)
{
	char hex[DIGEST_HEX_MAX];
	digest_hex(DIGEST_SHA256, buf_str(text), text->len, hex);
	memcpy(out->sha256, hex, SHA256_HEX);
	out->name = arena_printf(a, "%s%s", f->stem, ending);
}

static int write_all(struct arena *a, const struct papers_facts *f, struct err *err)
{
	_cleanup_(buf_done) struct buf info = BUF_INIT(TEXT_MAX), signed_info = BUF_INIT(TEXT_MAX);
	_cleanup_(buf_done) struct buf sbom = BUF_INIT(TEXT_MAX), sig = BUF_INIT(TEXT_MAX);
	_cleanup_(buf_done) struct buf statement = BUF_INIT(TEXT_MAX), sealed = BUF_INIT(TEXT_MAX);
	struct papers_file subjects[3];
	buildinfo_write(a, f, &info);
	if (buf_check(&info, "a .buildinfo", err) < 0 || sbom_write(a, f, &sbom, err) < 0 ||
	    put_signed(f, PAPERS_BUILDINFO, &info, SIGNER_CLEAR, &signed_info, err) < 0 ||
	    put(f->res, PAPERS_SBOM, &sbom, err) < 0)
		return -1;
	if (!f->c->sign_key)
		return 0;
	subjects[0].name = arena_printf(a, "%s.deb", f->stem);
	memcpy(subjects[0].sha256, f->res->sha256, SHA256_HEX);
	describe(a, f, PAPERS_BUILDINFO, &signed_info, &subjects[1]);
	describe(a, f, PAPERS_SBOM, &sbom, &subjects[2]);
	provenance_write(f, subjects, ARRAY_SIZE(subjects), &statement);
	if (put_signed(f, PAPERS_SIGNATURE, &sbom, SIGNER_DETACHED_ARMOR, &sig, err) < 0 ||
	    provenance_seal(&statement, f->c->sign_key, &sealed, err) < 0)
		return -1;
	return put(f->res, PAPERS_PROVENANCE, &sealed, err);
}

int papers_write(struct arena *a, const struct stage_context *c, const struct plan_package *pkg,
    const struct pack_result *res, const struct stanza *env, struct err *err)
{
	struct licences licences;
	struct deb_info d;
	struct papers_facts f = {.c = c, .pkg = pkg, .res = res, .licences = &licences, .env = env};
	if (licences_load(a, c->templates, &licences, err) < 0 ||
	    deb_read(a, res->path, DEB_READ_SIGNED, NULL, NULL, &d, err) < 0 ||
	    deb_unsigned_digest(&d, f.unsigned_sha256, err) < 0)
		return -1;
	const char *source = stanza_get(&d.control, "Source");
	f.source = source ? arena_strndup(a, source, strcspn(source, " ")) : pkg->name;
	f.stem = arena_printf(a, "%s_%s_%s", pkg->name, pkg->version, pkg->arch);
	f.unsigned_size = deb_unsigned_size(&d);
	materials_find(a, c->plan, pkg, &f.materials);
	if (write_all(a, &f, err) < 0)
		return err_wrap(err, "cannot write the papers of %s", pkg->name);
	return 0;
}
