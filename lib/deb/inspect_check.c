#include <string.h>

#include "../base/arena.h"
#include "../base/err.h"
#include "../base/strv.h"
#include "../base/xalloc.h"
#include "inspect.h"
#include "relation.h"
#include "version.h"

static int distrust(const char *field, const char *claimed, const char *real, struct err *err)
{
	return err_set(err, ERR_TRUST,
	    "%s claims '%s', but the files hold '%s': build the package again", field, claimed,
	    *real ? real : "nothing of the kind");
}

/* The words in one order, so that two lists can be compared. */
static char *sorted(const char *list)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	strv_split(&v, list, ", \t\n");
	strv_sort(&v);
	strv_uniq(&v);
	return strv_join(&v, " ");
}

static int check_list(
    const struct inspect_claims *c, const char *field, const char *real, struct err *err)
{
	const char *claimed = stanza_get(&c->info.control, field);
	if (!claimed && !*real)
		return 0;
	if (!claimed)
		return err_set(
		    err, ERR_TRUST, "the field %s is missing: the files hold '%s'", field, real);
	_free_ char *a = sorted(claimed), *b = sorted(real);
	return strcmp(a, b) ? distrust(field, claimed, real, err) : 0;
}

/* Only the major version shows in the name of the runtime library. */
static int check_cuda(const struct inspect_claims *c, struct err *err)
{
	static const char field[] = "Debkit-Cuda";
	const char *claimed = stanza_get(&c->info.control, field);
	if (!claimed && (c->n_bindings || (*c->archs && !*c->triton)))
		return err_set(err, ERR_TRUST, "the field %s is missing: the files need CUDA '%s'",
		    field, c->cuda);
	if (!claimed)
		return 0;
	size_t n = strcspn(claimed, ".");
	if (n != strlen(c->cuda) || strncmp(claimed, c->cuda, n) != 0) {
		_free_ char *real = xasprintf("%s%s", *c->cuda ? "libcudart.so." : "", c->cuda);
		return distrust(field, claimed, real, err);
	}
	return 0;
}

static int check_bindings(const struct inspect_claims *c, struct err *err)
{
	for (size_t i = 0; i < c->n_bindings; i++) {
		const struct inspect_binding *b = &c->bindings[i];
		if (!b->init)
			return err_set(err, ERR_TRUST,
			    "'%s' is named as a binding but defines no PyInit_ function", b->path);
		if (!b->listed)
			return err_set(err, ERR_TRUST,
			    "the table of bindings does not list '%s' with torch %s, for which it "
			    "was "
			    "compiled",
			    b->path, b->torch);
	}
	return 0;
}

static int check_source(const struct inspect_claims *c, struct err *err)
{
	const char *hash = stanza_get(&c->info.control, "Debkit-Source-Sha256");
	if (hash &&
	    (strlen(hash) != SHA256_HEX - 1 || strspn(hash, "0123456789abcdef") != SHA256_HEX - 1))
		return err_set(
		    err, ERR_TRUST, "Debkit-Source-Sha256 '%s' is no SHA-256 digest", hash);
	return 0;
}

/* The version of libc6 that a field asks for with >= or >>; NULL if it asks for none. */
static const char *libc_version(struct arena *a, const struct stanza *s, const char *field)
{
	const char *value = stanza_get(s, field), *best = NULL;
	struct relation_list list = {0};
	if (value && relation_parse(a, value, &list, NULL) < 0)
		return NULL; /* deb_read has checked it */
	for (size_t i = 0; i < list.n; i++) {
		const struct relation *r = &list.v[i];
		if (!strcmp(r->package, "libc6") && r->op && r->op[0] == '>' &&
		    (!best || version_compare(r->version, best) > 0))
			best = r->version;
	}
	return best;
}

