#include "facts.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/parallel.h"
#include "../../lib/base/path.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/deb.h"
#include "../../lib/deb/utf8.h"
#include "../../lib/sign/debsig.h"
#include "../../lib/sign/signer.h"
#include "catalog.h"
#include "../state/compress.h"

#define FILE_MAX      ((size_t)1 << 30)
#define PACKED_MAX    ((size_t)4 << 20)
#define CHANGELOG_MAX ((size_t)8 << 10) /* of a changelog's beginning */
#define AT_ONCE	      256

static const char no_signature[] = "none";

struct job {
	struct arena arena;
	struct catalog_deb *deb;
	const char *file;
	const struct signer_ring *ring;
};

/* The packed changelog of Debian's policy, section 12.7, for the package that is looked for. */
struct changelog {
	const char *name;
	struct buf packed;
};

static int take_file(void *arg, const struct deb_file *f, const void *p, size_t n, struct err *err)
{
	struct changelog *c = arg;
	_free_ char *native = xasprintf("usr/share/doc/%s/changelog.gz", c->name);
	_free_ char *debian = xasprintf("usr/share/doc/%s/changelog.Debian.gz", c->name);
	if (f->type == 'f' && (!strcmp(f->path, native) || !strcmp(f->path, debian)))
		buf_append(&c->packed, p, n);
	return 0;
}

/* The beginning of a changelog up to the last whole line, as UTF-8 without control characters. */
static const char *beginning(struct arena *a, const struct buf *packed)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(PACKED_MAX);
	if (packed->failed || decompress_gz(packed->data, packed->len, &text, NULL) < 0)
		return "";
	size_t n = text.len;
	if (n > CHANGELOG_MAX) {
		n = CHANGELOG_MAX;
		while (n && text.data[n - 1] != '\n')
			n--;
	}
	while (n && text.data[n - 1] == '\n')
		n--;
	char *out = arena_strndup(a, buf_str(&text), n);
	for (char *p = out; *p; p++)
		if ((unsigned char)*p < 0x20 && *p != '\n' && *p != '\t')
			*p = '?';
	for (size_t at = 0, len = strlen(out); (at += utf8_check(out + at, len - at)) < len;)
		out[at] = '?';
	return out;
}

/* Threads share nothing but the ring. */
static void look(void *arg, size_t i)
{
	struct job *j = (struct job *)arg + i;
	struct changelog log = {.name = j->deb->pkg.name, .packed = BUF_INIT(PACKED_MAX)};
	struct deb_info info;
	struct err err = {0};
	char fpr[41];
	if (deb_read(&j->arena, j->file, DEB_READ_FILES | DEB_READ_SIGNED, take_file, &log, &info,
		&err) < 0) {
		j->deb->signed_why = "the file cannot be read";
	} else {
		j->deb->changelog = log.packed.len ? beginning(&j->arena, &log.packed) : "";
		if (!debsig_is_signed(&info))
			j->deb->signed_why = no_signature;
		else if (!j->ring || debsig_check(&info, j->ring, fpr, &err) < 0)
			j->deb->signed_why = "not by a key of this repository";
		else
			j->deb->signer = arena_strdup(&j->arena, fpr);
	}
	buf_done(&log.packed);
}

/* Value of a field of several lines, an empty line as ".". */
static void put_lines(struct buf *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		buf_puts(out, "\n ");
		if (strspn(text, " \t") >= n)
			buf_putc(out, '.');
		else
			buf_append(out, text, n);
		text += n + (text[n] == '\n');
	}
}

static const char *get_lines(struct arena *a, const char *value)
{
	char *out = arena_strdup(a, value + (*value == '\n')), *to = out;
	for (const char *from = out; *from;) {
		size_t n = strcspn(from, "\n");
		if (n != 1 || *from != '.') {
			memmove(to, from, n);
			to += n;
		}
		from += n;
		if (*from) {
			*to++ = '\n';
			from++;
		}
	}
	*to = '\0';
	return out;
}

