/* What the files of the index module share; nobody else includes this. */
#pragma once
#include "pyindex.h"

#define INDEX_TYPE_MAX 96 /* of a media type */

/* Cached answers about projects, one list in the connection. */
struct index_project {
	struct index_project *next;
	const char *name; /* normalised */
	struct index_files files;
};

struct index_project **index_projects(struct index *x);
struct arena *index_arena(struct index *x);
/* The index's address without user, password and final slash; NULL on failure. */
const char *index_url(struct index *x, struct err *err) _must_check_;

/* One answer that is being received, over as many tries as it takes. */
struct transfer {
	struct index *x;
	const char *url;
	bool ranged; /* exactly `limit` bytes from `offset` are wanted; else at most `limit` */
	bool page;   /* a page: compressed if the server likes, never continued in the middle */
	uint64_t offset, limit;
	int (*write)(void *arg, const void *p, size_t n, struct err *err);
	int (*restart)(void *arg, struct err *err); /* forgets what was written; not if ranged */
	void *arg;

	/* Of the last try: */
	long status;		   /* HTTP status, 0 if there was no answer */
	char type[INDEX_TYPE_MAX]; /* media type as sent */
	uint64_t got;		   /* bytes written so far */
	uint64_t asked;		   /* first byte that it asked for */
	bool has_range;		   /* its Content-Range: */
	uint64_t range_first, range_last;
	uint64_t range_total; /* 0: unknown */

	/* Of index.c alone: */
	const char *shown;
	struct err *err;
	bool failed;	 /* err is set and final */
	uint64_t length; /* Content-Length, 0: none */
};

/* Runs a transfer, trying again what may pass. */
int index_receive(struct transfer *t, struct err *err) _must_check_;
/* The address that answered last, after redirects; owned by the caller. */
char *index_final_url(struct index *x);
/* An address without user and password, for messages; owned by the caller. */
char *index_public_url(const char *url);

/*
 * The whole text at url, at most page->max bytes. *missing is set, and no error, for HTTP 404.
 * type gets the media type as sent ("" if none); *final_url (owned by the caller) the address
 * after redirects.
 */
int index_get_page(struct index *x, const char *url, struct buf *page, bool *missing,
    char type[INDEX_TYPE_MAX], char **final_url, struct err *err) _must_check_;
/* ref relative to base, without its fragment; owned by the caller. http and https only. */
char *index_resolve(const char *base, const char *ref, struct err *err) _must_check_;

/*
 * The files on a page (PEP 691 JSON; PEP 503 HTML); url is as written. page names it in errors.
 * Results live in the arena.
 */
int index_parse_json(struct arena *a, const char *text, size_t len, const char *page,
    struct index_files *out, struct err *err) _must_check_;
int index_parse_html(struct arena *a, const char *text, size_t len, const char *page,
    struct index_files *out, struct err *err) _must_check_;
/* Appends a zeroed entry and returns it. */
struct index_file *index_files_add(struct arena *a, struct index_files *files, size_t *cap);
/* True for 64 hex digits; copies them in lower case. */
bool index_take_sha256(const char *hex, char out[SHA256_HEX]);
