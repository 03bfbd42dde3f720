/* What the pages were made from, and the title that was given: the file .debkit/site. */
#include <string.h>

#include "../../lib/base/digest.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "pages_int.h"
#include "../change/retention.h"
#include "../change/site.h"
#include "../state/state_index.h"
#include "../change/withdraw.h"

#define RECORD	 ".debkit/site"
#define TEXT_MAX ((size_t)1 << 20)

static void add_text(struct digest *d, const char *text)
{
	digest_update(d, text, strlen(text) + 1);
}

static void add_ident(struct digest *d, const char *name, const struct ident *i)
{
	const int64_t v[] = {i->ino, i->size, i->mtime};
	add_text(d, name);
	digest_update(d, v, sizeof v);
}

static void add_file(struct pages *p, struct digest *d, const char *dir, const char *name)
{
	struct ident i = {0};
	if (ident_get(arena_printf(&p->arena, "%s/%s", dir, name), &i) == 0)
		add_ident(d, name, &i);
}

static int add_suites(struct pages *p, struct digest *d, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (state_suites(p->repo.state, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		struct suite_row row;
		if (state_find_suite(p->repo.state, names.v[i], &row, err) < 0)
			return -1;
		add_ident(d, names.v[i], &row.release);
	}
	return 0;
}

static int add_templates(struct pages *p, struct digest *d, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (path_walk(p->spec->templates, &names, err) < 0)
		return -1;
	strv_sort(&names);
	for (size_t i = 0; i < names.n; i++)
		add_file(p, d, p->spec->templates, names.v[i]);
	return 0;
}

int pages_made_from(struct pages *p, char hex[DIGEST_HEX_MAX], struct err *err)
{
	static const char *const files[] = {
	    SITE_KEYRING, SITE_SOURCES, WITHDRAWN_FILE, RETENTION_FILE};
	struct digest *d = digest_new(DIGEST_SHA256);
	add_text(d, DEBKIT_VERSION);
	add_text(d, p->title ? p->title : "");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		add_file(p, d, p->repo.root, files[i]);
	if (add_suites(p, d, err) < 0 || add_templates(p, d, err) < 0) {
		digest_free(d);
		return -1;
	}
	digest_finish_hex(d, hex);
	return 0;
}

void pages_load_record(struct pages *p, const char **title, const char **made_from)
{
	const char *path = arena_printf(&p->arena, "%s/" RECORD, p->repo.root);
	struct stanza_list list = {0};
	*title = *made_from = NULL;
	if (!path_exists(path) || stanza_parse_file(&p->arena, path, STANZA_ONE, &list, NULL) < 0)
		return;
	*title = stanza_get(&list.v[0], "Title");
	*made_from = stanza_get(&list.v[0], "Made-From");
}

int pages_save_record(struct pages *p, const char *made_from, struct err *err)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(TEXT_MAX);
	const char *path = arena_printf(&p->arena, "%s/" RECORD, p->repo.root);
	if (p->title)
		buf_printf(&out, "Title: %s\n", p->title);
	buf_printf(&out, "Made-From: %s\n", made_from);
	if (buf_check(&out, RECORD, err) < 0)
		return -1;
	return outfile_put_if_changed(path, 0644, out.data, out.len, err);
}
