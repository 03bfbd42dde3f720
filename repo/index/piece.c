#include "piece.h"

#include <string.h>

#include "../state/compress.h"
#include "../state/xz.h"

/* One stanza larger than a piece makes a piece of its own. */
#define TEXT_MAX (PIECE_MAX + ((size_t)32 << 20))

size_t piece_stanza(const char *text, size_t n)
{
	const char *end = memmem(text, n, "\n\n", 2);
	return end ? (size_t)(end - text) + 2 : n;
}

const char *piece_field(const char *text, size_t n, const char *field, size_t *len)
{
	size_t name = strlen(field);
	for (const char *p = text, *end = text + n; p < end;) {
		const char *line_end = memchr(p, '\n', (size_t)(end - p));
		size_t line = line_end ? (size_t)(line_end - p) : (size_t)(end - p);
		if (line > name + 1 && p[name] == ':' && p[name + 1] == ' ' &&
		    !memcmp(p, field, name)) {
			*len = line - name - 2;
			return p + name + 2;
		}
		p += line + 1;
	}
	return NULL;
}

static bool field_is(const char *text, size_t n, const char *field, const char *value)
{
	size_t len, want = strlen(value);
	const char *v = piece_field(text, n, field, &len);
	return v && len == want && !memcmp(v, value, want);
}

static bool is_removed(const struct piece_job *job, int64_t seq, const char *stanza, size_t n)
{
	for (size_t i = 0; i < job->n_removals; i++) {
		const struct piece_removal *r = &job->removals[i];
		if (r->seq == seq && field_is(stanza, n, "Package", r->name) &&
		    field_is(stanza, n, "Version", r->version) &&
		    field_is(stanza, n, "Architecture", r->arch))
			return true;
	}
	return false;
}

static bool has_removals(const struct piece_job *job, int64_t seq)
{
	for (size_t i = 0; i < job->n_removals; i++)
		if (job->removals[i].seq == seq)
			return true;
	return false;
}

/* Appends the stanzas of a piece that stay. */
static void filter(
    const struct piece_job *job, int64_t seq, const struct buf *plain, struct buf *text)
{
	const char *at = buf_str(plain), *end = at + plain->len;
	for (size_t n; (n = piece_stanza(at, (size_t)(end - at))); at += n)
		if (!is_removed(job, seq, at, n))
			buf_append(text, at, n);
}

/* Appends a file's part of an old piece as it is. */
static int read_part(
    const struct piece_job *job, const struct piece *p, int kind, struct buf *out, struct err *err)
{
	size_t left = p->size[kind];
	off_t at = (off_t)p->offset[kind];
	char *to = buf_reserve(out, left);
	if (!to)
		return buf_check(out, "piece of an index", err);
	while (left) {
		ssize_t n = pread(job->source->fd[kind], to, left, at);
		if (n < 0)
			return err_sys(err, "cannot read an index");
		if (n == 0)
			return err_set(err, ERR_FORMAT, "an index is shorter than it was");
		to += n;
		at += n;
		left -= (size_t)n;
		out->len += (size_t)n;
	}
	out->data[out->len] = '\0';
	return 0;
}

static int old_text(struct piece_job *job, const struct piece *p, struct buf *text, struct err *err)
{
	_cleanup_(buf_done) struct buf packed = BUF_INIT(TEXT_MAX);
	_cleanup_(buf_done) struct buf plain = BUF_INIT(TEXT_MAX);
	if (read_part(job, p, FILE_ZST, &packed, err) < 0 ||
	    decompress_zst(buf_str(&packed), packed.len, &plain, err) < 0)
		return -1;
	if (plain.len != p->size[FILE_PLAIN])
		return err_set(err, ERR_FORMAT, "an index is not as long as it was");
	if (!has_removals(job, p->seq))
		buf_append(text, buf_str(&plain), plain.len);
	else
		filter(job, p->seq, &plain, text);
	return buf_check(text, "piece of an index", err);
}

static int make_text(struct piece_job *job, struct buf *text, struct err *err)
{
	for (size_t i = 0; i < job->n_old; i++)
		if (old_text(job, &job->old[i], text, err) < 0)
			return -1;
	for (size_t i = 0; i < job->n_adds; i++) {
		buf_append(text, job->adds[i].text, job->adds[i].text_len);
		buf_putc(text, '\n');
	}
	return buf_check(text, "piece of an index", err);
}

static int keep_parts(struct piece_job *job, struct err *err)
{
	for (int kind = FILE_GZ; kind < INDEX_FILES; kind++)
		if (job->made[kind] && read_part(job, job->old, kind, &job->out[kind], err) < 0)
			return -1;
	return 0;
}

static int pack(struct piece_job *job, struct err *err)
{
	const struct buf *text = &job->out[FILE_PLAIN];
	if (job->made[FILE_GZ] &&
	    compress_gz(buf_str(text), text->len, &job->out[FILE_GZ], err) < 0)
		return -1;
	if (compress_zst(buf_str(text), text->len, &job->out[FILE_ZST], err) < 0)
		return -1;
	if (!job->made[FILE_XZ])
		return 0;
	return xz_block(buf_str(text), text->len, &job->out[FILE_XZ], err);
}

void piece_make(struct piece_job *job)
{
	for (int kind = 0; kind < INDEX_FILES; kind++)
		job->out[kind] = (struct buf)BUF_INIT(TEXT_MAX);
	if (make_text(job, &job->out[FILE_PLAIN], &job->err) < 0)
		return;
	if ((job->keep ? keep_parts(job, &job->err) : pack(job, &job->err)) < 0)
		return;
	job->err.code = ERR_NONE;
}

void piece_done(struct piece_job *job)
{
	for (int kind = 0; kind < INDEX_FILES; kind++)
		buf_done(&job->out[kind]);
}
