#include "pages.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/subst.h"
#include "../../lib/base/txn.h"
#include "../../lib/deb/stanza.h"
#include "../../lib/deb/utf8.h"
#include "facts.h"
#include "html.h"
#include "pages_int.h"
#include "../index/phase.h"
#include "../change/site.h"

#define GENERATOR "<meta name=\"generator\" content=\"debkit\">"

int pages_put(
    struct pages *p, unsigned phase, const char *name, const struct buf *text, struct err *err)
{
	_cleanup_(buf_done) struct buf before = BUF_INIT(PAGE_MAX);
	const char *path = arena_printf(&p->arena, "%s/%s", p->repo.root, name);
	if (buf_check(text, name, err) < 0)
		return -1;
	if (path_read(path, &before, NULL) == 0 && before.len == text->len &&
	    !memcmp(buf_str(&before), buf_str(text), text->len)) {
		p->res->same++;
		return 0;
	}
	p->res->written++;
	return txn_put(p->txn, phase, name, buf_str(text), text->len, err);
}

int pages_put_page(struct pages *p, unsigned phase, const char *name, const char *title,
    const char *up, const struct buf *body, struct err *err)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(PAGE_MAX), safe = BUF_INIT(PAGE_MAX);
	_cleanup_(buf_done) struct buf policy = BUF_INIT(1 << 10);
	const char *frame = arena_printf(&p->arena, "%s/site/page.html.in", p->spec->templates);
	html_text(&safe, title);
	html_policy_hash(&policy, p->style, strlen(p->style));
	const struct subst values[] = {{"TITLE", buf_str(&safe)}, {"UP", up}, {"STYLE", p->style},
	    {"STYLE_HASH", buf_str(&policy)}, {"BODY", buf_str(body)}, {NULL, NULL}};
	if (buf_check(body, name, err) < 0 || subst_expand_file(frame, values, &out, err) < 0)
		return -1;
	return pages_put(p, phase, name, &out, err);
}

void pages_put_numbers(
    struct buf *out, size_t page, size_t pages, const char *first, const char *other)
{
	if (pages < 2)
		return;
	buf_puts(out, "<nav class=\"pages\" aria-label=\"Pages\">");
	if (page > 1) {
		buf_puts(out, "<a rel=\"prev\" href=\"");
		if (page == 2)
			buf_puts(out, first);
		else
			buf_printf(out, "%s%zu.html", other, page - 1);
		buf_puts(out, "\">Newer</a> ");
	}
	buf_printf(out, "Page %zu of %zu", page, pages);
	if (page < pages)
		buf_printf(out, " <a rel=\"next\" href=\"%s%zu.html\">Older</a>", other, page + 1);
	buf_puts(out, "</nav>\n");
}

const char *pages_date(struct arena *a, int64_t t, bool with_time)
{
	time_t when = (time_t)t;
	struct tm tm;
	char text[32];
	gmtime_r(&when, &tm);
	strftime(text, sizeof text, with_time ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d", &tm);
	return arena_strdup(a, text);
}

void pages_put_summary(struct pages *p, struct buf *out, const struct catalog_deb *d, size_t max)
{
	const char *text = catalog_field(&p->arena, d, "Description");
	size_t n = text ? strlen(text) : 0;
	if (n <= max) {
		html_text_n(out, text, n);
		return;
	}
	n = max;
	while (n && utf8_check(text, n) != n && max - n < 4)
		n--;
	html_text_n(out, text, n);
	buf_puts(out, "&hellip;");
}

void pages_put_package_path(struct buf *out, const struct catalog_deb *d)
{
	buf_puts(out, "packages/");
	html_path(out, d->pkg.name);
	buf_puts(out, "/index.html");
}

bool pages_are_there(const char *root)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(PAGE_MAX);
	_free_ char *path = path_join(root, "index.html");
	return path_exists(path) && path_read(path, &text, NULL) == 0 &&
	       strstr(buf_str(&text), GENERATOR);
}

/* An index.html of somebody else's is not replaced. */
static int check_ours(struct pages *p, struct err *err)
{
	const char *path = arena_printf(&p->arena, "%s/index.html", p->repo.root);
	if (!path_exists(path) || pages_are_there(p->repo.root))
		return 0;
	return err_set(err, ERR_CONFLICT,
	    "'%s' was not made by debkit: move it away, then run the same command", path);
}

static int read_text(struct pages *p, const char *name, const char **out, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(PAGE_MAX);
	const char *path = arena_printf(&p->arena, "%s/%s", p->spec->templates, name);
	if (path_read(path, &text, err) < 0)
		return -1;
	*out = arena_strdup(&p->arena, buf_str(&text));
	return 0;
}

