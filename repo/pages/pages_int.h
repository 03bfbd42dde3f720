/* Shared by the files that make the web pages. */
#pragma once
#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/digest.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/stanza.h"
#include "catalog.h"
#include "pages.h"

struct txn;

#define PAGE_MAX ((size_t)64 << 20)

struct pages {
	const struct pages_spec *spec;
	struct pages_result *res;
	struct repo repo;
	struct arena arena;
	struct catalog cat;
	const struct suite *suite; /* that the lines to paste name; NULL: there is none */
	const char *title;	   /* or NULL */
	struct buf matrix, choice; /* HTML and JSON; empty if there is nothing to show */
	const char *sources, *url; /* text of the .sources file and its address, or NULL */
	struct stanza_list withdrawn;
	const char *script, *style; /* texts that go into pages as they are */
	struct txn *txn;
	struct strv made, gone; /* pages of packages, below the root */
};

/* Stages a file unless it is there with these bytes. */
int pages_put(struct pages *p, unsigned phase, const char *name, const struct buf *text,
    struct err *err) _must_check_;
/*
 * Stages a page: body inside the frame of templates/site/page.html.in. up is the way to the root:
 * "" or "../../".
 */
int pages_put_page(struct pages *p, unsigned phase, const char *name, const char *title,
    const char *up, const struct buf *body, struct err *err) _must_check_;
/* Links to the pages before and after one of several: first is page 1, other + "N.html" page N. */
void pages_put_numbers(
    struct buf *out, size_t page, size_t pages, const char *first, const char *other);
/* "2026-11-30", or with time "2026-11-30T07:00:00Z". */
const char *pages_date(struct arena *a, int64_t t, bool with_time);
/* The first line of its description, cut to max bytes. */
void pages_put_summary(struct pages *p, struct buf *out, const struct catalog_deb *d, size_t max);
/* "packages/NAME/index.html", escaped for an attribute. */
void pages_put_package_path(struct buf *out, const struct catalog_deb *d);

/* A digest over all that the pages are made from, by what files are known again. */
int pages_made_from(struct pages *p, char hex[DIGEST_HEX_MAX], struct err *err) _must_check_;
/* What .debkit/site says of the last time; NULL for what it does not. */
void pages_load_record(struct pages *p, const char **title, const char **made_from);
int pages_save_record(struct pages *p, const char *made_from, struct err *err) _must_check_;

int pages_read_withdrawn(struct pages *p, struct err *err) _must_check_;
/* The reason why that package was withdrawn, or NULL. */
const char *pages_withdrawn_why(const struct pages *p, const struct catalog_deb *d) _must_check_;
int64_t pages_withdrawn_time(const struct stanza *s) _must_check_;
/* The section of the front page; nothing if nothing was withdrawn. */
void pages_put_withdrawn(struct pages *p, struct buf *out);

int pages_withdrawn(struct pages *p, struct err *err) _must_check_; /* the page of all */
int pages_front(struct pages *p, struct err *err) _must_check_;
int pages_packages(struct pages *p, struct err *err) _must_check_; /* all but the front page */
int pages_feed(struct pages *p, struct err *err) _must_check_;
