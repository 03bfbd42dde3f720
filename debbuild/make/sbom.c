/* SPDX 2.3 as JSON: the package, what it was made from, and the programs that made it. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/stanza.h"
#include "../../lib/base/json.h"
#include "../data/licences.h"
#include "../data/lockfile.h"
#include "pack.h"
#include "papers.h"
#include "../plan/plan.h"
#include "stage.h"

#define TEXT_MAX ((size_t)4 << 20)
#define NONE	 "NOASSERTION"

/* One SPDX package; checksum, purl and comment may be NULL. */
struct part {
	const char *id, *name, *version, *file, *sha256, *licence, *purl, *comment;
};

static void put_part(struct json_writer *w, const struct part *p)
{
	json_open(w, NULL, '{');
	json_put(w, "SPDXID", p->id);
	json_put(w, "name", p->name);
	json_put(w, "versionInfo", p->version);
	if (p->file)
		json_put(w, "packageFileName", p->file);
	json_put(w, "downloadLocation", NONE);
	json_put_bool(w, "filesAnalyzed", false);
	if (p->sha256) {
		json_open(w, "checksums", '[');
		json_open(w, NULL, '{');
		json_put(w, "algorithm", "SHA256");
		json_put(w, "checksumValue", p->sha256);
		json_close(w, '}');
		json_close(w, ']');
	}
	json_put(w, "licenseConcluded", p->licence ? p->licence : NONE);
	json_put(w, "licenseDeclared", p->licence ? p->licence : NONE);
	json_put(w, "copyrightText", NONE);
	if (p->comment)
		json_put(w, "comment", p->comment);
	if (p->purl) {
		json_open(w, "externalRefs", '[');
		json_open(w, NULL, '{');
		json_put(w, "referenceCategory", "PACKAGE-MANAGER");
		json_put(w, "referenceType", "purl");
		json_put(w, "referenceLocator", p->purl);
		json_close(w, '}');
		json_close(w, ']');
	}
	json_close(w, '}');
}

static void put_relation(
    struct json_writer *w, const char *one, const char *type, const char *other)
{
	json_open(w, NULL, '{');
	json_put(w, "spdxElementId", one);
	json_put(w, "relationshipType", type);
	json_put(w, "relatedSpdxElement", other);
	json_close(w, '}');
}

/* The copyright file (DEP 5) of the package. */
static int read_copyright(
    struct arena *a, const struct papers_facts *f, struct stanza_list *out, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX);
	if (stage_expand(f->c, f->pkg, NULL, "copyright.in", &text, err) < 0)
		return -1;
	return stanza_parse(a, buf_str(&text), text.len, "copyright.in", 0, out, err);
}

static const char *short_name(struct arena *a, const struct stanza *s)
{
	const char *text = stanza_get(s, "License");
	return text ? arena_strndup(a, text, strcspn(text, "\n")) : NULL;
}

/* "BSD-3-Clause", or "LicenseRef-public-domain" for what SPDX does not list. */
static const char *spdx_name(struct arena *a, const struct licences *l, const char *name)
{
	const char *known = licences_find(l, name);
	return known ? known : arena_printf(a, "LicenseRef-%s", name);
}

static const char *declared(
    struct arena *a, const struct papers_facts *f, const struct stanza_list *copyright)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	for (size_t i = 0; i < copyright->n; i++) {
		const char *name = short_name(a, &copyright->v[i]);
		if (name && stanza_get(&copyright->v[i], "Files"))
			strv_add(&names, spdx_name(a, f->licences, name));
	}
	strv_uniq(&names);
	_free_ char *text = strv_join(&names, " AND ");
	return arena_strdup(a, text);
}

/* Licences that SPDX does not list must come with a text. */
static void put_licence_texts(struct arena *a, struct json_writer *w, const struct papers_facts *f,
    const struct stanza_list *copyright)
{
	_cleanup_(strv_done) struct strv done = STRV_INIT;
	json_open(w, "hasExtractedLicensingInfos", '[');
	for (size_t i = 0; i < copyright->n; i++) {
		const char *name = short_name(a, &copyright->v[i]);
		const char *text =
		    name ? strchr(stanza_get(&copyright->v[i], "License"), '\n') : NULL;
		const char *id = name ? spdx_name(a, f->licences, name) : NULL;
		if (!text || !str_starts(id, "LicenseRef-") || strv_has(&done, id))
			continue;
		strv_add(&done, id);
		json_open(w, NULL, '{');
		json_put(w, "licenseId", id);
		json_put(w, "name", name);
		json_put(w, "extractedText", text + 1);
		json_close(w, '}');
	}
	static const char eula[] = "LicenseRef-NVIDIA-CUDA-EULA";
	for (size_t i = 0; i < f->materials.n && !strv_has(&done, eula); i++) {
		const char *l = licences_find(f->licences, f->materials.v[i].file->project);
		if (!str_eq(l, eula))
			continue;
		strv_add(&done, eula);
		json_open(w, NULL, '{');
		json_put(w, "licenseId", eula);
		json_put(w, "name", "End User License Agreement of NVIDIA's CUDA Toolkit");
		json_put(w, "extractedText", "The text comes with the toolkit.");
		json_close(w, '}');
	}
	json_close(w, ']');
}

