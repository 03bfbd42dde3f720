/*
 * Private to deb/: a tar read as dpkg reads it (v7, ustar and GNU long names; tar(5)), which is
 * less than what libarchive would accept: no pax header, sparse file, device or volume label.
 */
#pragma once
#include "../base/compat.h"
#include "../base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoder;
struct err;

struct tar_entry {
	char type;	  /* 'f', 'd', 'l', 'h' as in struct deb_file */
	const char *name; /* no leading "./" or "/", no trailing "/"; "" for the root folder */
	const char *link; /* target of 'l' and 'h', else NULL; a hard link's is like a name */
	uint64_t size;	  /* of 'f', else 0 */
	unsigned mode;
};

struct tar_reader {
	struct decoder *in;
	const char *piece; /* what the decoder handed out and is not yet used */
	size_t piece_len;
	uint64_t left; /* bytes of the present file */
	unsigned pad;  /* bytes to the next block after it */
	struct buf name, link;
};
void tar_reader_init(struct tar_reader *t, struct decoder *in);
void tar_reader_done(struct tar_reader *t);
/*
 * 1: e describes the next member, valid until the next call. 0: the end, after which only zero
 * bytes came; the decoder has been read to its end.
 */
int tar_reader_next(struct tar_reader *t, struct tar_entry *e, struct err *err) _must_check_;
/* Hands out the next bytes of the file; *n 0 at its end. */
int tar_reader_data(struct tar_reader *t, const void **p, size_t *n, struct err *err) _must_check_;
