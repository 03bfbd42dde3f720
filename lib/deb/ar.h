/*
 * Private to deb/: the outer archive of a .deb, ar with BSD names as dpkg-deb writes it; read
 * once from front to back, with every byte digested on the way.
 */
#pragma once
#include "../base/compat.h"
#include "../base/digest.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct deb_member;
struct err;
struct outfile;

#define AR_MAGIC_LEN  8u
#define AR_HEADER_LEN 60u

/* One member to write: size bytes at p, or all of the file fd when p is NULL. */
struct ar_part {
	const char *name; /* at most 16 characters */
	const void *p;
	size_t size;
	int fd;
};

/* Writes a whole archive into out; every member root:root, mode 0644 and of this time. */
int ar_write(struct outfile *out, const struct ar_part *parts, size_t n, time_t mtime,
    struct err *err) _must_check_;
/* Writes one more member to an archive whose bytes are in out already. */
int ar_append(
    struct outfile *out, const struct ar_part *part, time_t mtime, struct err *err) _must_check_;

struct ar_reader {
	int fd;
	char *block;
	size_t have, used;	/* bytes in block, and how many of them are consumed */
	uint64_t at, total;	/* file offsets: of the next byte to hand out; of all read */
	uint64_t size;		/* of the file when it was opened */
	uint64_t left;		/* bytes of the member not yet handed out */
	bool pad;		/* a padding byte follows the member */
	struct digest *hash[3]; /* of the whole file: SHA-256, MD5, SHA-1, or NULL */
};
#define AR_READER_INIT                                                                             \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Opens a regular file and checks the magic. n_hash: how many of the digests to keep. */
int ar_open(struct ar_reader *r, const char *path, size_t n_hash, struct err *err) _must_check_;
/* 1: m describes the next member (what is left of the one before is skipped); 0: the end. */
int ar_next(struct ar_reader *r, struct deb_member *m, struct err *err) _must_check_;
/* Hands out the next bytes of the member, valid until the next call; *n 0 at its end. */
int ar_data(struct ar_reader *r, const void **p, size_t *n, struct err *err) _must_check_;
/* Reads a member of exactly n bytes. */
int ar_data_all(struct ar_reader *r, void *p, size_t n, struct err *err) _must_check_;
void ar_close(struct ar_reader *r);
