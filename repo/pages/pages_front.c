/* The front page. */
#include <string.h>

#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/subst.h"
#include "../../lib/deb/stanza.h"
#include "html.h"
#include "pages_int.h"
#include "../index/phase.h"
#include "../change/site.h"

#define PACKAGES_SHOWN 20
#define SUITES_SHOWN   30
#define SUMMARY_MAX    120
#define PART_MAX       ((size_t)4 << 20)

/* The parts of the page that are put together at the end. */
struct front {
	struct buf title, lead, use, choose, matrix, packages, suites, withdrawn, keys, choice;
	struct buf script_hash, style_hash;
};

static void put_fingerprint(struct buf *out, const char *fpr)
{
	buf_puts(out, "<code>");
	for (size_t i = 0; fpr[i]; i++) {
		if (i && i % 4 == 0)
			buf_puts(out, i == 20 ? "  " : " ");
		html_text_n(out, &fpr[i], 1);
	}
	buf_puts(out, "</code>");
}

/* What to paste, as root; https needs certificates that a minimal image does not have. */
static void put_lines(struct pages *p, struct buf *out)
{
	if (str_starts(p->url, "https:"))
		buf_puts(out,
		    "apt-get update\napt-get install -y --no-install-recommends ca-certificates\n");
	buf_puts(out, "/usr/lib/apt/apt-helper download-file ");
	html_text(out, p->url);
	buf_puts(out, p->url[strlen(p->url) - 1] == '/' ? "" : "/");
	buf_puts(out, SITE_SOURCES " /etc/apt/sources.list.d/" SITE_SOURCES "\napt-get update\n");
}

