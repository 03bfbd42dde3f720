/* A private GNUPGHOME for the unit tests of sign/, with a short name for gpg-agent's socket. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/sign/keyring.h"

struct keyhome {
	char dir[24];
	char *file; /* "dir/FILE" of the last keyhome_file */
	struct arena arena;
	struct err err;
};

static inline int keyhome_setup(void **state)
{
	struct keyhome *h = xcalloc(1, sizeof *h);
	*state = h;
	strcpy(h->dir, "/tmp/dkt.XXXXXX");
	return mkdtemp(h->dir) && setenv("GNUPGHOME", h->dir, 1) == 0 ? 0 : -1;
}

static inline int keyhome_teardown(void **state)
{
	struct keyhome *h = *state;
	int rc = system("gpgconf --kill all");
	rc |= path_remove_tree(h->dir, &h->err);
	arena_done(&h->arena);
	free(h->file);
	free(h);
	return rc;
}

/* Runs a shell command, in the home, that must succeed. */
static inline void keyhome_sh(struct keyhome *h, const char *command)
{
	_free_ char *line = xasprintf(
	    "cd %s && g() { gpg --batch --quiet --no-tty --passphrase '' \"$@\" 2>>log; } "
	    "&& { %s; } >>log 2>&1",
	    h->dir, command);
	int rc = system(line);
	if (rc) {
		_free_ char *show = xasprintf("sed 's/^/# /' %s/log >&2", h->dir);
		(void)!system(show);
	}
	assert_int_equal(rc, 0);
}

/* The fingerprint of the newest key in the home, in the arena. */
static inline const char *keyhome_fpr(struct keyhome *h)
{
	keyhome_sh(h,
	    "gpg --with-colons --list-keys | awk -F: '$1 == \"pub\" {p = 1} $1 == \"fpr\" "
	    "&& p {f = $10; p = 0} END {printf \"%s\", f}' >fpr");
	_free_ char *path = path_join(h->dir, "fpr");
	_cleanup_(buf_done) struct buf b = BUF_INIT(100);
	assert_int_equal(path_read(path, &b, &h->err), 0);
	return arena_strdup(&h->arena, buf_str(&b));
}

static inline const char *keyhome_file(struct keyhome *h, const char *name)
{
	free(h->file);
	h->file = path_join(h->dir, name);
	return h->file;
}

/* Makes a key with keyring_new. */
static inline struct key_info keyhome_new(struct keyhome *h, const char *uid)
{
	struct key_info k = {0};
	if (keyring_new(uid, "3y", &k, &h->arena, &h->err) < 0)
		fail_msg("%s", h->err.msg);
	return k;
}
