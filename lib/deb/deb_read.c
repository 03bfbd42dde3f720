#include <string.h>

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include "../base/xalloc.h"
#include "ar.h"
#include "control.h"
#include "deb.h"
#include "decode.h"
#include "tar.h"
#include "tar_read.h"

#define CONTROL_MAX ((uint64_t)16 << 20)
#define DATA_MAX    ((uint64_t)64 << 30)
#define ENTRIES_MAX 1000000u
#define MEMBERS_MAX 16u

struct deb_reader {
	struct arena *arena;
	unsigned flags;
	deb_file_fn *fn;
	void *arg;
	struct deb_info *out;
	struct ar_reader ar;
	struct deb_member members[MEMBERS_MAX];
	struct deb_file *files;
	size_t n_entries, files_cap;
};

static void reader_done(struct deb_reader *d)
{
	ar_close(&d->ar);
	free(d->files);
}

static void decoder_clear(struct decoder **d)
{
	decoder_free(*d);
}

/* 1: the next member is the newest of d->members; 0: the end. */
static int next_member(struct deb_reader *d, struct err *err)
{
	struct deb_member m;
	int r = ar_next(&d->ar, &m, err);
	if (r <= 0)
		return r;
	if (d->out->n_members == MEMBERS_MAX)
		return err_set(err, ERR_FORMAT, "more than %u members", MEMBERS_MAX);
	d->members[d->out->n_members++] = m;
	return 1;
}

/* The next member must be called stem with any ending; *name gets the whole. */
static int expect_member(struct deb_reader *d, const char *stem, const char **name, struct err *err)
{
	int r = next_member(d, err);
	if (r < 0)
		return -1;
	if (r == 0)
		return err_set(err, ERR_FORMAT, "truncated: there is no member %s", stem);
	*name = d->members[d->out->n_members - 1].name;
	if (strncmp(*name, stem, strlen(stem)) != 0)
		return err_set(err, ERR_FORMAT, "member '%s' where %s is expected", *name, stem);
	return 0;
}

static int read_format(struct deb_reader *d, struct err *err)
{
	const char *name;
	char text[4];
	if (expect_member(d, "debian-binary", &name, err) < 0)
		return -1;
	if (name[strlen("debian-binary")])
		return err_set(
		    err, ERR_FORMAT, "member '%s' where debian-binary is expected", name);
	if (ar_data_all(&d->ar, text, sizeof text, err) < 0)
		return err_wrap(err, "debian-binary");
	if (memcmp(text, "2.0\n", sizeof text) != 0)
		return err_set(err, ERR_FORMAT, "debian-binary: format '%.3s' is not 2.0", text);
	return 0;
}

/* Collects a file of control.tar, which may be there once. */
static int read_text(
    struct tar_reader *tar, const struct tar_entry *e, struct buf *to, bool *seen, struct err *err)
{
	if (e->type != 'f')
		return err_set(err, ERR_FORMAT, "'%s' is no regular file", e->name);
	if (*seen)
		return err_set(err, ERR_FORMAT, "'%s' is there twice", e->name);
	*seen = true;
	for (;;) {
		const void *p;
		size_t n;
		if (tar_reader_data(tar, &p, &n, err) < 0)
			return -1;
		if (!n)
			return 0;
		buf_append(to, p, n);
	}
}

static int count_entry(struct deb_reader *d, struct err *err)
{
	if (++d->n_entries > ENTRIES_MAX)
		return err_set(err, ERR_FORMAT, "more than %u files", ENTRIES_MAX);
	return 0;
}

static int parse_control(struct deb_reader *d, const struct buf *text, struct err *err)
{
	struct stanza_list list = {0};
	d->out->control_text = arena_strndup(d->arena, buf_str(text), text->len);
	if (stanza_parse(d->arena, buf_str(text), text->len, "control", STANZA_ONE, &list, err) < 0)
		return -1;
	d->out->control = list.v[0];
	if (control_check(&list.v[0], err) < 0)
		return err_wrap(err, "control");
	return 0;
}

static int read_control_tar(struct deb_reader *d, struct tar_reader *tar, struct err *err)
{
	_cleanup_(buf_done) struct buf control = BUF_INIT(CONTROL_MAX);
	_cleanup_(buf_done) struct buf md5sums = BUF_INIT(CONTROL_MAX);
	bool seen_control = false, seen_md5sums = false;
	struct tar_entry e;
	int r;
	while ((r = tar_reader_next(tar, &e, err)) > 0) {
		int status = count_entry(d, err);
		if (status == 0 && !strcmp(e.name, "control"))
			status = read_text(tar, &e, &control, &seen_control, err);
		else if (status == 0 && !strcmp(e.name, "md5sums"))
			status = read_text(tar, &e, &md5sums, &seen_md5sums, err);
		if (status < 0)
			return -1;
	}
	if (r < 0)
		return -1;
	if (!seen_control)
		return err_set(err, ERR_FORMAT, "there is no file 'control'");
	if (seen_md5sums) {
		if (memchr(buf_str(&md5sums), '\0', md5sums.len))
			return err_set(err, ERR_FORMAT, "md5sums holds a NUL byte");
		d->out->md5sums = arena_strndup(d->arena, buf_str(&md5sums), md5sums.len);
	}
	return parse_control(d, &control, err);
}

