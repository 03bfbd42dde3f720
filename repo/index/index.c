#include "index.h"

#include <fcntl.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/parallel.h"
#include "../../lib/base/path.h"
#include "../../lib/base/txn.h"
#include "../../lib/base/xalloc.h"
#include "index_plan.h"
#include "phase.h"
#include "../state/release.h"
#include "../state/xz.h"

/* A plain Packages is written beside the packed ones up to this size: handy for people, while a
 * large one would be most of what a publish writes. Its digest stands in Release in any case. */
#define PLAIN_MAX ((uint64_t)1 << 20)
#define TAIL_MAX  ((size_t)1 << 20)

struct writer {
	struct arena *arena;
	struct txn *txn;
	const struct index_spec *spec;
	const struct index_row *old;
	struct piece_source source;
	struct piece_job *jobs;
	size_t n_jobs, first; /* jobs before first are copied as they are */
	bool made[INDEX_FILES];
	const char *name[INDEX_FILES];
	int fd[INDEX_FILES];
	struct sums sums[INDEX_FILES];
	struct xz_index *xz;
	struct piece *pieces;
};

char *index_dir(struct arena *a, const struct index_spec *x)
{
	return arena_printf(a, "dists/%s/%s/binary-%s", x->suite, x->component, x->arch);
}

static char *file_name(struct arena *a, const struct index_spec *x, int kind)
{
	return arena_printf(a, "%s/Packages%s", index_dir(a, x), index_suffix[kind]);
}

bool index_intact(const struct index_spec *x, const struct index_row *row)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	for (int kind = 0; kind < INDEX_FILES; kind++) {
		struct ident now;
		const struct ident *then = &row->files[kind];
		const char *path = arena_printf(&a, "%s/%s", x->root, file_name(&a, x, kind));
		if (then->ino && (ident_get(path, &now) < 0 || !ident_same(&now, then)))
			return false;
	}
	return row->files[FILE_ZST].ino && (row->files[FILE_XZ].ino != 0) == x->compat &&
	       (row->files[FILE_GZ].ino == 0) == x->no_gz;
}

static void writer_done(struct writer *w)
{
	for (int kind = 0; kind < INDEX_FILES; kind++) {
		close_fd(&w->fd[kind]);
		close_fd(&w->source.fd[kind]);
	}
	free(w->jobs);
	xz_index_free(w->xz);
}

static int open_files(struct writer *w, struct err *err)
{
	for (int kind = 0; kind < INDEX_FILES; kind++) {
		w->name[kind] = file_name(w->arena, w->spec, kind);
		const char *path = arena_printf(w->arena, "%s/%s", w->spec->root, w->name[kind]);
		if (!w->old->stale && w->old->files[kind].ino)
			w->source.fd[kind] = open(path, O_RDONLY | O_CLOEXEC);
		if (w->made[kind] &&
		    (w->fd[kind] = txn_create(w->txn, PHASE_INDEX, w->name[kind], err)) < 0)
			return -1;
		sums_init(&w->sums[kind], w->spec->compat);
	}
	return 0;
}

static int put(struct writer *w, int kind, const struct buf *b, struct err *err)
{
	sums_update(&w->sums[kind], buf_str(b), b->len);
	return w->fd[kind] < 0 ? 0 : txn_write(w->fd[kind], buf_str(b), b->len, w->name[kind], err);
}

static int count_old_xz_blocks(struct writer *w, struct err *err)
{
	for (size_t i = 0; w->made[FILE_XZ] && i < w->first; i++) {
		char head[XZ_BLOCK_HEAD];
		ssize_t n = pread(w->source.fd[FILE_XZ], head, sizeof head,
		    (off_t)w->old->pieces[i].offset[FILE_XZ]);
		if (n < 0)
			return err_sys(err, "cannot read '%s'", w->name[FILE_XZ]);
		if (xz_index_add(w->xz, head, (size_t)n, err) < 0)
			return -1;
	}
	return 0;
}

/* What stands before the first change: bytes by the kernel's copying, digests from the state. */
static int copy_prefix(struct writer *w, struct err *err)
{
	const struct piece *last = w->first ? &w->old->pieces[w->first - 1] : NULL;
	for (int kind = 0; last && kind < INDEX_FILES; kind++) {
		w->sums[kind] = last->sums[kind];
		if (w->fd[kind] >= 0 &&
		    txn_write_range(w->fd[kind], w->source.fd[kind], 0,
			last->offset[kind] + last->size[kind], w->name[kind], err) < 0)
			return -1;
	}
	if (last) {
		memcpy(w->pieces, w->old->pieces, w->first * sizeof *w->pieces);
		return count_old_xz_blocks(w, err);
	}
	_cleanup_(buf_done) struct buf header = BUF_INIT(XZ_HEADER);
	if (!w->made[FILE_XZ])
		return 0;
	return xz_header(&header, err) < 0 ? -1 : put(w, FILE_XZ, &header, err);
}

static int put_piece(struct writer *w, size_t i, struct err *err)
{
	struct piece_job *job = &w->jobs[i];
	struct piece *p = &w->pieces[i];
	if (job->err.code) {
		*err = job->err;
		return err_wrap(err, "'%s'", w->name[FILE_PLAIN]);
	}
	p->seq = job->seq;
	for (int kind = 0; kind < INDEX_FILES; kind++) {
		if (kind != FILE_PLAIN && !w->made[kind])
			continue;
		if (put(w, kind, &job->out[kind], err) < 0)
			return -1;
		p->size[kind] = job->out[kind].len;
		p->sums[kind] = w->sums[kind];
	}
	if (!w->made[FILE_XZ])
		return 0;
	return xz_index_add(w->xz, buf_str(&job->out[FILE_XZ]), job->out[FILE_XZ].len, err);
}

