/*
 * Writes templates/lock anew from what the package indexes announce: exact files, sizes, hashes;
 * RECORD and exports by range requests, and only of files that are new. Compares the matrix with
 * METADATA and the list of wheels on the way.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct lockwrite_request {
	const char *templates; /* folder */
	const char *cuda;      /* look only at what this CUDA needs; NULL: at all */
	bool check;	       /* compare, write nothing, read no wheel that is not in the lock */
	void (*change)(void *arg, const char *text); /* a line for each difference */
	void (*warn)(void *arg, const char *text);
	void (*progress)(void *arg, size_t done, size_t total, const char *what);
	void *arg;
};

struct lockwrite_result {
	size_t n_files;	  /* in the new lock */
	size_t n_changes; /* differences to the old one */
	unsigned requests;
	uint64_t bytes; /* received */
};

/*
 * Fields of a stanza that this does not know stay while the file has the same hash, and so do
 * stanzas of projects that the templates do not name. An index that a stanza of the matrix names
 * and that cannot be reached is a warning, and its stanzas stay; the machine's own must answer.
 * ERR_FORMAT, and nothing is written, if the matrix says what the index denies.
 */
int lockwrite_run(
    const struct lockwrite_request *r, struct lockwrite_result *out, struct err *err) _must_check_;
