#include "debsig.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/clock.h"
#include "../base/err.h"
#include "../base/xalloc.h"
#include "../deb/deb.h"
#include "keyinfo.h"
#include "keyring.h"
#include "signer.h"

#define MEMBER	     "_gpgorigin"
#define SIGNED_PARTS 3 /* debian-binary, control.tar.*, data.tar.* */
#define SIG_MAX	     ((size_t)1 << 20)

/* The bytes that are signed, read from the open package. */
struct covered {
	int fd;
	const struct deb_member *members;
	size_t at;     /* which member */
	uint64_t done; /* how much of it */
};

static ssize_t read_covered(void *arg, void *p, size_t n)
{
	struct covered *c = arg;
	while (c->at < SIGNED_PARTS && c->done == c->members[c->at].size) {
		c->at++;
		c->done = 0;
	}
	if (c->at == SIGNED_PARTS)
		return 0;
	uint64_t left = c->members[c->at].size - c->done;
	ssize_t got = pread(
	    c->fd, p, n < left ? n : (size_t)left, (off_t)(c->members[c->at].offset + c->done));
	if (got > 0)
		c->done += (uint64_t)got;
	if (got == 0)
		errno = EIO; /* the file became shorter */
	return got > 0 ? got : -1;
}

/* The first three members are those that are signed: deb_read promises their order. */
static int open_deb(const struct deb_info *d, int *fd, struct err *err)
{
	if (d->n_members < SIGNED_PARTS)
		return err_set(err, ERR_FORMAT, "'%s' has no data.tar", d->source);
	*fd = open(d->source, O_RDONLY | O_CLOEXEC);
	return *fd < 0 ? err_sys(err, "cannot open '%s'", d->source) : 0;
}

/* The name that makes signer_sign use the right key of those that belong to fpr. */
static const char *origin_name(struct arena *a, const char *fpr, struct err *err)
{
	struct key_info k;
	size_t len = strlen(fpr);
	if (len && fpr[len - 1] == '!')
		return fpr;
	return keyring_find(fpr, &k, a, err) < 0 ? NULL : arena_printf(a, "%s!", k.origin_fpr);
}

int debsig_sign(const char *path, const char *out, const char *fpr, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf sig = BUF_INIT(SIG_MAX);
	_close_ int fd = -1;
	struct deb_info d;
	time_t when;
	const char *name = origin_name(&a, fpr, err);
	if (!name || clock_source_date(clock_now(), &when, err) < 0 ||
	    deb_read(&a, path, DEB_READ_SIGNED, NULL, NULL, &d, err) < 0 ||
	    open_deb(&d, &fd, err) < 0)
		return -1;
	struct covered c = {.fd = fd, .members = d.members};
	struct signer_source src = {read_covered, &c};
	if (signer_sign_source(&src, &name, 1, SIGNER_DETACHED_BINARY, &sig, err) < 0)
		return err_wrap(err, "cannot sign '%s'", path);
	return deb_append_member(path, out, MEMBER, sig.data, sig.len, when, err);
}

static const struct deb_member *find_signature(const struct deb_info *d)
{
	for (size_t i = SIGNED_PARTS; i < d->n_members; i++)
		if (!strcmp(d->members[i].name, MEMBER))
			return &d->members[i];
	return NULL;
}

bool debsig_is_signed(const struct deb_info *deb)
{
	return find_signature(deb) != NULL;
}

int debsig_check(
    const struct deb_info *deb, const struct signer_ring *ring, char fpr[41], struct err *err)
{
	const struct deb_member *m = find_signature(deb);
	const char *path = deb->source;
	_close_ int fd = -1;
	if (!m)
		return err_set(err, ERR_TRUST,
		    "'%s' is not signed (no member " MEMBER "); debkit sign signs it", path);
	if (m->size > SIG_MAX)
		return err_set(err, ERR_TRUST, "'%s': the member " MEMBER " is too large", path);
	if (open_deb(deb, &fd, err) < 0)
		return -1;
	_free_ char *sig = xmalloc(m->size + 1);
	if (pread(fd, sig, m->size, (off_t)m->offset) != (ssize_t)m->size)
		return err_set(err, ERR_SYSTEM, "'%s' changed while it was read", path);
	struct covered c = {.fd = fd, .members = deb->members};
	struct signer_source src = {read_covered, &c};
	if (signer_ring_verify(ring, &src, sig, m->size, fpr, err) < 0)
		return err_wrap(err, "'%s'", path);
	return 0;
}

int debsig_verify_read(
    const struct deb_info *deb, const char *keyring_file, char fpr[41], struct err *err)
{
	_cleanup_(signer_ring_close) struct signer_ring *ring = NULL;
	if (signer_ring_open(keyring_file, &ring, err) < 0)
		return err_wrap(err, "'%s'", deb->source);
	return debsig_check(deb, ring, fpr, err);
}

int debsig_verify(const char *path, const char *keyring_file, char fpr[41], struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct deb_info d;
	if (deb_read(&a, path, DEB_READ_SIGNED, NULL, NULL, &d, err) < 0)
		return -1;
	return debsig_verify_read(&d, keyring_file, fpr, err);
}

void debsig_key_id(const char *fpr, char id[17])
{
	size_t len = strlen(fpr);
	strncpy(id, len > 16 ? fpr + len - 16 : fpr, 16);
	id[16] = '\0';
}

static bool is_plain(const char *name)
{
	return *name && *name != '.' &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "._-")];
}

int debsig_policy(const char *text, const char *keyring, struct buf *out, struct err *err)
{
	char fpr[41];
	if (keyinfo_normalise(text, fpr, err) < 0)
		return -1;
	if (!is_plain(keyring))
		return err_set(err, ERR_USAGE,
		    "'%s' is no name of a keyring file; it may have letters, digits, dot, minus "
		    "and underline",
		    keyring);
	buf_printf(out,
	    "<?xml version=\"1.0\"?>\n"
	    "<!DOCTYPE Policy SYSTEM \"https://www.debian.org/debsig/1.0/policy.dtd\">\n"
	    "<Policy xmlns=\"https://www.debian.org/debsig/1.0/\">\n"
	    "  <Origin Name=\"debkit\" id=\"%s\" Description=\"Packages signed by this key\"/>\n"
	    "  <Selection>\n"
	    "    <Required Type=\"origin\" File=\"%s\" id=\"%s\"/>\n"
	    "  </Selection>\n"
	    "  <Verification MinOptional=\"0\">\n"
	    "    <Required Type=\"origin\" File=\"%s\" id=\"%s\"/>\n"
	    "  </Verification>\n"
	    "</Policy>\n",
	    fpr, keyring, fpr, keyring, fpr);
	return buf_check(out, "debsig policy", err);
}
