/* A package made again from its .buildinfo, and compared with the one that it describes. */
#pragma once
#include "../../lib/base/compat.h"
#include "pipeline.h"
#include <stdbool.h>

struct arena;
struct buf;
struct err;

struct rebuild_spec {
	const char *buildinfo;
	const char *deb;     /* the package; NULL: beside the .buildinfo */
	const char *keyring; /* whose signatures of the .buildinfo count; NULL: the key that it
			      * names, from GNUPGHOME */
	bool unsigned_ok;    /* take a .buildinfo without a signature */
	bool cached;	     /* take compiled objects from the cache, else compile all again */
	const char *work;    /* a folder for the new packages, made if absent */
	const struct pipeline_events *events;
};

struct rebuild_result {
	const char *package, *version, *arch;
	const char *recipe, *cuda;
	const char *deb, *made; /* the two files; deb NULL: only its digest was known */
	bool same;
	const char *why; /* the first difference */
};

/*
 * ERR_TRUST if the .buildinfo is not signed by an accepted key, or the package is not the one that
 * it describes; ERR_FORMAT if it was not written by `debkit build`. A difference is no error: res
 * says so. What differs in the tools is told as a warning before the build. Everything lives in
 * the arena. Sets SOURCE_DATE_EPOCH for this process.
 */
int rebuild_run(struct arena *a, const struct rebuild_spec *spec, struct rebuild_result *res,
    struct err *err) _must_check_;
