/* An in-toto Statement (v1) with SLSA provenance (v1), and its DSSE envelope. */
#include <stdio.h>
#include <string.h>

#include "../../lib/base/base64.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/sign/signer.h"
#include "../../lib/base/json.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "pack.h"
#include "papers.h"
#include "../plan/plan.h"
#include "../data/recipe.h"
#include "stage.h"

#define PAYLOAD_TYPE "application/vnd.in-toto+json"
#define SIG_MAX	     ((size_t)1 << 20)
#define TEXT_MAX     ((size_t)16 << 20)

static void put_digest(struct json_writer *w, const char *sha256)
{
	json_open(w, "digest", '{');
	json_put(w, "sha256", sha256);
	json_close(w, '}');
}

/* What the build was asked for. */
static void put_parameters(struct json_writer *w, const struct papers_facts *f)
{
	const struct plan *p = f->c->plan;
	json_open(w, "externalParameters", '{');
	json_put(w, "recipe", p->recipe->name);
	json_put(w, "package", f->pkg->name);
	json_put(w, "version", f->pkg->version);
	json_put(w, "architecture", f->pkg->arch);
	json_put(w, "cuda", p->cuda);
	json_open(w, "torches", '[');
	for (size_t i = 0; i < p->n_torches; i++)
		json_put(w, NULL, p->torches[i]->version);
	json_close(w, ']');
	json_open(w, "archs", '[');
	for (size_t i = 0; i < p->n_archs; i++)
		json_put(w, NULL, p->archs[i]->cc);
	json_close(w, ']');
	json_close(w, '}');
	char epoch[32];
	snprintf(epoch, sizeof epoch, "%lld", (long long)f->c->date);
	json_open(w, "internalParameters", '{');
	json_put(w, "compiler", p->host->compiler);
	json_put(w, "hostCompiler", p->host->cxx_id);
	json_put(w, "packageKey", f->res->key);
	json_put(w, "sourceDateEpoch", epoch);
	json_put(w, "unsignedSha256", f->unsigned_sha256);
	json_close(w, '}');
}

static void put_definition(struct json_writer *w, const struct papers_facts *f)
{
	json_open(w, "buildDefinition", '{');
	json_put(w, "buildType", "https://debkit.invalid/build/v1");
	put_parameters(w, f);
	json_open(w, "resolvedDependencies", '[');
	for (size_t i = 0; i < f->materials.n; i++) {
		const struct material *m = &f->materials.v[i];
		_free_ char *uri = xasprintf("pkg:pypi/%s@%s", m->file->project, m->version);
		json_open(w, NULL, '{');
		json_put(w, "name", m->file->file);
		json_put(w, "uri", uri);
		put_digest(w, m->file->sha256);
		json_open(w, "annotations", '{');
		json_put(w, "role", material_role_name(m->role));
		json_close(w, '}');
		json_close(w, '}');
	}
	json_close(w, ']');
	json_close(w, '}');
}

void provenance_write(
    const struct papers_facts *f, const struct papers_file *subjects, size_t n, struct buf *out)
{
	struct json_writer w = {.out = out};
	json_open(&w, NULL, '{');
	json_put(&w, "_type", "https://in-toto.io/Statement/v1");
	json_open(&w, "subject", '[');
	for (size_t i = 0; i < n; i++) {
		json_open(&w, NULL, '{');
		json_put(&w, "name", subjects[i].name);
		put_digest(&w, subjects[i].sha256);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_put(&w, "predicateType", "https://slsa.dev/provenance/v1");
	json_open(&w, "predicate", '{');
	put_definition(&w, f);
	json_open(&w, "runDetails", '{');
	json_open(&w, "builder", '{');
	json_put(&w, "id", "https://debkit.invalid/builder/v1");
	json_open(&w, "version", '{');
	json_put(&w, "debkit", DEBKIT_VERSION);
	json_close(&w, '}');
	json_close(&w, '}');
	json_close(&w, '}');
	json_close(&w, '}');
	json_close(&w, '}');
}

int provenance_seal(const struct buf *statement, const char *fpr, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX), sig = BUF_INIT(SIG_MAX);
	_cleanup_(buf_done) struct buf payload = BUF_INIT(TEXT_MAX), packed = BUF_INIT(SIG_MAX);
	buf_printf(&text, "DSSEv1 %zu %s %zu ", strlen(PAYLOAD_TYPE), PAYLOAD_TYPE, statement->len);
	buf_append(&text, buf_str(statement), statement->len);
	if (buf_check(&text, "an in-toto Statement", err) < 0 ||
	    signer_sign(text.data, text.len, &fpr, 1, SIGNER_DETACHED_BINARY, &sig, err) < 0)
		return -1;
	base64_encode(buf_str(statement), statement->len, &payload);
	base64_encode(buf_str(&sig), sig.len, &packed);
	struct json_writer w = {.out = out};
	json_open(&w, NULL, '{');
	json_put(&w, "payloadType", PAYLOAD_TYPE);
	json_put(&w, "payload", buf_str(&payload));
	json_open(&w, "signatures", '[');
	json_open(&w, NULL, '{');
	json_put(&w, "keyid", fpr);
	json_put(&w, "sig", buf_str(&packed));
	json_close(&w, '}');
	json_close(&w, ']');
	json_close(&w, '}');
	return buf_check(&payload, "an in-toto Statement", err);
}
