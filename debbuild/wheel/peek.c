#include "peek.h"

#include <string.h>

#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "flate.h"

#define LOCAL	    30u		    /* fixed part of a local header */
#define EXTRA	    ((uint64_t)512) /* room for an extra field longer there than in the directory */
#define STEP	    ((uint64_t)384 << 10) /* packed bytes of the first look at either side */
#define SMALL	    ((uint64_t)1 << 20)	  /* packed members up to this size are read whole */
#define ZIP_STORED  0u
#define ZIP_DEFLATE 8u

static unsigned le16(const char *p)
{
	return (unsigned char)p[0] | (unsigned)(unsigned char)p[1] << 8;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int peek_open(struct peek *p, struct index *x, const struct wheel_pin *pin, struct err *err)
{
	if (wheel_file_open(&p->file, x, pin, err) < 0)
		return -1;
	return zipdir_read(&p->dir, wheel_file_read, &p->file, p->file.size, err);
}

/* Turns n further packed bytes into bytes of the head. */
static int feed(struct peek *p, const char *bytes, uint64_t n, struct err *err)
{
	bool end = p->fed + n == p->member->packed;
	p->fed += n;
	if (p->member->method == ZIP_STORED)
		buf_append(&p->head, bytes, n);
	else if (flate_feed(p->flate, bytes, n, &p->head, &end, err) < 0)
		return -1;
	if (buf_check(&p->head, "a member", err) < 0)
		return -1;
	if (end != (p->fed == p->member->packed) ||
	    (end ? p->head.len != p->member->size : p->head.len > p->member->size))
		return err_set(err, ERR_FORMAT, "its directory tells a wrong size");
	return 0;
}

/* The local header and the first look at the head cost one request. */
static int begin(struct peek *p, struct err *err)
{
	const struct zip_member *m = p->member;
	_cleanup_(buf_done) struct buf b = BUF_INIT(2 * SMALL);
	uint64_t first = LOCAL + strlen(m->name) + EXTRA + (m->packed <= SMALL ? m->packed : STEP);
	first = least(first, m->end - m->offset);
	if (wheel_file_read(&p->file, m->offset, first, &b, err) < 0)
		return -1;
	uint64_t skip = LOCAL + le16(b.data + 26) + le16(b.data + 28);
	if (memcmp(b.data, "PK\3\4", 4) || skip > m->end - m->offset - m->packed)
		return err_set(err, ERR_FORMAT, "its local header is broken");
	p->data = m->offset + skip;
	return skip < b.len ? feed(p, b.data + skip, least(b.len - skip, m->packed), err) : 0;
}

static void forget(struct peek *p)
{
	flate_free(take_ptr(p->flate));
	buf_truncate(&p->head, 0);
	buf_truncate(&p->tail, 0);
	buf_truncate(&p->packed_tail, 0);
	p->fed = 0;
	p->member = NULL;
}

int peek_member(struct peek *p, const char *name, struct err *err)
{
	forget(p);
	for (size_t i = 0; i < p->dir.n && !p->member; i++)
		if (!strcmp(p->dir.v[i].name, name))
			p->member = &p->dir.v[i];
	const struct zip_member *m = p->member;
	if (!m)
		return err_set(err, ERR_FORMAT, "it has no '%s'", name);
	if (m->encrypted || (m->method != ZIP_STORED && m->method != ZIP_DEFLATE))
		return err_set(err, ERR_FORMAT, "member '%s' is packed in an unknown way", name);
	p->flate = flate_new();
	return begin(p, err) < 0 ? err_wrap(err, "member '%s'", name) : 0;
}

/* Each look doubles what was fetched before. */
static int grow_head(struct peek *p, struct err *err)
{
	uint64_t n = least(p->member->packed - p->fed, p->fed > STEP ? p->fed : STEP);
	_cleanup_(buf_done) struct buf b = BUF_INIT(PEEK_HELD_MAX);
	if (!n)
		return err_set(err, ERR_FORMAT, "it is shorter than its directory says");
	if (wheel_file_read(&p->file, p->data + p->fed, n, &b, err) < 0)
		return -1;
	return feed(p, b.data, n, err);
}

/* Puts bytes in front of packed_tail and decodes anew: another look from further back. */
static int grow_tail(struct peek *p, struct err *err)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(PEEK_TAIL_MAX);
	uint64_t have = p->packed_tail.len, packed = p->member->packed;
	uint64_t n = least(packed - p->fed - have, have > STEP ? have : STEP);
	if (wheel_file_read(&p->file, p->data + packed - have - n, n, &b, err) < 0)
		return -1;
	buf_append(&b, buf_str(&p->packed_tail), have);
	if (buf_check(&b, "the end that would have to be read", err) < 0)
		return -1;
	buf_done(&p->packed_tail);
	p->packed_tail = b;
	b = (struct buf)BUF_INIT(0);
	buf_truncate(&p->tail, 0);
	if (p->member->method == ZIP_STORED)
		buf_append(&p->tail, p->packed_tail.data, p->packed_tail.len);
	else if (flate_tail(p->packed_tail.data, p->packed_tail.len, &p->tail, err) < 0)
		return -1;
	if (p->tail.len > p->member->size)
		return err_set(err, ERR_FORMAT, "its directory tells a wrong size");
	return buf_check(&p->tail, "the end of a member", err);
}

/* Looks at the side that is nearer, or at the only one that is left. */
static int grow(struct peek *p, uint64_t offset, uint64_t n, struct err *err)
{
	bool whole = p->fed + p->packed_tail.len >= p->member->packed;
	if (intr_check(err) < 0)
		return -1;
	if (whole || offset + n <= p->member->size - offset)
		return grow_head(p, err);
	return grow_tail(p, err);
}

int peek_read(void *arg, uint64_t offset, uint64_t n, struct buf *out, struct err *err)
{
	struct peek *p = arg;
	uint64_t size = p->member->size;
	if (offset > size || n > size - offset)
		return err_set(err, ERR_FORMAT, "member '%s' ends before byte %llu",
		    p->member->name, (unsigned long long)(offset + n));
	while (n && offset + n > p->head.len && offset < size - p->tail.len)
		if (grow(p, offset, n, err) < 0)
			return err_wrap(err, "member '%s'", p->member->name);
	if (offset + n <= p->head.len)
		buf_append(out, p->head.data + offset, n);
	else if (n)
		buf_append(out, p->tail.data + (offset - (size - p->tail.len)), n);
	return buf_check(out, "a part of a member", err);
}

void peek_done(struct peek *p)
{
	forget(p);
	wheel_file_done(&p->file);
	zipdir_done(&p->dir);
	buf_done(&p->head);
	buf_done(&p->tail);
	buf_done(&p->packed_tail);
}
