/* The Atom feed (RFC 4287) of the newest packages. */
#include <string.h>

#include "../../lib/base/digest.h"
#include "../../lib/base/xalloc.h"
#include "html.h"
#include "pages_int.h"
#include "../index/phase.h"

#define ENTRIES	    50
#define SUMMARY_MAX 500

static int newest_first(const void *x, const void *y)
{
	const struct catalog_deb *a = *(const struct catalog_deb *const *)x;
	const struct catalog_deb *b = *(const struct catalog_deb *const *)y;
	if (a->time != b->time)
		return a->time < b->time ? 1 : -1;
	return a < b ? -1 : a > b;
}

/* A name that stays the same wherever the repository is served: RFC 9562, version 8. */
static void put_id(struct buf *out, const char *sha256)
{
	buf_printf(out, "<id>urn:uuid:%.8s-%.4s-8%.3s-a%.3s-%.12s</id>", sha256, sha256 + 8,
	    sha256 + 13, sha256 + 17, sha256 + 20);
}

static void put_entry(struct pages *p, struct buf *out, const struct catalog_deb *d)
{
	buf_puts(out, "<entry>");
	put_id(out, d->pkg.sha256);
	buf_puts(out, "\n<title>");
	html_text(out, d->pkg.name);
	buf_putc(out, ' ');
	html_text(out, d->pkg.version);
	buf_puts(out, " (");
	html_text(out, d->pkg.arch);
	buf_printf(out, ")</title>\n<updated>%s</updated>\n<link rel=\"alternate\" href=\"",
	    pages_date(&p->arena, d->time, true));
	pages_put_package_path(out, d);
	buf_puts(out, "\"/>\n<summary>");
	pages_put_summary(p, out, d, SUMMARY_MAX);
	buf_puts(out, "</summary></entry>\n");
}

/* What was withdrawn is news that matters more. */
static void put_withdrawn(struct pages *p, struct buf *out, const struct stanza *s)
{
	char id[DIGEST_HEX_MAX];
	const char *name = stanza_get(s, "Package"), *version = stanza_get(s, "Version");
	const char *key = arena_printf(&p->arena, "withdrawn %s %s", name, version);
	digest_hex(DIGEST_SHA256, key, strlen(key), id);
	buf_puts(out, "<entry>");
	put_id(out, id);
	buf_puts(out, "\n<title>Withdrawn: ");
	html_text(out, name);
	buf_putc(out, ' ');
	html_text(out, version);
	buf_printf(out,
	    "</title>\n<updated>%s</updated>\n"
	    "<link rel=\"alternate\" href=\"withdrawn.html\"/>\n<summary>",
	    pages_date(&p->arena, pages_withdrawn_time(s), true));
	html_text(out, stanza_get(s, "Reason"));
	buf_puts(out, "</summary></entry>\n");
}

int pages_feed(struct pages *p, struct err *err)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(PAGE_MAX);
	_free_ const struct catalog_deb **v = xcalloc(p->cat.n + 1, sizeof *v);
	char id[DIGEST_HEX_MAX];
	const char *name = p->url ? p->url : "debkit";
	int64_t newest = 0;
	for (size_t i = 0; i < p->cat.n; i++)
		v[i] = &p->cat.v[i];
	for (size_t i = 0; i < p->cat.n_suites; i++)
		if (p->cat.suites[i].date > newest)
			newest = p->cat.suites[i].date;
	if (p->cat.n)
		qsort(v, p->cat.n, sizeof *v, newest_first);
	digest_hex(DIGEST_SHA256, name, strlen(name), id);
	buf_puts(&out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
		       "<feed xmlns=\"http://www.w3.org/2005/Atom\"");
	if (p->url) {
		buf_puts(&out, " xml:base=\"");
		html_text(&out, p->url);
		buf_puts(&out, p->url[strlen(p->url) - 1] == '/' ? "\"" : "/\"");
	}
	buf_puts(&out, ">\n");
	put_id(&out, id);
	buf_puts(&out, "\n<title>");
	html_text(&out, p->spec->title ? p->spec->title : "debkit repository");
	buf_printf(&out, "</title>\n<author><name>");
	html_text(&out, p->suite ? p->suite->origin : "debkit");
	buf_printf(&out,
	    "</name></author>\n<updated>%s</updated>\n"
	    "<link rel=\"self\" href=\"feed.atom\"/>\n"
	    "<link rel=\"alternate\" href=\"index.html\"/>\n",
	    pages_date(&p->arena, newest, true));
	for (size_t i = 0; i < p->withdrawn.n && i < ENTRIES; i++)
		put_withdrawn(p, &out, &p->withdrawn.v[p->withdrawn.n - 1 - i]);
	for (size_t i = 0; i < p->cat.n && i < ENTRIES; i++)
		put_entry(p, &out, v[i]);
	buf_puts(&out, "</feed>\n");
	return pages_put(p, PHASE_INDEX, "feed.atom", &out, err);
}
