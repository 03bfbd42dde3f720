#include "wheel.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "newdir.h"
#include "wheel_file.h"
#include "wheel_record.h"
#include "zipdir.h"
#include "zipview.h"

#define RECORD_MAX ((size_t)64 << 20)

struct wheel {
	struct wheel_file file;
	struct zipdir dir;
	struct wheel_record record;
	struct buf record_text;
	char *record_name; /* "torch-2.10.0.dist-info/RECORD" */
	char record_hex[DIGEST_HEX_MAX];
};
#define WHEEL_INIT                                                                                 \
	{                                                                                          \
		.file = WHEEL_FILE_INIT, .dir = ZIPDIR_INIT, .record = WHEEL_RECORD_INIT,          \
		.record_text = BUF_INIT(RECORD_MAX)                                                \
	}

static void wheel_done(struct wheel *w)
{
	wheel_file_done(&w->file);
	zipdir_done(&w->dir);
	wheel_record_done(&w->record);
	buf_done(&w->record_text);
	free(w->record_name);
}

/* What libarchive's callbacks work on. */
struct stream {
	struct zipview view;
	struct err *err;
	bool failed; /* err is set: the reason is ours, not libarchive's */
};

static la_ssize_t on_read(struct archive *a, void *arg, const void **p)
{
	struct stream *s = arg;
	size_t n;
	if (intr_check(s->err) == 0 && zipview_next(&s->view, p, &n, s->err) == 0)
		return (la_ssize_t)n;
	s->failed = true;
	archive_set_error(a, EIO, "read error");
	return -1;
}

static la_int64_t on_seek(struct archive *a, void *arg, la_int64_t offset, int whence)
{
	struct stream *s = arg;
	uint64_t size = zipview_size(&s->view);
	if (whence == SEEK_CUR)
		offset += (la_int64_t)s->view.pos;
	else if (whence == SEEK_END)
		offset += (la_int64_t)size;
	if (offset < 0 || (uint64_t)offset > size)
		return ARCHIVE_FATAL;
	s->view.pos = (uint64_t)offset;
	return offset;
}

static la_int64_t on_skip(struct archive *a, void *arg, la_int64_t n)
{
	struct stream *s = arg;
	uint64_t left = zipview_size(&s->view) - s->view.pos;
	if (n < 0 || (uint64_t)n > left)
		return 0;
	s->view.pos += (uint64_t)n;
	return n;
}

static void free_archive(struct archive **a)
{
	archive_read_free(*a);
}

static int archive_fail(struct archive *a, const struct stream *s, const char *what)
{
	if (s->failed)
		return -1;
	const char *why = archive_error_string(a);
	return err_set(s->err, ERR_FORMAT, "member '%s' cannot be unpacked: %s", what,
	    why ? why : "it is broken");
}

/* Called for each wanted member in the order of the file; reads its data from a. */
typedef int member_fn(void *arg, struct archive *a, const struct stream *s,
    const struct zip_member *m, struct err *err);

static int for_each(struct archive *a, struct stream *s, member_fn *fn, void *arg, struct err *err)
{
	const struct zipdir *d = s->view.dir;
	for (size_t i = 0; i < d->n; i++) {
		struct archive_entry *entry;
		if (!d->v[i].wanted)
			continue;
		/* A warning is about the name's character set; the directory's name is used. */
		int r = archive_read_next_header(a, &entry);
		if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
			return archive_fail(a, s, d->v[i].name);
		if (fn(arg, a, s, &d->v[i], err) < 0)
			return -1;
	}
	return 0;
}

static void stream_done(struct stream *s)
{
	zipview_done(&s->view);
}

static int read_wanted(struct wheel *w, member_fn *fn, void *arg, struct err *err)
{
	_cleanup_(stream_done) struct stream s = {.err = err};
	zipview_init(&s.view, &w->dir, wheel_file_read, &w->file);
	_cleanup_(free_archive) struct archive *a = archive_read_new();
	if (!a)
		return err_set(err, ERR_SYSTEM, "cannot start libarchive");
	archive_read_support_format_zip_seekable(a);
	archive_read_set_read_callback(a, on_read);
	archive_read_set_seek_callback(a, on_seek);
	archive_read_set_skip_callback(a, on_skip);
	archive_read_set_callback_data(a, &s);
	if (archive_read_open1(a) != ARCHIVE_OK)
		return archive_fail(a, &s, w->record_name);
	return for_each(a, &s, fn, arg, err);
}

