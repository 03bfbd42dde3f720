/* Signing of a Release. */
#include "../state/release.h"

#include <sys/stat.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/base/parallel.h"
#include "../../lib/sign/signer.h"
#include "phase.h"
#include "../state/suite.h"

#define TEXT_MAX ((size_t)8 << 20)
#define BILLION	 1000000000

/* The two signatures are made at the same time: each is a program that starts and an agent. */
struct signing {
	enum signer_mode mode;
	const struct buf *text;
	const struct strv *keys;
	struct buf out;
	struct err err;
	int rc;
};

static void sign_one(void *arg, size_t i)
{
	struct signing *s = (struct signing *)arg + i;
	s->rc = signer_sign(s->text->data, s->text->len, (const char *const *)s->keys->v,
	    s->keys->n, s->mode, &s->out, &s->err);
}

/*
 * Stages the file that makes a Release known to clients. Its time is later by a second at least
 * than the last one's: a server answers "not modified" by whole seconds.
 */
static int stage_last(struct txn *t, unsigned phase, const char *name, const struct buf *b,
    struct ident *last, struct err *err)
{
	_close_ int fd = txn_create(t, phase, name, err);
	if (fd < 0 || txn_write(fd, b->data, b->len, name, err) < 0)
		return -1;
	int64_t before = last->ino ? last->mtime / BILLION : 0;
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_sys(err, "cannot look at '%s'", name);
	if (st.st_mtim.tv_sec <= before) {
		struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = before + 1}};
		if (futimens(fd, times) < 0)
			return err_sys(err, "cannot set the time of '%s'", name);
	}
	if (ident_get_fd(fd, last) < 0)
		return err_sys(err, "cannot look at '%s'", name);
	return 0;
}

static int stage_signed(struct arena *a, struct txn *t, const struct suite *s,
    const struct buf *text, struct ident *last, struct err *err)
{
	struct signing both[2] = {
	    {.mode = SIGNER_DETACHED_ARMOR, .text = text, .keys = &s->keys},
	    {.mode = SIGNER_CLEAR, .text = text, .keys = &s->keys},
	};
	both[0].out = both[1].out = (struct buf)BUF_INIT(2 * TEXT_MAX);
	parallel_run(2, sign_one, both);
	int rc = 0;
	for (size_t i = 0; i < 2 && rc == 0; i++) {
		rc = both[i].rc;
		if (rc < 0)
			*err = both[i].err;
	}
	if (rc < 0)
		rc = err_wrap(err, "cannot sign suite '%s'", s->name);
	else
		rc = txn_put(t, PHASE_RELEASE, arena_printf(a, "dists/%s/Release.gpg", s->name),
		    both[0].out.data, both[0].out.len, err);
	if (rc == 0)
		rc = stage_last(t, PHASE_INRELEASE, arena_printf(a, "dists/%s/InRelease", s->name),
		    &both[1].out, last, err);
	buf_done(&both[0].out);
	buf_done(&both[1].out);
	return rc;
}

int release_stage(struct arena *a, struct txn *t, const struct suite *s,
    const struct release_list *files, struct ident *last, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX);
	const char *name = arena_printf(a, "dists/%s/Release", s->name);
	release_write(s, files, &text);
	if (buf_check(&text, "Release", err) < 0)
		return -1;
	if (!s->keys.n)
		return stage_last(t, PHASE_RELEASE, name, &text, last, err);
	if (txn_put(t, PHASE_RELEASE, name, text.data, text.len, err) < 0)
		return -1;
	return stage_signed(a, t, s, &text, last, err);
}
