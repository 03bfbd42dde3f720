/* The matrix as one static page: tables with headers, words and not colours alone, no script. */
#include <string.h>

#include "../../lib/base/buf.h"
#include "built.h"
#include "cells.h"
#include "cells_words.h"
#include "../data/matrix.h"
#include "../data/recipe.h"
#include "../data/states.h"

static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>Supported torch, CUDA and Python</title>\n"
    "<style>\n"
    "body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; "
    "padding: 0 1rem; color: #1a1a1a; background: #fff; }\n"
    "table { border-collapse: collapse; margin: 0 0 1rem; }\n"
    "caption { text-align: left; font-weight: bold; padding: 1rem 0 .3rem; }\n"
    "th, td { border: 1px solid #767676; padding: .2rem .7rem; text-align: left; }\n"
    ".there { background: #dff3e0; }\n"
    ".empty { color: #595959; }\n"
    ".scroll { overflow-x: auto; }\n"
    "</style>\n"
    "</head>\n"
    "<body>\n"
    "<main>\n";

static void text(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '&')
			buf_puts(out, "&amp;");
		else if (*s == '<')
			buf_puts(out, "&lt;");
		else if (*s == '>')
			buf_puts(out, "&gt;");
		else if (*s == '"')
			buf_puts(out, "&quot;");
		else
			buf_putc(out, *s);
	}
}

static void put_cell(const struct cell *c, struct buf *out)
{
	const struct state_fact *seen = c->gpu ? c->gpu : c->imported;
	buf_printf(out, "<td class=\"%s\">%s", c->facts ? "there" : "empty", cell_word(c));
	if (c->facts && !(c->facts & CELL_BUILT))
		buf_puts(out, " by the binding of another torch");
	if (c->facts & CELL_REBUILT)
		buf_puts(out, ", rebuilt byte for byte");
	if (seen && seen->note) {
		buf_puts(out, " (");
		text(out, seen->note);
		buf_puts(out, ")");
	}
	buf_puts(out, "</td>");
}

static void put_table(const struct cells *c, const char *cuda, struct buf *out)
{
	const struct built_package *p = cells_package(c, cuda);
	const struct cell *row;
	buf_printf(out,
	    "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s, CUDA "
	    "%s\">\n<table>\n"
	    "<caption>CUDA %s",
	    c->recipe->name, cuda, cuda);
	if (p) {
		buf_puts(out, ", GPU archs ");
		text(out, p->archs);
	}
	buf_puts(out, "</caption>\n<thead>\n<tr><th scope=\"col\">torch</th>");
	for (char **py = c->pythons; *py; py++)
		buf_printf(out, "<th scope=\"col\">Python %s</th>", *py);
	buf_puts(out, "</tr>\n</thead>\n<tbody>\n");
	for (char **t = c->torches; *t; t++) {
		if (!cells_row(c, cuda, *t, &row))
			continue;
		buf_printf(out, "<tr><th scope=\"row\">%s</th>", row->release->version);
		for (char **py = c->pythons; *py; py++, row++)
			put_cell(row, out);
		buf_puts(out, "</tr>\n");
	}
	buf_puts(out, "</tbody>\n</table>\n</div>\n");
}

/* The torches that have no build for the CUDA, with the reason of each. */
static void put_absent(const struct cells *c, const char *cuda, struct buf *out)
{
	const struct cell *row, *last = NULL;
	for (char **t = c->torches; *t; t++) {
		if (cells_row(c, cuda, *t, &row))
			continue;
		if (last && !strcmp(last->reason, row->reason)) {
			buf_printf(out, ", %s", row->torch);
			continue;
		}
		if (last) {
			buf_puts(out, ": ");
			text(out, last->reason);
			buf_puts(out, "</li>\n");
		} else {
			buf_printf(out, "<p>Not for CUDA %s:</p>\n<ul>\n", cuda);
		}
		buf_printf(out, "<li>torch %s", row->torch);
		last = row;
	}
	if (!last)
		return;
	buf_puts(out, ": ");
	text(out, last->reason);
	buf_puts(out, "</li>\n</ul>\n");
}

static void put_words(const struct cells *c, struct buf *out)
{
	buf_puts(out, "<dl>\n");
	for (const struct cell_meaning *m = cell_meanings; m->word; m++)
		if (strcmp(m->word, "no pair") && cells_use(c, m->word))
			buf_printf(out, "<dt>%s</dt><dd>%s</dd>\n", m->word, m->meaning);
	buf_puts(out, "</dl>\n");
}

void cells_print_tables(const struct cells *c, const struct matrix *m, struct buf *out)
{
	put_words(c, out);
	for (char **cuda = c->cudas; *cuda; cuda++) {
		put_table(c, *cuda, out);
		for (size_t i = 0; i < m->n_gaps; i++) {
			if (strcmp(m->gaps[i].cuda, *cuda))
				continue;
			buf_puts(out, "<p>");
			text(out, m->gaps[i].reason);
			buf_puts(out, ".</p>\n");
		}
	}
}

void cells_print_html(const struct cells *c, struct buf *out)
{
	buf_puts(out, head);
	buf_puts(out, "<h1>");
	text(out, c->recipe->name);
	buf_puts(out, " ");
	text(out, c->recipe->deb_version);
	buf_puts(out, "</h1>\n");
	put_words(c, out);
	for (char **cuda = c->cudas; *cuda; cuda++) {
		put_table(c, *cuda, out);
		put_absent(c, *cuda, out);
	}
	buf_puts(out, "</main>\n</body>\n</html>\n");
}
