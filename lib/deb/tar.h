/* Private to deb/: tar members written in the one form that dpkg --unpack accepts. */
#pragma once
#include "deb.h"

struct err;
struct outfile;
struct tar_writer;

static inline void digest_clear(struct digest **d)
{
	digest_free(*d);
}

/*
 * Writes a gnutar archive, compressed, into out from its present end. name is used in messages.
 * Members are root:root with the given time; their names begin with "./".
 */
struct tar_writer *tar_writer_new(struct outfile *out, enum deb_compress compress, time_t mtime,
    const char *name, struct err *err) _must_check_;
void tar_writer_free(struct tar_writer *t); /* accepts NULL */

/* rel is the name below the root, "" for the root itself. */
int tar_add_dir(struct tar_writer *t, const char *rel, struct err *err) _must_check_;
int tar_add_link(
    struct tar_writer *t, const char *rel, const char *target, struct err *err) _must_check_;
int tar_add_bytes(struct tar_writer *t, const char *rel, unsigned mode, const void *p, size_t n,
    struct err *err) _must_check_;
/* Copies size bytes of the open file fd (full is its name, for messages) and digests them. */
int tar_add_file(struct tar_writer *t, const char *rel, unsigned mode, int fd, uint64_t size,
    const char *full, char md5[DIGEST_HEX_MAX], struct err *err) _must_check_;
/* Writes the end; the archive is complete only after this. */
int tar_writer_close(struct tar_writer *t, struct err *err) _must_check_;
