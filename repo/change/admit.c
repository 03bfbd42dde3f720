#include "admit.h"

#include <pthread.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/parallel.h"
#include "../../lib/base/path.h"
#include "../../lib/base/txn.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/sign/signer.h"
#include "../index/phase.h"

enum verdict { UNREAD, READ, REFUSED, PRESENT };

struct slot {
	enum verdict verdict;
	struct pkg pkg;
	char *why; /* of a refusal; with its code */
	enum err_code code;
};

struct desk {
	struct change *change;
	const struct admission_spec *spec;
	struct admit_spec read;
	struct signer_ring *ring;
	struct slot *slots;
	size_t n;
	pthread_mutex_t mutex; /* over the change's arena */
};

static void desk_done(struct desk *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->slots[i].why);
	free(d->slots);
	signer_ring_close(&d->ring);
}

static void refuse(struct slot *s, const struct err *why)
{
	s->verdict = REFUSED;
	s->code = why->code;
	free(s->why);
	s->why = xstrdup(why->msg);
}

/* Whether the pool holds a package that it should; --paranoid reads it. */
static bool is_in_pool(const struct desk *d, const struct deb_row *row)
{
	char sha256[DIGEST_HEX_MAX];
	const char *root = d->change->repo->root;
	if (!pool_has(root, row->path, row->size))
		return false;
	if (!d->spec->paranoid)
		return true;
	_free_ char *path = path_join(root, row->path);
	return digest_file_hex(DIGEST_SHA256, path, sha256, NULL, NULL) == 0 &&
	       !strcmp(sha256, row->sha256);
}

/* A file that was admitted before and has not changed since is not read again. */
static int check_known(struct desk *d, size_t i, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct change *c = d->change;
	struct ident now;
	struct deb_row row;
	int64_t deb;
	if (!c || !c->row.id || d->spec->paranoid || ident_get(d->spec->files->v[i], &now) < 0)
		return 0;
	int found = state_find_source(c->repo->state, &now, &deb, err);
	if (found == 1)
		found = state_get_deb(c->repo->state, &a, deb, &row, err);
	if (found == 1)
		found = change_lists(c, d->spec->component, row.arch, deb, err);
	if (found == 1 && is_in_pool(d, &row))
		d->slots[i].verdict = PRESENT;
	return found < 0 ? -1 : 0;
}

/* Copies a file that the pool lacks, as it was when it was read. */
int admit_stage(struct change *c, struct pkg *p, struct err *err)
{
	struct ident now;
	if (txn_place(c->txn, PHASE_POOL, p->path, p->from, c->link, err) < 0)
		return -1;
	p->staged = true;
	if (ident_get(p->from, &now) == 0 && ident_same(&now, &p->ident))
		return 0;
	return err_set(err, ERR_CONFLICT,
	    "'%s' changed while it was read; publish it again when it is complete", p->from);
}

static void read_one(void *arg, size_t i)
{
	_cleanup_(arena_done) struct arena scratch = ARENA_INIT;
	struct desk *d = arg;
	struct slot *s = &d->slots[i];
	struct err why = {0};
	struct pkg p;
	if (s->verdict != UNREAD || intr_pending())
		return;
	if (pool_admit(&scratch, d->spec->files->v[i], &d->read, &p, &why) < 0) {
		refuse(s, &why);
		return;
	}
	s->verdict = READ;
	if (!d->change)
		return;
	if (!d->spec->dry && !pool_has(d->change->repo->root, p.path, p.size) &&
	    admit_stage(d->change, &p, &why) < 0) {
		refuse(s, &why);
		return;
	}
	pthread_mutex_lock(&d->mutex);
	s->pkg = pkg_copy(d->change->arena, &p);
	pthread_mutex_unlock(&d->mutex);
}

/* True if the user named the very file in the pool. */
static bool is_pool_file(const struct change *c, const struct pkg *p)
{
	struct ident there;
	_free_ char *path = path_join(c->repo->root, p->path);
	return ident_get(path, &there) == 0 && there.dev == p->ident.dev &&
	       ident_same(&there, &p->ident);
}

static void unstage(struct change *c, struct pkg *p)
{
	if (p->staged)
		txn_unstage(c->txn, p->path);
	p->staged = false;
}