static int put_distributions(struct pages *p, struct buf *out, struct err *err)
{
	const char *path = arena_printf(&p->arena, "%s/suites", p->spec->templates);
	struct stanza_list list = {0};
	if (stanza_parse_file(&p->arena, path, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		const char *name = stanza_get(&list.v[i], "Suite");
		const char *codename = stanza_get(&list.v[i], "Codename");
		const char *python = stanza_get(&list.v[i], "Python");
		if (!name || !codename || !python)
			return err_set(err, ERR_FORMAT,
			    "%s:%u: expected Suite, Codename and Python", path, list.v[i].line);
		buf_puts(out, "<h3>");
		html_text(out, name);
		buf_puts(out, " (");
		html_text(out, codename);
		buf_puts(out, "; its Python is ");
		html_text(out, python);
		buf_puts(out, ")</h3>\n<pre id=\"lines-");
		html_text(out, codename);
		buf_puts(out, "\"><code>");
		put_lines(p, out);
		buf_puts(out, "</code></pre>\n");
	}
	return 0;
}

static void put_fingerprints(struct pages *p, struct buf *out)
{
	for (size_t i = 0; p->suite && i < p->suite->keys.n; i++) {
		buf_puts(out, i ? ", " : "");
		put_fingerprint(out, p->suite->keys.v[i]);
	}
}

static int put_use(struct pages *p, struct front *f, struct err *err)
{
	struct buf *out = &f->use;
	if (!p->url) {
		buf_puts(out, "<p>No address of this repository is known: "
			      "<code>debkit publish --url URL</code> tells it, and then this page "
			      "shows the lines to paste.</p>\n");
		return 0;
	}
	buf_puts(out, "<p>Paste these lines as root; then <code>apt-get install</code> the package "
		      "that is named below.");
	if (p->suite && p->suite->keys.n) {
		buf_puts(out, " The source file holds the key; its fingerprint is ");
		put_fingerprints(p, out);
		buf_putc(out, '.');
	}
	buf_puts(out, "</p>\n");
	if (put_distributions(p, out, err) < 0)
		return -1;
	buf_puts(out, "<details>\n<summary>The source file itself, to paste or to compare"
		      "</summary>\n<pre id=\"sources\"><code>");
	html_text(out, p->sources);
	buf_puts(out, "</code></pre>\n<p>It belongs into "
		      "<code>/etc/apt/sources.list.d/" SITE_SOURCES "</code>.</p>\n</details>\n");
	return 0;
}

static void put_keys(struct pages *p, struct front *f)
{
	struct buf *out = &f->keys;
	if (!p->suite || !p->suite->keys.n) {
		buf_puts(out, "<p class=\"warn\">The repository is not signed: it is for "
			      "tests.</p>\n");
		return;
	}
	buf_puts(out, "<p>Lists and packages are signed by ");
	put_fingerprints(p, out);
	buf_puts(out, ".</p>\n<p>The public keys: <a href=\"" SITE_KEYRING "\">" SITE_KEYRING
		      "</a>. Compare the fingerprint with one that reached you another way: "
		      "<code>gpg --show-keys --with-fingerprint " SITE_KEYRING "</code>.</p>\n");
}

static void put_packages(struct pages *p, struct front *f)
{
	struct buf *out = &f->packages;
	size_t names = 0;
	if (!p->cat.n) {
		buf_puts(out, "<p>The repository lists no package yet.</p>\n");
		return;
	}
	buf_puts(out, "<dl>\n");
	for (size_t i = 0; i < p->cat.n; i += catalog_run(&p->cat, i)) {
		const struct catalog_deb *d = &p->cat.v[i];
		if (names++ >= PACKAGES_SHOWN)
			continue;
		buf_puts(out, "<dt><a href=\"");
		pages_put_package_path(out, d);
		buf_puts(out, "\">");
		html_text(out, d->pkg.name);
		buf_puts(out, "</a> ");
		html_text(out, d->pkg.version);
		buf_puts(out, "</dt><dd>");
		pages_put_summary(p, out, d, SUMMARY_MAX);
		buf_puts(out, "</dd>\n");
	}
	buf_printf(out, "</dl>\n<p><a href=\"packages.html\">All %zu packages</a></p>\n", names);
}

static void put_suite(struct pages *p, struct buf *out, const struct suite *s)
{
	buf_puts(out, "<tr><th scope=\"row\">");
	html_text(out, s->name);
	buf_puts(out, "</th><td>");
	if (s->snapshot_of) {
		buf_puts(out, "snapshot of ");
		html_text(out, s->snapshot_of);
	} else {
		buf_puts(out, "changes");
	}
	buf_printf(out, "</td><td>%s</td><td>", pages_date(&p->arena, s->date, false));
	if (s->valid_days)
		buf_puts(
		    out, pages_date(&p->arena, s->date + (int64_t)s->valid_days * 86400, false));
	else
		buf_puts(out, "no end");
	buf_puts(out, "</td></tr>\n");
}

static void put_suites(struct pages *p, struct front *f)
{
	struct buf *out = &f->suites;
	if (!p->cat.n_suites) {
		buf_puts(out, "<p>There is no suite yet.</p>\n");
		return;
	}
	buf_puts(out,
	    "<p>The lines above name one suite; another takes its place with "
	    "<code>sed -i 's/^Suites:.*/Suites: NAME/' /etc/apt/sources.list.d/" SITE_SOURCES
	    "</code>. A snapshot never changes.</p>\n"
	    "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"List of suites\">\n"
	    "<table>\n<thead><tr><th scope=\"col\">Name</th><th scope=\"col\">What it is</th>"
	    "<th scope=\"col\">Date</th><th scope=\"col\">Valid until</th></tr></thead>\n"
	    "<tbody>\n");
	for (size_t i = 0; i < p->cat.n_suites && i < SUITES_SHOWN; i++)
		put_suite(p, out, &p->cat.suites[i]);
	buf_puts(out, "</tbody>\n</table>\n</div>\n");
	if (path_exists(arena_printf(&p->arena, "%s/retention", p->repo.root)))
		buf_puts(out, "<p>What is kept, and for how long: <a href=\"retention\">retention"
			      "</a>.</p>\n");
	if (p->cat.n_suites > SUITES_SHOWN)
		buf_printf(out, "<p>%zu more are below <code>dists/</code>.</p>\n",
		    p->cat.n_suites - SUITES_SHOWN);
}

static void put_choice(struct pages *p, struct front *f)
{
	for (const char *c = buf_str(&p->choice); *c; c++) {
		if (*c == '<')
			buf_puts(&f->choice, "\\u003c");
		else
			buf_putc(&f->choice, *c);
	}
	if (p->matrix.len) {
		buf_append(&f->matrix, p->matrix.data, p->matrix.len);
		buf_puts(&f->choose,
		    "The <a href=\"#matrix\">matrix</a> has a row for each torch and "
		    "a column for each Python. The package for CUDA 12.8 has a name "
		    "that ends in cu128.");
	} else {
		buf_puts(
		    &f->matrix, "<p>The repository has no package that belongs to a torch.</p>\n");
		buf_puts(&f->choose, "See the <a href=\"packages.html\">packages</a>.");
	}
}

static int put_together(struct pages *p, struct front *f, struct err *err)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(PAGE_MAX);
	const char *path = arena_printf(&p->arena, "%s/site/index.html.in", p->spec->templates);
	const struct subst values[] = {{"TITLE", buf_str(&f->title)}, {"LEAD", buf_str(&f->lead)},
	    {"USE", buf_str(&f->use)}, {"CHOOSE", buf_str(&f->choose)},
	    {"MATRIX", buf_str(&f->matrix)}, {"PACKAGES", buf_str(&f->packages)},
	    {"SUITES", buf_str(&f->suites)}, {"WITHDRAWN", buf_str(&f->withdrawn)},
	    {"KEYS", buf_str(&f->keys)}, {"CHOICE", buf_str(&f->choice)}, {"SCRIPT", p->script},
	    {"STYLE", p->style}, {"SCRIPT_HASH", buf_str(&f->script_hash)},
	    {"STYLE_HASH", buf_str(&f->style_hash)}, {NULL, NULL}};
	if (subst_expand_file(path, values, &out, err) < 0)
		return -1;
	return pages_put(p, PHASE_INRELEASE, "index.html", &out, err);
}

int pages_front(struct pages *p, struct err *err)
{
	struct front f;
	struct buf *parts[] = {&f.title, &f.lead, &f.use, &f.choose, &f.matrix, &f.packages,
	    &f.suites, &f.withdrawn, &f.keys, &f.choice, &f.script_hash, &f.style_hash};
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		*parts[i] = (struct buf)BUF_INIT(PART_MAX);
	html_text(&f.title, p->title ? p->title : "CUDA extensions for PyTorch");
	html_text(
	    &f.lead, p->suite && p->suite->description
			 ? p->suite->description
			 : "Compiled and signed packages for apt: no compiler, no CUDA toolkit.");
	html_policy_hash(&f.script_hash, p->script, strlen(p->script));
	html_policy_hash(&f.style_hash, p->style, strlen(p->style));
	int rc = put_use(p, &f, err);
	put_choice(p, &f);
	put_packages(p, &f);
	put_suites(p, &f);
	pages_put_withdrawn(p, &f.withdrawn);
	put_keys(p, &f);
	for (size_t i = 0; i < ARRAY_SIZE(parts) && rc == 0; i++)
		rc = buf_check(parts[i], "the front page", err);
	if (rc == 0)
		rc = put_together(p, &f, err);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		buf_done(parts[i]);
	return rc;
}
