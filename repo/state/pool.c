#include "pool.h"

#include <string.h>
#include <strings.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/deb.h"
#include "../../lib/deb/version.h"
#include "../../lib/sign/debsig.h"

#define STANZA_MAX ((size_t)16 << 20)
/* Longer names cannot be files: each part of a path holds at most 255 bytes. */
#define FILE_NAME_MAX 255

/* Fields that the index sets itself: a control file cannot speak for them. */
static const char *const own_fields[] = {
    "Filename", "Size", "MD5sum", "SHA1", "SHA256", "SHA512", "Status"};

char *pool_dir(struct arena *a, const char *component, const char *source)
{
	int prefix = str_starts(source, "lib") && source[3] ? 4 : 1;
	return arena_printf(a, "pool/%s/%.*s/%s", component, prefix, source, source);
}

bool pool_has(const char *root, const char *path, uint64_t size)
{
	struct ident i;
	_free_ char *full = path_join(root, path);
	return ident_get(full, &i) == 0 && (uint64_t)i.size == size;
}

/* The source package's name: the Source field without its version in brackets. */
static int source_name(struct arena *a, const struct stanza *s, const char **out, struct err *err)
{
	const char *field = stanza_get(s, "Source");
	if (!field)
		field = stanza_get(s, "Package");
	char *name = arena_strndup(a, field, strcspn(field, " ("));
	if (version_check_package(name, err) < 0)
		return err_wrap(err, "Source '%s'", field);
	*out = name;
	return 0;
}

static int set_path(struct arena *a, const struct stanza *s, struct pkg *p, struct err *err)
{
	const char *source = NULL, *colon = strchr(p->version, ':');
	if (source_name(a, s, &source, err) < 0)
		return -1;
	p->path = arena_printf(a, "%s/%s_%s_%s.deb", pool_dir(a, p->component, source), p->name,
	    colon ? colon + 1 : p->version, p->arch);
	if (!path_is_safe_member(p->path) || strlen(path_base(p->path)) > FILE_NAME_MAX ||
	    strlen(source) > FILE_NAME_MAX)
		return err_set(err, ERR_FORMAT, "'%s' cannot be a file in the pool", p->path);
	return 0;
}

static int set_hashes(struct arena *a, struct stanza *s, const struct deb_info *d, const char *file,
    bool all, struct err *err)
{
	char sha512[DIGEST_HEX_MAX];
	stanza_set(a, s, "SHA256", d->sha256);
	if (!all)
		return 0;
	stanza_set(a, s, "MD5sum", d->md5);
	stanza_set(a, s, "SHA1", d->sha1);
	if (digest_file_hex(DIGEST_SHA512, file, sha512, NULL, err) < 0)
		return -1;
	stanza_set(a, s, "SHA512", sha512);
	return 0;
}

/* Names are compared without case, but this program and others look for the usual form. */
static void set_usual_names(struct stanza *s)
{
	static const char *const usual[] = {"Package", "Version", "Architecture", "Source"};
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(usual); k++)
			if (!strcasecmp(s->fields[i].name, usual[k]))
				s->fields[i].name = usual[k];
}

/* Moves a field, if it is there, from one stanza to the end of another. */
static void move_field(struct arena *a, struct stanza *from, struct stanza *to, const char *name)
{
	const char *value = stanza_get(from, name);
	if (!value)
		return;
	stanza_set(a, to, name, value);
	stanza_unset(from, name);
}

/*
 * The fields in the order of the index: those in which neighbours differ stand together, so that
 * the rest packs as one long match; Description comes last.
 */