static const char *material_id(struct arena *a, size_t i)
{
	return arena_printf(a, "SPDXRef-Input-%zu", i + 1);
}

static void put_materials(struct arena *a, struct json_writer *w, const struct papers_facts *f)
{
	static const char *const comments[] = {[MATERIAL_HEADERS] = "only its headers were used",
	    [MATERIAL_TOOLKIT] = "only parts of it were used",
	    [MATERIAL_RUNTIME] = "what the package is linked with",
	    [MATERIAL_PROGRAM] = "it ran when the kernels were compiled",
	    [MATERIAL_SOURCE] = NULL};
	for (size_t i = 0; i < f->materials.n; i++) {
		const struct material *m = &f->materials.v[i];
		const struct lock_entry *e = m->file;
		put_part(w, &(struct part){.id = material_id(a, i),
				.name = e->project,
				.version = m->version,
				.file = e->file,
				.sha256 = e->sha256,
				.licence = licences_find(f->licences, e->project),
				.purl = arena_printf(a, "pkg:pypi/%s@%s", e->project, m->version),
				.comment = comments[m->role]});
	}
}

/* The programs, as they name themselves. */
static size_t find_tools(const struct papers_facts *f, struct part tools[3])
{
	const struct host *h = f->c->plan->host;
	size_t n = 0;
	tools[n++] =
	    (struct part){.id = "SPDXRef-Tool-debkit", .name = "debkit", .version = DEBKIT_VERSION};
	if (strcmp(f->pkg->kind, "flavour"))
		return n;
	tools[n++] = (struct part){.id = "SPDXRef-Tool-device-compiler",
	    .name = "device compiler",
	    .version = h->compiler};
	tools[n++] =
	    (struct part){.id = "SPDXRef-Tool-host-compiler", .name = h->cxx, .version = h->cxx_id};
	return n;
}

static void put_relations(struct arena *a, struct json_writer *w, const struct papers_facts *f)
{
	static const char package[] = "SPDXRef-Package";
	struct part tools[3];
	json_open(w, "relationships", '[');
	put_relation(w, "SPDXRef-DOCUMENT", "DESCRIBES", package);
	for (size_t i = 0; i < f->materials.n; i++) {
		const char *id = material_id(a, i);
		switch (f->materials.v[i].role) {
		case MATERIAL_SOURCE:
			put_relation(w, package, "GENERATED_FROM", id);
			break;
		case MATERIAL_RUNTIME:
			put_relation(w, package, "DYNAMIC_LINK", id);
			break;
		default:
			put_relation(w, id, "BUILD_DEPENDENCY_OF", package);
		}
	}
	size_t n = find_tools(f, tools);
	for (size_t i = 0; i < n; i++)
		put_relation(w, tools[i].id, "BUILD_TOOL_OF", package);
	json_close(w, ']');
}

static void put_head(struct arena *a, struct json_writer *w, const struct papers_facts *f)
{
	struct tm tm;
	char created[32];
	strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&f->c->date, &tm));
	json_put(w, "spdxVersion", "SPDX-2.3");
	json_put(w, "dataLicense", "CC0-1.0");
	json_put(w, "SPDXID", "SPDXRef-DOCUMENT");
	json_put(w, "name", f->stem);
	json_put(w, "documentNamespace",
	    arena_printf(a, "https://debkit.invalid/spdx/%s/%s", f->pkg->name, f->res->sha256));
	json_open(w, "creationInfo", '{');
	json_put(w, "created", created);
	json_open(w, "creators", '[');
	json_put(w, NULL, "Tool: debkit-" DEBKIT_VERSION);
	json_close(w, ']');
	json_close(w, '}');
}

int sbom_write(struct arena *a, const struct papers_facts *f, struct buf *out, struct err *err)
{
	struct json_writer w = {.out = out};
	struct stanza_list copyright = {0};
	struct part tools[3];
	if (read_copyright(a, f, &copyright, err) < 0)
		return -1;
	json_open(&w, NULL, '{');
	put_head(a, &w, f);
	json_open(&w, "packages", '[');
	put_part(&w, &(struct part){.id = "SPDXRef-Package",
			 .name = f->pkg->name,
			 .version = f->pkg->version,
			 .file = arena_printf(a, "%s.deb", f->stem),
			 .sha256 = f->res->sha256,
			 .licence = declared(a, f, &copyright),
			 .purl = arena_printf(a, "pkg:deb/debkit/%s@%s?arch=%s", f->pkg->name,
			     f->pkg->version, f->pkg->arch)});
	put_materials(a, &w, f);
	size_t n = find_tools(f, tools);
	for (size_t i = 0; i < n; i++)
		put_part(&w, &tools[i]);
	json_close(&w, ']');
	put_licence_texts(a, &w, f, &copyright);
	put_relations(a, &w, f);
	json_close(&w, '}');
	return buf_check(out, "an SBOM", err);
}