/* A version of libc6 that is asked for must reach the highest that an ELF file needs. */
static int check_libc(const struct inspect_claims *c, struct err *err)
{
	static const char *const fields[] = {"Depends", "Pre-Depends"};
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	const char *best = NULL;
	for (size_t i = 0; c->glibc && i < ARRAY_SIZE(fields); i++) {
		const char *v = libc_version(&a, &c->info.control, fields[i]);
		if (v && version_compare(v, c->glibc) >= 0)
			return 0;
		best = v ? v : best;
	}
	if (!c->glibc)
		return 0;
	_free_ char *asked =
	    best ? xasprintf("libc6 (>= %s)", best) : xstrdup("no version of libc6");
	return err_set(err, ERR_TRUST,
	    "Depends asks for %s, but the files need GLIBC_%s: build the package again", asked,
	    c->glibc);
}

static int by_path(const void *a, const void *b)
{
	const struct deb_file *const *x = a, *const *y = b;
	return strcmp((*x)->path, (*y)->path);
}

/* The package's regular files, sorted for bsearch. */
struct file_index {
	const struct deb_file **v;
	bool *listed; /* like v */
	size_t n;
};

static void index_done(struct file_index *x)
{
	free(x->v);
	free(x->listed);
}

static void index_files(const struct deb_info *info, struct file_index *x)
{
	x->v = xcalloc(info->n_files + 1, sizeof *x->v);
	x->listed = xcalloc(info->n_files + 1, sizeof *x->listed);
	for (size_t i = 0; i < info->n_files; i++)
		if (info->files[i].type == 'f')
			x->v[x->n++] = &info->files[i];
	qsort(x->v, x->n, sizeof *x->v, by_path);
}

static int check_sum(struct file_index *x, const char *line, struct err *err)
{
	if (strlen(line) < 35 || line[32] != ' ')
		return err_set(err, ERR_TRUST, "md5sums: '%s' is no digest and name", line);
	const struct deb_file key = {.path = line + 34}, *want = &key;
	const struct deb_file **f = bsearch(&want, x->v, x->n, sizeof *x->v, by_path);
	if (!f)
		return err_set(err, ERR_TRUST, "md5sums lists '%s', which is not there", key.path);
	if (strncmp(line, (*f)->md5, 32) != 0)
		return err_set(err, ERR_TRUST, "md5sums claims '%.32s' for '%s', but it has '%s'",
		    line, key.path, (*f)->md5);
	x->listed[f - x->v] = true;
	return 0;
}

static int check_md5sums(const struct deb_info *info, struct err *err)
{
	_cleanup_(index_done) struct file_index x = {0};
	index_files(info, &x);
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	strv_split(&lines, info->md5sums ? info->md5sums : "", "\n");
	for (size_t i = 0; i < lines.n; i++)
		if (check_sum(&x, lines.v[i], err) < 0)
			return -1;
	for (size_t i = 0; i < x.n; i++)
		if (!x.listed[i] && !str_starts(x.v[i]->path, "etc/"))
			return err_set(err, ERR_TRUST, "md5sums does not list '%s'", x.v[i]->path);
	return 0;
}

static int check_stores(const struct inspect_claims *c, struct err *err)
{
	if (c->store_fault)
		return err_set(err, ERR_TRUST, "%s", c->store_fault);
	return check_list(c, "Debkit-Triton", c->triton, err) < 0
		   ? -1
		   : check_list(c, "Debkit-Profiles", c->profiles, err);
}

int inspect_check(const struct inspect_claims *c, struct err *err)
{
	if (check_cuda(c, err) < 0 || check_list(c, "Debkit-Cuda-Archs", c->archs, err) < 0 ||
	    check_list(c, "Debkit-Torch", c->torch, err) < 0 ||
	    check_list(c, "Debkit-Python", c->python, err) < 0 || check_stores(c, err) < 0 ||
	    check_bindings(c, err) < 0 || check_source(c, err) < 0 || check_libc(c, err) < 0 ||
	    check_md5sums(&c->info, err) < 0)
		return err_wrap(err, "'%s'", c->info.source);
	return 0;
}