/* Feeds the member's bytes to sink; more than m->size is refused. */
static int read_member(struct archive *a, const struct stream *s, const struct zip_member *m,
    int (*sink)(void *arg, const void *p, size_t n, struct err *err), void *arg, struct err *err)
{
	const void *p;
	size_t n;
	la_int64_t at;
	uint64_t done = 0;
	int r;
	while ((r = archive_read_data_block(a, &p, &n, &at)) == ARCHIVE_OK) {
		if (n > m->size - done)
			return err_set(
			    err, ERR_FORMAT, "member '%s' is larger than it says", m->name);
		if (sink(arg, p, n, err) < 0)
			return -1;
		done += n;
	}
	return r == ARCHIVE_EOF ? 0 : archive_fail(a, s, m->name);
}

static int add_to_buf(void *arg, const void *p, size_t n, struct err *err)
{
	buf_append(arg, p, n);
	return buf_check(arg, "a member of it", err);
}

static int take_text(void *arg, struct archive *a, const struct stream *s,
    const struct zip_member *m, struct err *err)
{
	return read_member(a, s, m, add_to_buf, arg, err);
}

/* "torch-2.10.0-cp311-...whl": "torch-2.10.0.dist-info/RECORD" (PEP 427). */
static char *record_name(const char *wheel)
{
	size_t n = strcspn(wheel, "-");
	if (wheel[n])
		n += 1 + strcspn(wheel + n + 1, "-");
	return xasprintf("%.*s.dist-info/RECORD", (int)n, wheel);
}

static int check_member(const struct zip_member *m, struct err *err)
{
	if (m->encrypted)
		return err_set(err, ERR_FORMAT, "member '%s' is encrypted", m->name);
	if (!m->regular)
		return err_set(err, ERR_FORMAT, "member '%s' is no regular file", m->name);
	return 0;
}

/* Marks RECORD alone as wanted. */
static int select_record(struct wheel *w, struct err *err)
{
	static const char end[] = ".dist-info/RECORD";
	const char *other = NULL;
	size_t found = 0;
	for (size_t i = 0; i < w->dir.n; i++) {
		struct zip_member *m = &w->dir.v[i];
		m->wanted = !strcmp(m->name, w->record_name);
		if (m->wanted && check_member(m, err) < 0)
			return -1;
		found += m->wanted;
		if (str_ends(m->name, end) && strchr(m->name, '/') == strrchr(m->name, '/'))
			other = m->name;
	}
	if (found == 1)
		return 0;
	if (found)
		return err_set(err, ERR_FORMAT, "it holds '%s' twice", w->record_name);
	if (other)
		return err_set(err, ERR_FORMAT, "it holds '%s' where its name promises '%s'", other,
		    w->record_name);
	return err_set(err, ERR_FORMAT, "it has no '%s'", w->record_name);
}