static void make_job(void *arg, size_t i)
{
	struct piece_job *jobs = arg;
	piece_make(&jobs[i]);
}

/* A few pieces at a time, so that memory does not grow with the index. */
static int put_pieces(struct writer *w, struct err *err)
{
	size_t batch = 2 * parallel_threads();
	for (size_t at = w->first; at < w->n_jobs; at += batch) {
		size_t n = w->n_jobs - at < batch ? w->n_jobs - at : batch;
		int rc = 0;
		parallel_run(n, make_job, &w->jobs[at]);
		for (size_t i = at; i < at + n; i++) {
			if (rc == 0)
				rc = put_piece(w, i, err);
			piece_done(&w->jobs[i]);
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int put_xz_tail(struct writer *w, struct err *err)
{
	_cleanup_(buf_done) struct buf tail = BUF_INIT(TAIL_MAX);
	if (!w->made[FILE_XZ])
		return 0;
	return xz_index_write(w->xz, &tail, err) < 0 ? -1 : put(w, FILE_XZ, &tail, err);
}

static int link_by_hash(struct writer *w, int kind, const struct sums_hex *hex, struct err *err)
{
	const char *dir = index_dir(w->arena, w->spec);
	for (int alg = 0; alg < SUM_ALGS; alg++) {
		if (!*hex->hex[alg])
			continue;
		const char *name =
		    arena_printf(w->arena, "%s/by-hash/%s/%s", dir, sum_names[alg], hex->hex[alg]);
		if (txn_link_staged(w->txn, PHASE_BY_HASH, name, w->name[kind], err) < 0)
			return -1;
	}
	return 0;
}

static int finish(
    struct writer *w, struct index_row *row, struct release_list *files, struct err *err)
{
	size_t skip = strlen("dists/") + strlen(w->spec->suite) + 1;
	for (int kind = 0; kind < INDEX_FILES; kind++) {
		row->files[kind] = (struct ident){0};
		if (!w->made[kind])
			txn_remove(w->txn, w->name[kind]);
		if (!w->made[kind] && kind != FILE_PLAIN)
			continue;
		struct release_file f = {.name = w->name[kind] + skip};
		sums_hex(&w->sums[kind], &f.sums);
		release_list_add(files, &f);
		if (!w->made[kind])
			continue;
		if (ident_get_fd(w->fd[kind], &row->files[kind]) < 0)
			return err_sys(err, "cannot look at '%s'", w->name[kind]);
		if (link_by_hash(w, kind, &f.sums, err) < 0)
			return -1;
	}
	return 0;
}

static int update_state(struct writer *w, struct state *state, struct index_row *row,
    const struct index_change *c, struct err *err)
{
	for (size_t i = 0; i < c->n_removals; i++)
		if (state_drop_member(state, row->id, c->removals[i].deb, err) < 0)
			return -1;
	for (size_t i = w->first; i < w->n_jobs; i++) {
		const struct piece_job *job = &w->jobs[i];
		for (size_t k = 1; k < job->n_old; k++)
			if (state_move_members(state, row->id, job->old[k].seq, job->seq, err) < 0)
				return -1;
		for (size_t k = 0; k < job->n_adds; k++)
			if (state_put_member(state, row->id, job->adds[k].deb, job->seq, err) < 0)
				return -1;
	}
	row->pieces = w->pieces;
	row->n_pieces = w->n_jobs;
	row->stale = false;
	return state_put_index(state, row, w->first, err);
}

int index_write(struct arena *a, struct state *state, struct txn *t, const struct index_spec *x,
    struct index_row *row, const struct index_change *c, struct release_list *files,
    struct err *err)
{
	struct index_row old = *row;
	_cleanup_(writer_done) struct writer w = {.arena = a,
	    .txn = t,
	    .spec = x,
	    .old = &old,
	    .source = {{-1, -1, -1, -1}},
	    .made = {[FILE_GZ] = !x->no_gz, [FILE_ZST] = true, [FILE_XZ] = x->compat},
	    .fd = {-1, -1, -1, -1},
	    .xz = xz_index_new()};
	w.jobs = index_plan(&old, c, &w.n_jobs);
	w.made[FILE_PLAIN] = index_plan_size(w.jobs, w.n_jobs) <= PLAIN_MAX;
	for (size_t i = 0; i < w.n_jobs; i++) {
		w.jobs[i].source = &w.source;
		memcpy(w.jobs[i].made, w.made, sizeof w.made);
	}
	/* A plain file that is not there cannot be copied. */
	if (!w.made[FILE_PLAIN] || old.files[FILE_PLAIN].ino)
		while (w.first < w.n_jobs && w.jobs[w.first].keep)
			w.first++;
	w.pieces = arena_alloc(a, w.n_jobs * sizeof *w.pieces);
	if (open_files(&w, err) < 0 || copy_prefix(&w, err) < 0 || put_pieces(&w, err) < 0 ||
	    put_xz_tail(&w, err) < 0 || finish(&w, row, files, err) < 0)
		return -1;
	return update_state(&w, state, row, c, err);
}
