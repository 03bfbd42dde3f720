/* The pages of packages, and the lists of them. */
#include <string.h>

#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "html.h"
#include "pages_int.h"
#include "../index/phase.h"
#include "../change/retention.h"

#define VERSIONS_PER_PAGE 100
#define PACKAGES_PER_PAGE 500
#define SUMMARY_MAX	  300

/* A file beside the .deb, of the same name with another ending. */
static void put_beside(struct pages *p, struct buf *out, const struct catalog_deb *d,
    const char *ending, const char *label)
{
	const char *path =
	    arena_printf(&p->arena, "%.*s%s", (int)(strlen(d->pkg.path) - 4), d->pkg.path, ending);
	if (!path_exists(arena_printf(&p->arena, "%s/%s", p->repo.root, path)))
		return;
	buf_puts(out, "<br><a href=\"../../");
	html_path(out, path);
	buf_printf(out, "\">%s</a>", label);
}

static void put_version(struct pages *p, struct buf *out, const struct catalog_deb *d)
{
	_free_ char *suites = strv_join(&d->suites, ", ");
	const char *why = pages_withdrawn_why(p, d);
	buf_puts(out, "<tr><th scope=\"row\">");
	html_text(out, d->pkg.version);
	buf_puts(out, "</th><td>");
	html_text(out, d->pkg.arch);
	buf_puts(out, "</td><td>");
	html_size(out, d->pkg.size);
	buf_puts(out, "</td><td>");
	html_text(out, suites);
	buf_puts(out, "</td><td class=\"file\"><a href=\"../../");
	html_path(out, d->pkg.path);
	buf_puts(out, "\">");
	html_text(out, path_base(d->pkg.path));
	buf_puts(out, "</a><br>SHA-256 <code>");
	html_text(out, d->pkg.sha256);
	buf_puts(out, "</code><br>Origin signature: ");
	if (*d->signer)
		buf_printf(out, "good, by <code>%s</code>", d->signer);
	else
		html_text(out, d->signed_why);
	if (why) {
		buf_puts(out, "<br><span class=\"warn\">Withdrawn: ");
		html_text(out, why);
		buf_puts(out, "</span>");
	}
	put_beside(p, out, d, ".buildinfo", "How it was built (.buildinfo)");
	put_beside(p, out, d, ".spdx.json", "What it holds (SPDX)");
	put_beside(p, out, d, ".spdx.json.asc", "its signature");
	put_beside(p, out, d, ".intoto.json", "Who built it from what (in-toto)");
	buf_puts(out, "</td></tr>\n");
}

/* The description after its first line, as paragraphs; lines that begin with a space stay lines. */
static void put_long(struct buf *out, const struct catalog_deb *d)
{
	const char *text = strstr(d->pkg.text, "\nDescription:");
	bool open = false;
	if (!text || !(text = strchr(text + 1, '\n')))
		return;
	while (text[0] == '\n' && text[1] == ' ') {
		const char *line = text + 2;
		size_t n = strcspn(line, "\n");
		if (n == 1 && *line == '.') {
			buf_puts(out, open ? "</p>\n" : "");
			open = false;
		} else {
			buf_puts(out, !open ? "<p>" : *line == ' ' ? "<br>" : "\n");
			html_text_n(out, line, n);
			open = true;
		}
		text = line + n;
	}
	buf_puts(out, open ? "</p>\n" : "");
}

static void put_relations(struct pages *p, struct buf *out, const struct catalog_deb *d)
{
	static const char *const fields[] = {"Depends", "Pre-Depends", "Recommends", "Provides",
	    "Conflicts", "Homepage", "Debkit-Cuda", "Debkit-Cuda-Archs", "Debkit-Torch",
	    "Debkit-Python", "Debkit-Compiler"};
	bool some = false;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const char *value = catalog_field(&p->arena, d, fields[i]);
		if (!value || !*value)
			continue;
		buf_printf(out, "%s<dt>%s</dt><dd>", some ? "" : "<dl>\n", fields[i]);
		html_text(out, value);
		buf_puts(out, "</dd>\n");
		some = true;
	}
	buf_puts(out, some ? "</dl>\n" : "");
}

static void put_head(struct pages *p, struct buf *out, const struct catalog_deb *d)
{
	buf_puts(out, "<h1>");
	html_text(out, d->pkg.name);
	buf_puts(out, "</h1>\n<p class=\"lead\">");
	pages_put_summary(p, out, d, SUMMARY_MAX);
	buf_puts(out, "</p>\n");
}

static void put_changelog(struct buf *out, const struct catalog_deb *d)
{
	if (!*d->changelog)
		return;
	buf_puts(out, "<h2>Changelog</h2>\n<pre>");
	html_text(out, d->changelog);
	buf_puts(out, "</pre>\n");
}

