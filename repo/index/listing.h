/* What an index on disk lists: for the state's recovery, and for indexes that are made anew. */
#pragma once
#include "../state/pool.h"

struct buf;
struct err;
struct suite;

/* Adds the packages of an index's text, in their order. ERR_FORMAT. */
int listing_parse(struct arena *a, const struct buf *text, const char *component,
    struct pkg_list *out, struct err *err) _must_check_;
/*
 * Adds the packages that the suite's Release lists for a component and architecture, in their
 * order, with their stanzas; none if it knows no such index. Files are checked against Release.
 */
int listing_read(struct arena *a, const char *root, const struct suite *s, const char *component,
    const char *arch, struct pkg_list *out, struct err *err) _must_check_;
