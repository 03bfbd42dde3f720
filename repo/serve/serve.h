/* nginx over a repository: its configuration, and nginx itself in the foreground. */
#pragma once
#include "../../lib/base/compat.h"

struct buf;
struct err;

struct serve_spec {
	const char *root;      /* of the repository */
	const char *templates; /* the folder with nginx.conf.in */
	const char *listen;    /* "8080", "127.0.0.1:8080", "[::1]:8080" */
	const char *path;      /* below which it is served too, "/apt", or NULL */
	/* Called once all is in order and nginx is about to start, or NULL. */
	void (*begins)(const struct serve_spec *spec);
};

/* Appends the configuration; run is a folder for nginx's own files. ERR_USAGE. */
int serve_config(
    const struct serve_spec *spec, const char *run, struct buf *out, struct err *err) _must_check_;
/* Runs nginx until a signal comes; its files lie in a private folder, which goes at the end. */
int serve_run(const struct serve_spec *spec, struct err *err) _must_check_;
