#include "index_plan.h"

#include "../../lib/base/xalloc.h"

/* Neighbours join while they stay well below a piece's size, so that they can take some more. */
#define JOIN_MAX (PIECE_MAX / 4 * 3)

static uint64_t job_size(const struct piece_job *job)
{
	uint64_t n = 0;
	for (size_t i = 0; i < job->n_old; i++)
		n += job->old[i].size[FILE_PLAIN];
	for (size_t i = 0; i < job->n_adds; i++)
		n += job->adds[i].text_len + 1;
	return n;
}

uint64_t index_plan_size(const struct piece_job *jobs, size_t n)
{
	uint64_t size = 0;
	for (size_t i = 0; i < n; i++)
		size += job_size(&jobs[i]);
	return size;
}

static bool has_removal(const struct index_change *c, int64_t seq)
{
	for (size_t i = 0; i < c->n_removals; i++)
		if (c->removals[i].seq == seq)
			return true;
	return false;
}

static struct piece_job *add_job(struct piece_job **jobs, size_t *n)
{
	if (!(*n & (*n + 1)))
		*jobs = xreallocarray(*jobs, 2 * (*n + 1), sizeof **jobs);
	return &(*jobs)[(*n)++];
}

/* One job for each piece that is there; small ones beside a changed one join it. */
static struct piece_job *plan_old(
    const struct index_row *old, const struct index_change *c, size_t *n)
{
	struct piece_job *jobs = NULL;
	for (size_t i = 0; i < old->n_pieces; i++) {
		const struct piece *p = &old->pieces[i];
		bool keep = !has_removal(c, p->seq);
		struct piece_job *before = *n ? &jobs[*n - 1] : NULL;
		if (before && !(keep && before->keep) &&
		    job_size(before) + p->size[FILE_PLAIN] <= JOIN_MAX) {
			before->n_old++;
			before->keep = false;
			continue;
		}
		*add_job(&jobs, n) = (struct piece_job){.old = p,
		    .n_old = 1,
		    .keep = keep,
		    .seq = p->seq,
		    .removals = c->removals,
		    .n_removals = c->n_removals};
	}
	return jobs;
}

struct piece_job *index_plan(const struct index_row *old, const struct index_change *c, size_t *out)
{
	size_t n = 0, n_old = old->stale ? 0 : old->n_pieces;
	struct piece_job *jobs = old->stale ? NULL : plan_old(old, c, &n);
	int64_t seq = n_old ? old->pieces[n_old - 1].seq + 1 : 1;
	uint64_t size = n ? job_size(&jobs[n - 1]) : 0;
	for (size_t i = 0; i < c->n_adds; i++) {
		size_t len = c->adds[i].text_len + 1;
		if (n == 0 || size + len > PIECE_MAX) {
			*add_job(&jobs, &n) = (struct piece_job){.seq = seq++};
			size = 0;
		}
		struct piece_job *job = &jobs[n - 1];
		if (!job->n_adds)
			job->adds = &c->adds[i];
		job->n_adds++;
		job->keep = false;
		size += len;
	}
	if (n == 0)
		*add_job(&jobs, &n) = (struct piece_job){.seq = seq};
	*out = n;
	return jobs;
}
