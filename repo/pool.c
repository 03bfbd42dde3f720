#include "pool.h"

#include <string.h>

#include "../debbuild/base/arena.h"
#include "../debbuild/base/buf.h"
#include "../debbuild/base/err.h"
#include "../debbuild/base/path.h"
#include "../debbuild/base/strv.h"
#include "../debbuild/base/xalloc.h"
#include "../debbuild/deb/deb.h"
#include "../debbuild/deb/version.h"
#include "../debbuild/sign/debsig.h"

#define STANZA_MAX ((size_t)16 << 20)

/* Fields that the index sets itself: a control file cannot speak for them. */
static const char *const own_fields[] = {
    "Filename", "Size", "MD5sum", "SHA1", "SHA256", "SHA512", "Status"};

char *pool_dir(struct arena *a, const char *component, const char *source)
{
	int prefix = str_starts(source, "lib") && source[3] ? 4 : 1;
	return arena_printf(a, "pool/%s/%.*s/%s", component, prefix, source, source);
}

/* The source package's name: the Source field without its version in brackets. */
static int source_name(struct arena *a, const struct deb_info *d, const char **out, struct err *err)
{
	const char *field = stanza_get(&d->control, "Source");
	if (!field)
		field = stanza_get(&d->control, "Package");
	char *name = arena_strndup(a, field, strcspn(field, " ("));
	if (version_check_package(name, err) < 0)
		return err_wrap(err, "Source '%s'", field);
	*out = name;
	return 0;
}

static const char *pool_path(
    struct arena *a, const char *component, const char *source, const struct pkg *p)
{
	const char *colon = strchr(p->version, ':');
	return arena_printf(a, "%s/%s_%s_%s.deb", pool_dir(a, component, source), p->name,
	    colon ? colon + 1 : p->version, p->arch);
}

static int make_text(struct arena *a, struct stanza *s, struct pkg *p, struct err *err)
{
	const char *description = stanza_get(s, "Description");
	for (size_t i = 0; i < ARRAY_SIZE(own_fields); i++)
		stanza_unset(s, own_fields[i]);
	stanza_unset(s, "Description");
	stanza_set(a, s, "Filename", p->path);
	stanza_set(a, s, "Size", arena_printf(a, "%llu", (unsigned long long)p->size));
	stanza_set(a, s, "SHA256", p->sha256);
	stanza_set(a, s, "Description", description);
	_cleanup_(buf_done) struct buf b = BUF_INIT(STANZA_MAX);
	stanza_write(s, &b);
	if (buf_check(&b, "control file", err) < 0)
		return -1;
	p->text = arena_strndup(a, b.data, b.len);
	return 0;
}

int pool_admit(struct arena *a, const char *file, const char *component, const char *keyring,
    struct pkg *out, struct err *err)
{
	struct deb_info d = {0};
	char fpr[41];
	if (deb_read(a, file, DEB_READ_SIGNED, NULL, NULL, &d, err) < 0)
		return -1;
	if (keyring && debsig_verify(file, keyring, fpr, err) < 0)
		return -1;
	struct pkg p = {.name = stanza_get(&d.control, "Package"),
	    .version = stanza_get(&d.control, "Version"),
	    .arch = stanza_get(&d.control, "Architecture"),
	    .size = d.size,
	    .from = arena_strdup(a, file)};
	memcpy(p.sha256, d.sha256, sizeof p.sha256);
	const char *source;
	if (source_name(a, &d, &source, err) < 0)
		return err_wrap(err, "'%s'", file);
	p.path = pool_path(a, component, source, &p);
	if (!path_is_safe_member(p.path))
		return err_set(
		    err, ERR_FORMAT, "'%s': '%s' is no path inside the pool", file, p.path);
	if (make_text(a, &d.control, &p, err) < 0)
		return err_wrap(err, "'%s'", file);
	*out = p;
	return 0;
}

int pool_from_stanza(
    struct arena *a, const struct stanza *s, const char *source, struct pkg *out, struct err *err)
{
	const char *size = stanza_get(s, "Size"), *sha = stanza_get(s, "SHA256");
	unsigned long long n;
	struct pkg p = {.name = stanza_get(s, "Package"),
	    .version = stanza_get(s, "Version"),
	    .arch = stanza_get(s, "Architecture"),
	    .path = stanza_get(s, "Filename")};
	if (!p.name || !p.version || !p.arch || !p.path || !size ||
	    str_parse_u64(size, UINT64_MAX, &n) < 0 || !sha || strlen(sha) != SHA256_HEX - 1)
		return err_set(err, ERR_FORMAT,
		    "'%s' line %u: a stanza without a good Package, Version, Architecture, "
		    "Filename, Size or SHA256",
		    source, s->line);
	p.size = n;
	memcpy(p.sha256, sha, SHA256_HEX);
	_cleanup_(buf_done) struct buf b = BUF_INIT(STANZA_MAX);
	stanza_write(s, &b);
	if (buf_check(&b, source, err) < 0)
		return -1;
	p.text = arena_strndup(a, b.data, b.len);
	*out = p;
	return 0;
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

int pkg_compare(const struct pkg *a, const struct pkg *b)
{
	int c = strcmp(a->name, b->name);
	if (!c)
		c = version_compare(a->version, b->version);
	return c ? c : strcmp(a->arch, b->arch);
}
