/*
 * Packages that were withdrawn, with the reason: the file "withdrawn" in the root, one deb822
 * stanza for each (Package, Version, Date, Suites, Reason), the oldest first.
 */
#include <string.h>

#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/deb/stanza.h"
#include "html.h"
#include "pages_int.h"
#include "../index/phase.h"

#define SHOWN 10

int pages_read_withdrawn(struct pages *p, struct err *err)
{
	const char *path = arena_printf(&p->arena, "%s/withdrawn", p->repo.root);
	if (!path_exists(path))
		return 0;
	if (stanza_parse_file(&p->arena, path, 0, &p->withdrawn, err) < 0)
		return -1;
	for (size_t i = 0; i < p->withdrawn.n; i++) {
		const struct stanza *s = &p->withdrawn.v[i];
		if (!stanza_get(s, "Package") || !stanza_get(s, "Version") ||
		    !stanza_get(s, "Date") || !stanza_get(s, "Reason"))
			return err_set(err, ERR_FORMAT,
			    "%s:%u: expected Package, Version, Date and Reason", path, s->line);
	}
	return 0;
}

const char *pages_withdrawn_why(const struct pages *p, const struct catalog_deb *d)
{
	for (size_t i = 0; i < p->withdrawn.n; i++) {
		const struct stanza *s = &p->withdrawn.v[i];
		if (!strcmp(stanza_get(s, "Package"), d->pkg.name) &&
		    !strcmp(stanza_get(s, "Version"), d->pkg.version))
			return stanza_get(s, "Reason");
	}
	return NULL;
}

int64_t pages_withdrawn_time(const struct stanza *s)
{
	time_t t = 0;
	return clock_parse_release(stanza_get(s, "Date"), &t) < 0 ? 0 : (int64_t)t;
}

/* The newest first. */
static void put_list(struct pages *p, struct buf *out, size_t max)
{
	buf_puts(out, "<dl>\n");
	for (size_t i = 0; i < p->withdrawn.n && i < max; i++) {
		const struct stanza *s = &p->withdrawn.v[p->withdrawn.n - 1 - i];
		buf_puts(out, "<dt>");
		html_text(out, stanza_get(s, "Package"));
		buf_putc(out, ' ');
		html_text(out, stanza_get(s, "Version"));
		buf_printf(
		    out, ", %s</dt><dd>", pages_date(&p->arena, pages_withdrawn_time(s), false));
		html_text(out, stanza_get(s, "Reason"));
		buf_puts(out, "</dd>\n");
	}
	buf_puts(out, "</dl>\n");
}

void pages_put_withdrawn(struct pages *p, struct buf *out)
{
	if (!p->withdrawn.n)
		return;
	buf_puts(out, "<section aria-labelledby=\"withdrawn\">\n"
		      "<h2 id=\"withdrawn\">Withdrawn</h2>\n"
		      "<p>No suite lists these any more, and none will again; snapshots still do. "
		      "Install a newer version.</p>\n");
	put_list(p, out, SHOWN);
	if (p->withdrawn.n > SHOWN)
		buf_printf(out, "<p><a href=\"withdrawn.html\">All %zu</a></p>\n", p->withdrawn.n);
	buf_puts(out, "</section>\n\n");
}

int pages_withdrawn(struct pages *p, struct err *err)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(PAGE_MAX);
	buf_puts(&out, "<h1>Withdrawn packages</h1>\n");
	if (p->withdrawn.n)
		put_list(p, &out, p->withdrawn.n);
	else
		buf_puts(&out, "<p>None.</p>\n");
	return pages_put_page(
	    p, PHASE_BY_HASH, "withdrawn.html", "Withdrawn packages", "", &out, err);
}