/* Feeds a regular file to its digest and to the caller. */
static int read_file(
    struct deb_reader *d, struct tar_reader *tar, struct deb_file *f, struct err *err)
{
	_cleanup_(digest_clear) struct digest *md5 = digest_new(DIGEST_MD5);
	for (;;) {
		const void *p;
		size_t n;
		if (tar_reader_data(tar, &p, &n, err) < 0)
			return -1;
		digest_update(md5, p, n);
		if (!n) {
			char hex[DIGEST_HEX_MAX];
			digest_finish_hex(take_ptr(md5), hex);
			memcpy(f->md5, hex, sizeof f->md5);
		}
		if (d->fn && d->fn(d->arg, f, p, n, err) < 0)
			return -1;
		if (!n)
			return 0;
	}
}

static int list_entry(
    struct deb_reader *d, struct tar_reader *tar, const struct tar_entry *e, struct err *err)
{
	if (!*e->name)
		return 0; /* the root is in every package */
	if (d->out->n_files == d->files_cap) {
		d->files_cap = d->files_cap ? d->files_cap * 2 : 64;
		d->files = xreallocarray(d->files, d->files_cap, sizeof *d->files);
	}
	struct deb_file *f = &d->files[d->out->n_files++];
	*f = (struct deb_file){.path = arena_strdup(d->arena, e->name),
	    .link = e->link ? arena_strdup(d->arena, e->link) : NULL,
	    .size = e->size,
	    .mode = e->mode,
	    .type = e->type};
	return e->type == 'f' ? read_file(d, tar, f, err) : 0;
}

static int read_data_tar(struct deb_reader *d, struct tar_reader *tar, struct err *err)
{
	struct tar_entry e;
	int r;
	while ((r = tar_reader_next(tar, &e, err)) > 0) {
		if (count_entry(d, err) < 0)
			return -1;
		if ((d->flags & DEB_READ_FILES) && list_entry(d, tar, &e, err) < 0)
			return -1;
	}
	if (r < 0)
		return -1;
	d->out->files = arena_alloc(d->arena, d->out->n_files * sizeof *d->files + 1);
	if (d->out->n_files)
		memcpy(d->out->files, d->files, d->out->n_files * sizeof *d->files);
	return 0;
}

typedef int tar_fn(struct deb_reader *d, struct tar_reader *tar, struct err *err);

static int read_tar(
    struct deb_reader *d, const char *stem, uint64_t max, tar_fn *fn, struct err *err)
{
	const char *name;
	if (expect_member(d, stem, &name, err) < 0)
		return -1;
	_cleanup_(decoder_clear) struct decoder *in =
	    decoder_new(&d->ar, name + strlen(stem), max, err);
	if (!in)
		return err_wrap(err, "%s", name);
	_cleanup_(tar_reader_done) struct tar_reader tar;
	tar_reader_init(&tar, in);
	const void *p;
	size_t n;
	if (fn(d, &tar, err) < 0 || ar_data(&d->ar, &p, &n, err) < 0)
		return err_wrap(err, "%s", name);
	if (n)
		return err_set(err, ERR_FORMAT, "%s: data after the compressed stream", name);
	return 0;
}

static int read_rest(struct deb_reader *d, struct err *err)
{
	int r;
	while ((r = next_member(d, err)) > 0) {
		const char *name = d->members[d->out->n_members - 1].name;
		if (name[0] != '_' || !(d->flags & DEB_READ_SIGNED))
			return err_set(
			    err, ERR_FORMAT, "member '%s' after data.tar is not expected", name);
	}
	return r;
}

static void finish(struct deb_reader *d)
{
	struct deb_info *out = d->out;
	char hex[3][DIGEST_HEX_MAX] = {"", "", ""};
	for (size_t i = 0; i < ARRAY_SIZE(hex); i++)
		if (d->ar.hash[i])
			digest_finish_hex(take_ptr(d->ar.hash[i]), hex[i]);
	memcpy(out->sha256, hex[0], sizeof out->sha256);
	memcpy(out->md5, hex[1], sizeof out->md5);
	memcpy(out->sha1, hex[2], sizeof out->sha1);
	out->size = d->ar.total;
	out->members = arena_alloc(d->arena, out->n_members * sizeof *out->members);
	memcpy(out->members, d->members, out->n_members * sizeof *out->members);
}

int deb_read(struct arena *a, const char *path, unsigned flags, deb_file_fn *fn, void *arg,
    struct deb_info *out, struct err *err)
{
	struct deb_info info = {.source = arena_strdup(a, path)};
	_cleanup_(reader_done) struct deb_reader d = {
	    .arena = a, .flags = flags, .fn = fn, .arg = arg, .out = &info, .ar = AR_READER_INIT};
	size_t n_hash = flags & DEB_READ_HASHES ? 3 : 1;
	if (ar_open(&d.ar, path, n_hash, err) < 0 || read_format(&d, err) < 0 ||
	    read_tar(&d, "control.tar", CONTROL_MAX, read_control_tar, err) < 0 ||
	    read_tar(&d, "data.tar", DATA_MAX, read_data_tar, err) < 0 || read_rest(&d, err) < 0)
		return err_wrap(err, "'%s'", path);
	finish(&d);
	*out = info;
	return 0;
}
