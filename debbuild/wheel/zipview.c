#include "zipview.h"

#include "../../lib/base/err.h"

#define GAP ((uint64_t)32 << 10) /* unwanted bytes that cost less than another request */

/* libarchive looks for the end records in the last 16 KiB: no member shall lie there. */
static const char zeros[16384];

void zipview_init(struct zipview *v, const struct zipdir *d, zipdir_read_fn *read, void *arg)
{
	*v = (struct zipview){.dir = d,
	    .read = read,
	    .arg = arg,
	    .tail = BUF_INIT(ZIPDIR_MAX + 65536),
	    .window = BUF_INIT(ZIPVIEW_WINDOW)};
	buf_append(&v->tail, zeros, sizeof zeros);
	zipdir_write_wanted(d, &v->tail);
}

uint64_t zipview_size(const struct zipview *v)
{
	return v->dir->start + v->tail.len;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The wanted member that holds pos, else the first behind it, else dir->n. */
static size_t find(const struct zipview *v, uint64_t pos)
{
	const struct zipdir *d = v->dir;
	size_t low = 0, high = d->n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (d->v[mid].end <= pos)
			low = mid + 1;
		else
			high = mid;
	}
	while (low < d->n && !d->v[low].wanted)
		low++;
	return low;
}

/* Where the run of wanted members that begins with i ends, small gaps included. */
static uint64_t run_end(const struct zipdir *d, size_t i, uint64_t most)
{
	uint64_t end = d->v[i].end;
	for (; i < d->n && d->v[i].offset <= end + GAP && end < most; i++)
		if (d->v[i].wanted)
			end = d->v[i].end;
	return least(end, most);
}

static int fill(struct zipview *v, uint64_t end, struct err *err)
{
	buf_truncate(&v->window, 0);
	v->window_at = v->pos;
	return v->read(v->arg, v->pos, end - v->pos, &v->window, err);
}

int zipview_next(struct zipview *v, const void **p, size_t *n, struct err *err)
{
	uint64_t start = v->dir->start, size = zipview_size(v);
	if (v->pos >= size) {
		*n = 0;
	} else if (v->pos >= start) {
		*p = v->tail.data + (v->pos - start);
		*n = size - v->pos;
	} else {
		size_t i = find(v, v->pos);
		uint64_t next = i < v->dir->n ? v->dir->v[i].offset : start;
		if (next > v->pos) {
			*p = zeros;
			*n = least(sizeof zeros, next - v->pos);
		} else {
			bool held = v->pos >= v->window_at && v->pos < v->window_at + v->window.len;
			uint64_t end = run_end(v->dir, i, v->pos + ZIPVIEW_WINDOW);
			if (!held && fill(v, end, err) < 0)
				return -1;
			*p = v->window.data + (v->pos - v->window_at);
			*n = v->window.len - (v->pos - v->window_at);
		}
	}
	v->pos += *n;
	return 0;
}

void zipview_done(struct zipview *v)
{
	buf_done(&v->tail);
	buf_done(&v->window);
}