/* Compares a file with what the pool holds and the suite lists. */
static int compare(struct desk *d, struct pkg *p, bool *listed, struct err *err)
{
	struct change *c = d->change;
	struct state *state = c->repo->state;
	struct deb_row row;
	*listed = false;
	int found = state_find_deb(state, c->arena, p->name, p->version, p->arch, &row, err);
	if (found == 0) {
		found = state_find_twin(state, c->arena, p->name, p->path, &row, err);
		if (found == 1)
			return err_set(err, ERR_CONFLICT,
			    "'%s': versions %s and %s of %s have the same file name; raise the "
			    "upstream version",
			    p->from, row.version, p->version, p->name);
		if (!p->staged && is_pool_file(c, p))
			p->from = NULL;
		return found < 0 ? -1 : state_put_deb(state, p, &p->deb, err);
	}
	if (found == 1 && strcmp(row.sha256, p->sha256))
		return err_set(err, ERR_CONFLICT,
		    "'%s': %s %s %s is there with other bytes: SHA256 %s there, %s here; raise the "
		    "version",
		    p->from, p->name, p->version, p->arch, row.sha256, p->sha256);
	if (found < 0)
		return -1;
	p->deb = row.id;
	if (strcmp(p->path, row.path)) { /* it lies in another component's pool */
		unstage(c, p);
		pkg_set_path(c->arena, p, row.path);
	}
	found = change_lists(c, p->component, p->arch, row.id, err);
	*listed = found == 1;
	if (!p->staged && is_in_pool(d, &row))
		p->from = NULL;
	return found < 0 ? -1 : 0;
}

static int settle_one(struct desk *d, size_t i, struct admission *out, struct err *err)
{
	struct pkg *p = &d->slots[i].pkg;
	bool listed;
	if (!d->change)
		return 0;
	p->from = d->spec->files->v[i];
	if (compare(d, p, &listed, err) < 0)
		return -1;
	if (listed)
		out->present++;
	if (!listed)
		pkg_list_add(&out->fresh, p);
	else if (p->from) /* gone from the pool: it goes there again */
		pkg_list_add(&out->lost, p);
	return state_put_source(d->change->repo->state, &p->ident, p->deb, err);
}

static int by_deb(const void *x, const void *y)
{
	const struct pkg *a = x, *b = y;
	return (a->deb > b->deb) - (a->deb < b->deb);
}

/* The same package may be named twice in one call. */
static void drop_repeated(struct pkg_list *l)
{
	size_t kept = 0;
	if (l->n)
		qsort(l->v, l->n, sizeof *l->v, by_deb);
	for (size_t i = 0; i < l->n; i++)
		if (!kept || l->v[kept - 1].deb != l->v[i].deb)
			l->v[kept++] = l->v[i];
	l->n = kept;
}

static int settle(struct desk *d, struct admission *out, struct err *err)
{
	size_t refused = 0;
	enum err_code code = ERR_NONE;
	for (size_t i = 0; i < d->n; i++) {
		struct slot *s = &d->slots[i];
		struct err why = {0};
		if (s->verdict == PRESENT)
			out->present++;
		if (s->verdict == READ && settle_one(d, i, out, &why) < 0)
			refuse(s, &why);
		if (s->verdict != REFUSED)
			continue;
		refused++;
		if (s->code == ERR_SYSTEM || !code)
			code = s->code;
		err_set(&why, s->code, "%s", s->why);
		if (d->spec->refused)
			d->spec->refused(d->spec->files->v[i], &why);
	}
	if (refused)
		return err_set(
		    err, code, "%zu of %zu files refused; nothing was published", refused, d->n);
	drop_repeated(&out->fresh);
	drop_repeated(&out->lost);
	return 0;
}

/* The keyring, if there is something to read. */
static int open_ring(struct desk *d, struct err *err)
{
	size_t i = 0;
	while (i < d->n && d->slots[i].verdict != UNREAD)
		i++;
	if (i == d->n || !d->spec->keyring)
		return 0;
	if (signer_ring_open(d->spec->keyring, &d->ring, err) < 0)
		return -1;
	d->read.ring = d->ring;
	return 0;
}

int admit_files(
    struct change *c, const struct admission_spec *spec, struct admission *out, struct err *err)
{
	_cleanup_(desk_done) struct desk d = {.change = c,
	    .spec = spec,
	    .read = {.component = spec->component, .all_hashes = c && c->suite.compat},
	    .slots = xcalloc(spec->files->n + 1, sizeof *d.slots),
	    .n = spec->files->n,
	    .mutex = PTHREAD_MUTEX_INITIALIZER};
	*out = (struct admission){0};
	for (size_t i = 0; i < d.n; i++)
		if (check_known(&d, i, err) < 0)
			return -1;
	if (open_ring(&d, err) < 0)
		return -1;
	parallel_run(d.n, read_one, &d);
	return intr_check(err) < 0 ? -1 : settle(&d, out, err);
}

void admission_done(struct admission *a)
{
	pkg_list_done(&a->fresh);
	pkg_list_done(&a->lost);
}
