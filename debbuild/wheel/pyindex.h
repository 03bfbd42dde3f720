/*
 * The Python package index that this machine's pip uses (PEP 503, 691, 658), through libcurl.
 * Its address is asked of pip's own settings (PIP_INDEX_URL, `pip config`, else what is built
 * into the installed pip) and is written nowhere in the project.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/digest.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct err;

struct index_file {
	const char *name;	 /* "torch-2.10.0-1-cp311-cp311-manylinux_2_28_x86_64.whl" */
	const char *url;	 /* absolute */
	char sha256[SHA256_HEX]; /* "" if the index gives none */
	uint64_t size;		 /* 0 if the index gives none */
	bool has_metadata;	 /* URL.metadata has its METADATA alone (PEP 658) */
	bool yanked;
};

struct index_files {
	struct index_file *v;
	size_t n;
};

struct index; /* a connection: one curl handle, one address, counters of what it cost */

/*
 * url NULL: as the machine's pip; else that index (as "https://download.pytorch.org/whl/cu128").
 * pip is asked at the first request and not before; the environment then is what counts.
 */
int index_open(const char *url, struct index **out, struct err *err) _must_check_;
void index_close(struct index *x); /* accepts NULL */
/* All files of a project; results live in the arena and are cached for this connection. */
int index_list(struct index *x, struct arena *a, const char *project, struct index_files *out,
    struct err *err) _must_check_;
/* The file of that name, ERR_NETWORK "index has no file 'X' (newest of that project: Y)". */
int index_find(struct index *x, struct arena *a, const char *project, const char *filename,
    struct index_file *out, struct err *err) _must_check_;
/*
 * As index_find for a file whose hash and size are known (NULL, 0: not): an index that announces
 * others is ERR_TRUST naming both.
 */
int index_find_pinned(struct index *x, struct arena *a, const char *project, const char *filename,
    const char *sha256, uint64_t size, struct index_file *out, struct err *err) _must_check_;
/* Appends the METADATA of a wheel that has_metadata. */
int index_metadata(
    struct index *x, const struct index_file *f, struct buf *out, struct err *err) _must_check_;
/*
 * The whole file at url as the server keeps it, appended to out: at most out->max bytes. For what
 * is no index page and has no known hash. *missing is set, and no error, for HTTP 404.
 */
int index_get(struct index *x, const char *url, struct buf *out, bool *missing,
    struct err *err) _must_check_;
/*
 * The whole file into path, unless path already holds these bytes: checked against sha256
 * (ERR_TRUST naming both hashes), renamed only when right. Retries a broken transfer with Range
 * up to 4 times. size is the most that is accepted (0: 4 GiB). progress may be NULL.
 */
int index_fetch(struct index *x, const char *url, const char *sha256, uint64_t size,
    const char *path, void (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
    struct err *err) _must_check_;
/*
 * Exactly n bytes from offset, appended to out. A server that answers 200 instead of 206, another
 * Content-Range or fewer bytes is ERR_NETWORK with what it did.
 */
int index_range(struct index *x, const char *url, uint64_t offset, uint64_t n, struct buf *out,
    struct err *err) _must_check_;
/* The size of the file at url, by a range request of one byte: for an index that tells none. */
int index_size(struct index *x, const char *url, uint64_t *size, struct err *err) _must_check_;
/* Requests made and body bytes received so far. */
void index_cost(const struct index *x, unsigned *requests, uint64_t *bytes);