static int put_page(
    struct pages *p, size_t at, size_t n, size_t page, size_t pages, struct err *err)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(PAGE_MAX);
	const struct catalog_deb *d = &p->cat.v[at];
	size_t first = (page - 1) * VERSIONS_PER_PAGE;
	const char *name = page == 1
			       ? arena_printf(&p->arena, "packages/%s/index.html", d->pkg.name)
			       : arena_printf(&p->arena, "packages/%s/%zu.html", d->pkg.name, page);
	put_head(p, &out, d);
	if (page == 1) {
		buf_puts(&out, "<pre><code>apt-get install ");
		html_text(&out, d->pkg.name);
		buf_puts(&out, "</code></pre>\n");
		put_long(&out, d);
		put_relations(p, &out, d);
	}
	buf_puts(&out,
	    "<h2 id=\"versions\">Versions</h2>\n"
	    "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"versions\">\n"
	    "<table>\n<thead><tr><th scope=\"col\">Version</th><th scope=\"col\">Architecture</th>"
	    "<th scope=\"col\">Size</th><th scope=\"col\">Suites</th><th scope=\"col\">File</th>"
	    "</tr></thead>\n<tbody>\n");
	for (size_t i = first; i < n && i < first + VERSIONS_PER_PAGE; i++)
		put_version(p, &out, d + i);
	buf_puts(&out, "</tbody>\n</table>\n</div>\n");
	if (path_exists(arena_printf(&p->arena, "%s/" RETENTION_FILE, p->repo.root)))
		buf_puts(&out, "<p>How long versions are kept: <a href=\"../../" RETENTION_FILE
			       "\">retention</a>.</p>\n");
	pages_put_numbers(&out, page, pages, "index.html", "");
	if (page == 1)
		put_changelog(&out, d);
	strv_add(&p->made, name);
	return pages_put_page(p, PHASE_POOL, name, d->pkg.name, "../../", &out, err);
}

static int put_package(struct pages *p, size_t at, size_t n, struct err *err)
{
	size_t pages = (n + VERSIONS_PER_PAGE - 1) / VERSIONS_PER_PAGE;
	if (!path_is_safe_member(p->cat.v[at].pkg.name))
		return err_set(
		    err, ERR_FORMAT, "a package has the name '%s'", p->cat.v[at].pkg.name);
	for (size_t page = 1; page <= pages; page++)
		if (put_page(p, at, n, page, pages, err) < 0)
			return -1;
	return 0;
}

static int put_list(struct pages *p, struct buf *rows, size_t page, size_t pages, struct err *err)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(PAGE_MAX);
	buf_puts(&out, "<h1>Packages</h1>\n");
	if (rows->len)
		buf_printf(&out, "<dl>\n%s</dl>\n", buf_str(rows));
	else
		buf_puts(&out, "<p>The repository lists no package yet.</p>\n");
	pages_put_numbers(&out, page, pages, "packages.html", "packages-");
	buf_truncate(rows, 0);
	return pages_put_page(p, PHASE_BY_HASH,
	    page == 1 ? "packages.html" : arena_printf(&p->arena, "packages-%zu.html", page),
	    "Packages", "", &out, err);
}

int pages_packages(struct pages *p, struct err *err)
{
	_cleanup_(buf_done) struct buf rows = BUF_INIT(PAGE_MAX);
	size_t names = 0, page = 0, in_page = 0, n;
	for (size_t i = 0; i < p->cat.n; i += catalog_run(&p->cat, i))
		names++;
	size_t pages = names ? (names + PACKAGES_PER_PAGE - 1) / PACKAGES_PER_PAGE : 1;
	for (size_t i = 0; i < p->cat.n; i += n) {
		const struct catalog_deb *d = &p->cat.v[i];
		n = catalog_run(&p->cat, i);
		if (put_package(p, i, n, err) < 0)
			return -1;
		buf_puts(&rows, "<dt><a href=\"");
		pages_put_package_path(&rows, d);
		buf_puts(&rows, "\">");
		html_text(&rows, d->pkg.name);
		buf_puts(&rows, "</a> ");
		html_text(&rows, d->pkg.version);
		buf_puts(&rows, "</dt><dd>");
		pages_put_summary(p, &rows, d, SUMMARY_MAX);
		buf_puts(&rows, "</dd>\n");
		if (++in_page < PACKAGES_PER_PAGE)
			continue;
		in_page = 0;
		if (put_list(p, &rows, ++page, pages, err) < 0)
			return -1;
	}
	return page < pages ? put_list(p, &rows, page + 1, pages, err) : 0;
}