static int by_hash(const void *x, const void *y)
{
	const struct stanza *a = x, *b = y;
	return strcmp(stanza_get(a, "Sha256"), stanza_get(b, "Sha256"));
}

/* What was seen before, sorted; nothing if the file is not there or not good. */
static void load(struct arena *a, const char *path, struct stanza_list *out)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(FILE_MAX);
	*out = (struct stanza_list){0};
	if (path_read(path, &text, NULL) < 0 ||
	    stanza_parse(a, buf_str(&text), text.len, path, 0, out, NULL) < 0) {
		out->n = 0;
		return;
	}
	for (size_t i = 0; i < out->n; i++)
		if (!stanza_get(&out->v[i], "Sha256")) {
			out->n = 0;
			return;
		}
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, by_hash);
}

static bool recall(struct arena *a, const struct stanza_list *known, struct catalog_deb *d)
{
	struct field field = {.name = "Sha256", .value = d->pkg.sha256};
	struct stanza key = {.fields = &field, .n = 1};
	const struct stanza *s =
	    known->n ? bsearch(&key, known->v, known->n, sizeof key, by_hash) : NULL;
	if (!s)
		return false;
	const char *signer = stanza_get(s, "Signer"), *why = stanza_get(s, "Unsigned");
	const char *changelog = stanza_get(s, "Changelog");
	d->signer = signer ? signer : "";
	d->signed_why = why ? why : "";
	d->changelog = changelog ? get_lines(a, changelog) : "";
	return true;
}

static int save(const struct catalog *c, const char *path, struct err *err)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(FILE_MAX);
	for (size_t i = 0; i < c->n; i++) {
		const struct catalog_deb *d = &c->v[i];
		if (!*d->signer && strcmp(d->signed_why, no_signature))
			continue; /* it may be better next time */
		buf_printf(&out, "%sSha256: %s\n", out.len ? "\n" : "", d->pkg.sha256);
		buf_printf(&out, *d->signer ? "Signer: %s\n" : "Unsigned: %s\n",
		    *d->signer ? d->signer : d->signed_why);
		if (*d->changelog) {
			buf_puts(&out, "Changelog:");
			put_lines(&out, d->changelog);
			buf_putc(&out, '\n');
		}
	}
	if (buf_check(&out, "list of facts", err) < 0)
		return -1;
	return outfile_put_if_changed(path, 0644, buf_str(&out), out.len, err);
}

static void look_at(struct job *jobs, size_t n, const struct signer_ring *ring, struct arena *a)
{
	for (size_t i = 0; i < n; i++)
		jobs[i].ring = ring;
	parallel_run(n, look, jobs);
	for (size_t i = 0; i < n; i++) {
		struct catalog_deb *d = jobs[i].deb;
		d->signer = arena_strdup(a, d->signer);
		d->changelog = arena_strdup(a, d->changelog);
		arena_done(&jobs[i].arena);
	}
}

int facts_fill(struct catalog *c, const struct repo *r, const char *keyring, struct err *err)
{
	const char *path = arena_printf(c->arena, "%s/.debkit/facts", r->root);
	_cleanup_(signer_ring_close) struct signer_ring *ring = NULL;
	_free_ struct job *jobs = NULL;
	struct stanza_list known;
	size_t n = 0;
	load(c->arena, path, &known);
	jobs = xcalloc(c->n + 1, sizeof *jobs);
	for (size_t i = 0; i < c->n; i++)
		if (!recall(c->arena, &known, &c->v[i]))
			jobs[n++] = (struct job){.deb = &c->v[i],
			    .file = arena_printf(c->arena, "%s/%s", r->root, c->v[i].pkg.path)};
	if (n && keyring && signer_ring_open(keyring, &ring, err) < 0)
		return -1;
	for (size_t at = 0; at < n; at += AT_ONCE)
		look_at(jobs + at, n - at < AT_ONCE ? n - at : AT_ONCE, ring, c->arena);
	return n ? save(c, path, err) : 0;
}