/* The .sources file says which address and suite the lines to paste are for. */
static int read_sources(struct pages *p, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(PAGE_MAX);
	const char *path = arena_printf(&p->arena, "%s/" SITE_SOURCES, p->repo.root);
	struct stanza_list list = {0};
	const char *suite = NULL;
	p->suite = p->cat.n_live ? p->cat.suites : NULL;
	if (!path_exists(path))
		return 0;
	if (path_read(path, &text, err) < 0 || stanza_parse(&p->arena, buf_str(&text), text.len,
						   path, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	if (!list.n)
		return 0;
	p->sources = arena_strdup(&p->arena, buf_str(&text));
	p->url = stanza_get(&list.v[0], "URIs");
	suite = stanza_get(&list.v[0], "Suites");
	for (size_t i = 0; i < p->cat.n_live && suite; i++)
		if (!strcmp(p->cat.suites[i].name, suite))
			p->suite = &p->cat.suites[i];
	return 0;
}

static int fill_facts(struct pages *p, struct err *err)
{
	const char *keyring = arena_printf(&p->arena, "%s/" SITE_KEYRING, p->repo.root);
	return facts_fill(&p->cat, &p->repo, path_exists(keyring) ? keyring : NULL, err);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Pages of packages that are gone. */
static int remove_old(struct pages *p, struct err *err)
{
	_cleanup_(strv_done) struct strv there = STRV_INIT;
	_free_ char *dir = path_join(p->repo.root, "packages");
	if (path_is_dir(dir) && path_walk(dir, &there, err) < 0)
		return -1;
	strv_sort(&p->made);
	for (size_t i = 0; i < there.n; i++) {
		const char *name = arena_printf(&p->arena, "packages/%s", there.v[i]);
		if (!str_ends(name, ".html") ||
		    bsearch(&name, p->made.v, p->made.n, sizeof *p->made.v, by_text))
			continue;
		txn_remove(p->txn, name);
		strv_add(&p->gone, name);
		p->res->removed++;
	}
	return 0;
}

static int stage(struct pages *p, struct err *err)
{
	if (check_ours(p, err) < 0 || catalog_read(&p->cat, &p->repo, &p->arena, err) < 0 ||
	    read_sources(p, err) < 0 || pages_read_withdrawn(p, err) < 0 ||
	    fill_facts(p, err) < 0 || read_text(p, "site/style.css", &p->style, err) < 0 ||
	    read_text(p, "site/chooser.js", &p->script, err) < 0)
		return -1;
	if (p->spec->matrix && p->spec->matrix(&p->arena, p->repo.root, &p->cat, p->suite,
				   &p->matrix, &p->choice, err) < 0)
		return -1;
	if (buf_check(&p->matrix, "the matrix", err) < 0 ||
	    buf_check(&p->choice, "the matrix", err) < 0)
		return -1;
	if (pages_packages(p, err) < 0 || pages_withdrawn(p, err) < 0 || pages_feed(p, err) < 0 ||
	    pages_front(p, err) < 0)
		return -1;
	return remove_old(p, err);
}

static void pages_done(struct pages *p)
{
	txn_free(p->txn);
	catalog_done(&p->cat);
	buf_done(&p->matrix);
	buf_done(&p->choice);
	strv_done(&p->made);
	strv_done(&p->gone);
	repo_close(&p->repo);
	arena_done(&p->arena);
}

static int set_title(struct pages *p, const char *before, struct err *err)
{
	p->title = p->spec->title ? p->spec->title : before;
	if (str_eq(p->title, ""))
		p->title = NULL;
	for (const char *c = p->title; c && *c; c++)
		if (iscntrl((unsigned char)*c))
			return err_set(err, ERR_USAGE, "a title is one line of text");
	return 0;
}

int pages_write(const struct pages_spec *spec, struct pages_result *res, struct err *err)
{
	*res = (struct pages_result){0};
	_cleanup_(pages_done) struct pages p = {.spec = spec,
	    .res = res,
	    .repo = REPO_INIT,
	    .arena = ARENA_INIT,
	    .matrix = BUF_INIT(PAGE_MAX),
	    .choice = BUF_INIT(PAGE_MAX)};
	const char *title, *before;
	char now[DIGEST_HEX_MAX];
	if (repo_open(&p.repo, &spec->repo, err) < 0)
		return -1;
	pages_load_record(&p, &title, &before);
	if (set_title(&p, title, err) < 0 || pages_made_from(&p, now, err) < 0)
		return -1;
	if (spec->follow && str_eq(before, now)) {
		res->skipped = true;
		return 0;
	}
	p.txn = txn_new(spec->repo.root);
	if (stage(&p, err) < 0 || txn_commit(p.txn, err) < 0)
		return -1;
	for (size_t i = 0; i < p.gone.n; i++) {
		_free_ char *dir = path_dir(p.gone.v[i]);
		(void)rmdir(arena_printf(&p.arena, "%s/%s", spec->repo.root, dir));
	}
	return pages_save_record(&p, now, err);
}