static int order_fields(struct arena *a, struct deb_info *d, bool all_hashes, const struct pkg *p,
    struct stanza *out, struct err *err)
{
	static const char *const first[] = {"Package", "Version", "Provides", "Installed-Size"};
	struct stanza *s = &d->control, last = {0};
	for (size_t i = 0; i < ARRAY_SIZE(own_fields); i++)
		stanza_unset(s, own_fields[i]);
	move_field(a, s, &last, "Description");
	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		move_field(a, s, out, first[i]);
	stanza_set(a, out, "Filename", p->path);
	stanza_set(a, out, "Size", arena_printf(a, "%llu", (unsigned long long)p->size));
	if (set_hashes(a, out, d, p->from, all_hashes, err) < 0)
		return -1;
	while (s->n)
		move_field(a, s, out, s->fields[0].name);
	move_field(a, &last, out, "Description");
	return 0;
}

static int make_text(
    struct arena *a, struct deb_info *d, bool all_hashes, struct pkg *p, struct err *err)
{
	struct stanza ordered = {0};
	_cleanup_(buf_done) struct buf b = BUF_INIT(STANZA_MAX);
	set_usual_names(&d->control);
	if (order_fields(a, d, all_hashes, p, &ordered, err) < 0)
		return -1;
	stanza_write(&ordered, &b);
	if (buf_check(&b, "control file", err) < 0)
		return -1;
	p->text = arena_strndup(a, b.data, b.len);
	p->text_len = b.len;
	return 0;
}

int pool_admit(struct arena *a, const char *file, const struct admit_spec *spec, struct pkg *out,
    struct err *err)
{
	struct deb_info d = {0};
	struct pkg p = {.component = spec->component, .from = file};
	char fpr[41];
	unsigned flags = DEB_READ_SIGNED | (spec->all_hashes ? DEB_READ_HASHES : 0);
	if (ident_get(file, &p.ident) < 0)
		return err_set(err, ERR_SYSTEM, "'%s' is no file that can be read", file);
	if (deb_read(a, file, flags, NULL, NULL, &d, err) < 0)
		return -1;
	if (spec->ring && debsig_check(&d, spec->ring, fpr, err) < 0)
		return -1;
	p.name = stanza_get(&d.control, "Package");
	p.version = stanza_get(&d.control, "Version");
	p.arch = stanza_get(&d.control, "Architecture");
	p.size = d.size;
	memcpy(p.sha256, d.sha256, sizeof p.sha256);
	if (set_path(a, &d.control, &p, err) < 0 || make_text(a, &d, spec->all_hashes, &p, err) < 0)
		return err_wrap(err, "'%s'", file);
	*out = p;
	return 0;
}

void pkg_set_path(struct arena *a, struct pkg *p, const char *path)
{
	static const char field[] = "\nFilename: ";
	const char *at = strstr(p->text, field);
	if (!strcmp(p->path, path) || !at)
		return;
	at += sizeof field - 1;
	const char *rest = at + strcspn(at, "\n");
	p->text = arena_printf(a, "%.*s%s%s", (int)(at - p->text), p->text, path, rest);
	p->text_len = strlen(p->text);
	p->path = arena_strdup(a, path);
}

void pkg_list_add(struct pkg_list *l, const struct pkg *p)
{
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 64;
		l->v = xreallocarray(l->v, l->cap, sizeof *l->v);
	}
	l->v[l->n++] = *p;
}

void pkg_list_done(struct pkg_list *l)
{
	free(l->v);
	*l = (struct pkg_list){0};
}

static int compare(const void *x, const void *y)
{
	const struct pkg *a = x, *b = y;
	int c = strcmp(a->name, b->name);
	if (!c)
		c = version_compare(a->version, b->version);
	return c ? c : strcmp(a->arch, b->arch);
}

void pkg_list_sort(struct pkg_list *l)
{
	if (l->n)
		qsort(l->v, l->n, sizeof *l->v, compare);
}

struct pkg pkg_copy(struct arena *a, const struct pkg *p)
{
	struct pkg c = *p;
	c.name = arena_strdup(a, p->name);
	c.version = arena_strdup(a, p->version);
	c.arch = arena_strdup(a, p->arch);
	c.path = arena_strdup(a, p->path);
	c.text = arena_strndup(a, p->text, p->text_len);
	return c;
}
