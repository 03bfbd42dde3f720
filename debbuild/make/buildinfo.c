/* deb-buildinfo(5), with fields of debkit's own that `debkit rebuild` reads. */
#include <stdio.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/stanza.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "pack.h"
#include "papers.h"
#include "../plan/plan.h"
#include "../data/recipe.h"
#include "stage.h"

#define LIST_MAX ((size_t)1 << 20)

static void set_words(struct arena *a, struct stanza *s, const char *field, struct strv *words)
{
	strv_uniq(words);
	_free_ char *text = strv_join(words, " ");
	if (words->n)
		stanza_set(a, s, field, text);
}

static void set_standard(struct arena *a, const struct papers_facts *f, struct stanza *s)
{
	const struct plan_package *pkg = f->pkg;
	stanza_set(a, s, "Format", "1.0");
	stanza_set(a, s, "Source", f->source);
	stanza_set(a, s, "Binary", pkg->name);
	stanza_set(a, s, "Architecture", pkg->arch);
	stanza_set(a, s, "Version", pkg->version);
	stanza_set(a, s, "Checksums-Sha256",
	    arena_printf(
		a, "\n%s %llu %s.deb", f->res->sha256, (unsigned long long)f->res->size, f->stem));
	for (size_t i = 0; i < f->env->n; i++)
		stanza_set(a, s, f->env->fields[i].name, f->env->fields[i].value);
}

/* The part of the matrix that was asked for: what `debkit build` takes as options. */
static void set_request(struct arena *a, const struct papers_facts *f, struct stanza *s)
{
	const struct plan *p = f->c->plan;
	_cleanup_(strv_done) struct strv torches = STRV_INIT, pythons = STRV_INIT,
					 archs = STRV_INIT, profiles = STRV_INIT;
	for (size_t i = 0; i < p->n_torches; i++)
		strv_add(&torches, p->torches[i]->version);
	for (size_t i = 0; i < p->n_bindings; i++)
		strv_add(&pythons, p->bindings[i].python->version);
	for (size_t i = 0; i < p->n_tritons; i++) {
		for (char **t = p->tritons[i].torches; *t; t++)
			strv_add(&torches, *t);
		for (size_t k = 0; k < p->tritons[i].n_pythons; k++)
			strv_add(&pythons, p->tritons[i].pythons[k]->version);
	}
	for (size_t i = 0; i < p->n_archs; i++)
		strv_add(&archs, p->archs[i]->cc);
	stanza_set(a, s, "Debkit-Version", DEBKIT_VERSION);
	stanza_set(a, s, "Debkit-Recipe", p->recipe->name);
	stanza_set(a, s, "Debkit-Cuda", p->cuda);
	set_words(a, s, "Debkit-Torch", &torches);
	set_words(a, s, "Debkit-Python", &pythons);
	set_words(a, s, "Debkit-Cuda-Archs", &archs);
	for (char **v = p->profiles; v && *v; v++)
		strv_add(&profiles, *v);
	set_words(a, s, "Debkit-Profiles", &profiles);
	stanza_set(a, s, "Debkit-Toolchain", plan_route_name(p->host->route));
	if (f->c->sign_key)
		stanza_set(a, s, "Debkit-Signing-Key", f->c->sign_key);
	if (f->c->keys && f->c->keys->n > 1) {
		_cleanup_(strv_done) struct strv next = STRV_INIT;
		for (size_t i = 1; i < f->c->keys->n; i++)
			strv_add(&next, f->c->keys->v[i]);
		set_words(a, s, "Debkit-Next-Keys", &next);
	}
	if (f->c->repo_url)
		stanza_set(a, s, "Debkit-Repository-Url", f->c->repo_url);
	stanza_set(
	    a, s, "Debkit-Source-Date-Epoch", arena_printf(a, "%lld", (long long)f->c->date));
}

void buildinfo_write(struct arena *a, const struct papers_facts *f, struct buf *out)
{
	const struct host *h = f->c->plan->host;
	_cleanup_(buf_done) struct buf inputs = BUF_INIT(LIST_MAX);
	struct stanza s = {0};
	set_standard(a, f, &s);
	set_request(a, f, &s);
	stanza_set(a, &s, "Debkit-Compiler", h->compiler);
	stanza_set(a, &s, "Debkit-Host-Compiler", h->cxx_id);
	stanza_set(a, &s, "Debkit-Package-Key", f->res->key);
	stanza_set(a, &s, "Debkit-Unsigned-Sha256",
	    arena_printf(a, "%s %llu", f->unsigned_sha256, (unsigned long long)f->unsigned_size));
	for (size_t i = 0; i < f->materials.n; i++) {
		const struct lock_entry *e = f->materials.v[i].file;
		buf_printf(
		    &inputs, "\n%s %llu %s", e->sha256, (unsigned long long)e->size, e->file);
	}
	if (inputs.len)
		stanza_set(a, &s, "Debkit-Inputs-Sha256", buf_str(&inputs));
	stanza_write(&s, out);
}