static int open_wheel(
    struct wheel *w, struct index *x, const struct wheel_pin *pin, struct err *err)
{
	w->record_name = record_name(pin->name);
	if (wheel_file_open(&w->file, x, pin, err) < 0 ||
	    zipdir_read(&w->dir, wheel_file_read, &w->file, w->file.size, err) < 0 ||
	    select_record(w, err) < 0 || read_wanted(w, take_text, &w->record_text, err) < 0)
		return -1;
	digest_hex(DIGEST_SHA256, buf_str(&w->record_text), w->record_text.len, w->record_hex);
	if (pin->record_sha256 && strcmp(pin->record_sha256, w->record_hex))
		return err_set(err, ERR_TRUST, "its RECORD has SHA-256 %s, expected %s",
		    w->record_hex, pin->record_sha256);
	return wheel_record_parse(&w->record, buf_str(&w->record_text), w->record_text.len, err);
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

/* The wheel and its RECORD must name the same files among the wanted ones, each once. */
static int check_names(const struct wheel *w, wheel_want_fn *want, void *arg, const char **v,
    size_t n, struct err *err)
{
	if (n)
		qsort(v, n, sizeof *v, by_name);
	for (size_t i = 0; i < n; i++) {
		if (i && !strcmp(v[i - 1], v[i]))
			return err_set(err, ERR_FORMAT, "it holds '%s' twice", v[i]);
		const struct wheel_entry *e = wheel_record_find(&w->record, v[i]);
		if (!e || !e->sha256[0])
			return err_set(err, ERR_TRUST, "its RECORD has no hash of '%s'", v[i]);
	}
	for (size_t i = 0; i < w->record.n; i++) {
		const char *path = w->record.v[i].path;
		if (strcmp(path, w->record_name) && want(arg, path) &&
		    (!n || !bsearch(&path, v, n, sizeof *v, by_name)))
			return err_set(
			    err, ERR_FORMAT, "its RECORD names '%s', which is missing", path);
	}
	return 0;
}

static int select_wanted(struct wheel *w, wheel_want_fn *want, void *arg, struct err *err)
{
	_free_ const char **names = xcalloc(w->dir.n + 1, sizeof *names);
	size_t n = 0;
	for (size_t i = 0; i < w->dir.n; i++) {
		struct zip_member *m = &w->dir.v[i];
		m->wanted = strcmp(m->name, w->record_name) && !str_ends(m->name, "/") &&
			    want(arg, m->name);
		if (!m->wanted)
			continue;
		if (check_member(m, err) < 0)
			return -1;
		names[n++] = m->name;
	}
	return check_names(w, want, arg, names, n, err);
}

/* The folder that the members go to. */
struct target {
	const struct wheel *wheel;
	struct newdir *dir;
};

static int extract(void *arg, struct archive *a, const struct stream *s, const struct zip_member *m,
    struct err *err)
{
	struct target *t = arg;
	char hex[SHA256_HEX];
	if (newdir_create(t->dir, m->name, m->executable ? 0755 : 0644, err) < 0 ||
	    read_member(a, s, m, newdir_write, t->dir, err) < 0 ||
	    newdir_finish(t->dir, hex, err) < 0)
		return -1;
	const struct wheel_entry *e = wheel_record_find(&t->wheel->record, m->name);
	if (strcmp(hex, e->sha256))
		return err_set(err, ERR_TRUST, "member '%s' has SHA-256 %s, its RECORD says %s",
		    m->name, hex, e->sha256);
	return 0;
}

static int extract_all(struct wheel *w, const char *path, struct err *err)
{
	_cleanup_(newdir_done) struct newdir dir = NEWDIR_INIT;
	struct target t = {w, &dir};
	char hex[SHA256_HEX];
	if (newdir_open(&dir, path, err) < 0 || read_wanted(w, extract, &t, err) < 0 ||
	    newdir_create(&dir, w->record_name, 0644, err) < 0 ||
	    newdir_write(&dir, buf_str(&w->record_text), w->record_text.len, err) < 0 ||
	    newdir_finish(&dir, hex, err) < 0)
		return -1;
	return newdir_commit(&dir, err);
}

static int wrap(const struct wheel_pin *pin, struct err *err)
{
	if (err && (err->code == ERR_FORMAT || err->code == ERR_TRUST))
		err_hint(err, "; it is not the wheel that was meant: check the package index");
	return err_wrap(err, "wheel '%s'", pin->name);
}

int wheel_extract(struct index *x, const struct wheel_pin *pin, wheel_want_fn *want, void *arg,
    const char *dir, char record_hex[SHA256_HEX], struct err *err)
{
	_cleanup_(wheel_done) struct wheel w = WHEEL_INIT;
	int rc = open_wheel(&w, x, pin, err);
	if (record_hex)
		memcpy(record_hex, w.record_hex, SHA256_HEX);
	if (rc < 0 || select_wanted(&w, want, arg, err) < 0 || extract_all(&w, dir, err) < 0)
		return wrap(pin, err);
	return 0;
}

static bool want_name(void *arg, const char *member)
{
	return !strcmp(member, arg);
}

static int read_one(struct wheel *w, const char *member, struct buf *out, struct err *err)
{
	const struct wheel_entry *e = wheel_record_find(&w->record, member);
	size_t before = out->len;
	char hex[DIGEST_HEX_MAX];
	if (!e)
		return err_set(err, ERR_FORMAT, "it has no '%s'", member);
	if (select_wanted(w, want_name, (void *)member, err) < 0 ||
	    read_wanted(w, take_text, out, err) < 0)
		return -1;
	digest_hex(DIGEST_SHA256, buf_str(out) + before, out->len - before, hex);
	if (strcmp(hex, e->sha256))
		return err_set(err, ERR_TRUST, "member '%s' has SHA-256 %s, its RECORD says %s",
		    member, hex, e->sha256);
	return 0;
}

int wheel_read_member(struct index *x, const struct wheel_pin *pin, const char *member,
    struct buf *out, struct err *err)
{
	_cleanup_(wheel_done) struct wheel w = WHEEL_INIT;
	if (open_wheel(&w, x, pin, err) < 0 || read_one(&w, member, out, err) < 0)
		return err_wrap(err, "wheel '%s'", pin->name);
	return 0;
}

int wheel_record_sha256(
    struct index *x, const struct wheel_pin *pin, char record_hex[SHA256_HEX], struct err *err)
{
	_cleanup_(wheel_done) struct wheel w = WHEEL_INIT;
	if (open_wheel(&w, x, pin, err) < 0)
		return wrap(pin, err);
	memcpy(record_hex, w.record_hex, SHA256_HEX);
	return 0;
}
