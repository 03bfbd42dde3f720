/*
 * The making of one piece of an index: stanzas as plain text, as a gzip member, as a zstd frame
 * and as an xz block. Pieces are independent of each other, so they are made in parallel.
 */
#pragma once
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../state/pool.h"
#include "../state/state_index.h"

/* A piece grows to this many bytes of plain text: large enough that a stanza packs as well as in
 * the whole index, small enough that it is packed again in some milliseconds. */
#define PIECE_MAX ((size_t)1 << 20)

/* An index file's present bytes, from which unchanged and changing pieces are read. */
struct piece_source {
	int fd[INDEX_FILES]; /* -1: not there */
};

/* A package to leave out: it stands in piece seq. */
struct piece_removal {
	int64_t seq, deb;
	const char *name, *version, *arch;
};

struct piece_job {
	/* What goes in. */
	const struct piece *old; /* n_old neighbours that become one piece; NULL: a new one */
	size_t n_old;
	int64_t seq;		/* of the piece that comes out */
	bool keep;		/* n_old is 1 and its bytes stay as they are */
	const struct pkg *adds; /* stanzas that follow */
	size_t n_adds;
	const struct piece_source *source;
	const struct piece_removal *removals; /* sorted by seq */
	size_t n_removals;
	bool made[INDEX_FILES]; /* which forms are wanted; plain always is */
	/* What comes out. */
	struct buf out[INDEX_FILES];
	struct err err;
};

/* Makes one piece; a failure stays in job->err. */
void piece_make(struct piece_job *job);
void piece_done(struct piece_job *job);
/*
 * The value of a field in one stanza of n bytes, as this program writes them: points into text,
 * *len gets its length (to the end of the line). NULL if there is none.
 */
const char *piece_field(const char *text, size_t n, const char *field, size_t *len) _must_check_;
/* The length of the first stanza with the empty line that ends it; 0 at the end. */
size_t piece_stanza(const char *text, size_t n) _must_check_;
