#include "inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/digest.h"
#include "../base/err.h"
#include "../base/path.h"
#include "../base/strv.h"
#include "../base/xalloc.h"
#include "elf.h"
#include "fatbin.h"
#include "kernel_table.h"
#include "manifest.h"
#include "stanza.h"
#include "version.h"

/* The table of a package with a thousand bindings has about 100 KB. */
#define TABLE_MAX ((size_t)4 << 20)

struct inspector {
	struct arena *arena;
	struct inspect_claims *out;
	struct kernel_table *kernel_table; /* or NULL */
	char *tmp;			   /* name of the temporary file */
	int fd;
	unsigned char head[ELF_HEAD_LEN];
	size_t head_len;
	bool keep;	     /* the present file is a shared object and goes to fd */
	struct buf table;    /* text of all files named `bindings` */
	struct buf manifest; /* text of the present one */
	struct manifest_claims kernels;
	struct digest *digest; /* of the present file of a store */
	struct strv cuda, torch, python;
	struct fatbin_info fat; /* of all libraries */
	size_t fat_cap, bindings_cap;
};

static void inspector_done(struct inspector *x)
{
	close_fd(&x->fd);
	if (x->tmp)
		unlink(x->tmp);
	free(x->tmp);
	free(x->fat.v);
	free(x->out->bindings);
	buf_done(&x->table);
	buf_done(&x->manifest);
	manifest_done(&x->kernels);
	digest_free(x->digest);
	strv_done(&x->cuda);
	strv_done(&x->torch);
	strv_done(&x->python);
}

static int open_tmp(struct inspector *x, struct err *err)
{
	const char *dir = getenv("TMPDIR");
	x->tmp = xasprintf("%s/debkit-inspect.XXXXXX", dir && *dir ? dir : "/var/tmp");
	x->fd = mkostemp(x->tmp, O_CLOEXEC);
	if (x->fd >= 0)
		return 0;
	err_sys(err, "cannot create '%s'", x->tmp);
	free(take_ptr(x->tmp));
	return -1;
}

static int write_all(struct inspector *x, const void *p, size_t n, struct err *err)
{
	for (const char *from = p; n;) {
		ssize_t done = write(x->fd, from, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_sys(err, "cannot write '%s'", x->tmp);
		from += done;
		n -= (size_t)done;
	}
	return 0;
}

static void note_higher(const char **best, const char *v)
{
	if (v && (!*best || version_compare(v, *best) > 0))
		*best = v;
}

static void note_cudart(struct inspector *x, const char *library)
{
	static const char stem[] = "libcudart.so.";
	if (str_starts(library, stem))
		strv_add(&x->cuda, library + strlen(stem));
}

/* torch2.10-cp311.so: "2.10", "3.11"; free-threaded cp313t: "3.13t". */
static void note_binding(struct inspector *x, const char *path, const struct elf_info *elf)
{
	const char *name = path_base(path), *cp = strstr(name, "-cp");
	if (!str_starts(path, "usr/lib/") || !strstr(path, "/debkit/") ||
	    !str_starts(name, "torch") || !str_ends(name, ".so") || !cp || strlen(cp) < 8)
		return;
	struct inspect_binding b = {.path = path};
	b.torch = arena_strndup(x->arena, name + 5, (size_t)(cp - name) - 5);
	b.python = arena_printf(
	    x->arena, "%c.%.*s", cp[3], (int)strlen(cp + 4) - (int)strlen(".so"), cp + 4);
	for (size_t i = 0; i < elf->n_defined; i++)
		b.init |= str_starts(elf->defined[i].name, "PyInit_");
	struct inspect_claims *out = x->out;
	if (out->n_bindings == x->bindings_cap) {
		x->bindings_cap = x->bindings_cap ? x->bindings_cap * 2 : 16;
		out->bindings =
		    xreallocarray(out->bindings, x->bindings_cap, sizeof *out->bindings);
	}
	out->bindings[out->n_bindings++] = b;
	strv_add(&x->torch, b.torch);
	strv_add(&x->python, b.python);
}

/* Adds the containers of one more library behind those of the others. */
static void add_fatbin(struct inspector *x, const struct fatbin_info *f)
{
	if (x->fat.n + f->n > x->fat_cap) {
		x->fat_cap = (x->fat.n + f->n) * 2;
		x->fat.v = xreallocarray(x->fat.v, x->fat_cap, sizeof *x->fat.v);
	}
	for (size_t i = 0; i < f->n; i++) {
		x->fat.v[x->fat.n] = f->v[i];
		x->fat.v[x->fat.n++].container += (unsigned)x->fat.n_containers;
	}
	x->fat.n_containers += f->n_containers;
}

/* The temporary file holds a whole shared object, whose name in the package is path. */
static int read_library(struct inspector *x, const char *path, struct err *err)
{
	_cleanup_(arena_done) struct arena here = ARENA_INIT;
	struct elf_info elf;
	struct fatbin_info fat;
	if (elf_read(&here, x->tmp, &elf, err) < 0 || fatbin_read_elf(&here, x->tmp, &fat, err) < 0)
		return err_wrap(err, "%s", path);
	if (x->kernel_table && kernel_table_add(x->kernel_table, x->tmp, &fat, err) < 0)
		return err_wrap(err, "%s", path);
	add_fatbin(x, &fat);
	for (size_t i = 0; i < elf.n_needed; i++)
		note_cudart(x, elf.needed[i]);
	if (elf.soname)
		note_cudart(x, elf.soname);
	note_higher(&x->out->glibc, elf_floor(x->arena, &elf, "GLIBC"));
	note_higher(&x->out->glibcxx, elf_floor(x->arena, &elf, "GLIBCXX"));
	note_binding(x, path, &elf);
	x->out->n_libraries++;
	return 0;
}

static int end_file(struct inspector *x, const struct deb_file *f, struct err *err)
{
	int r = x->keep ? read_library(x, f->path, err) : 0;
	x->keep = false;
	x->head_len = 0;
	return r;
}

static bool is_table(const char *path)
{
	return strstr(path, "/debkit/") && !strcmp(path_base(path), "bindings");
}

static int take_manifest(
    struct inspector *x, const char *path, const void *p, size_t n, struct err *err)
{
	buf_append(&x->manifest, p, n);
	if (buf_check(&x->manifest, path, err) < 0)
		return -1;
	if (n)
		return 0;
	if (manifest_add(&x->kernels, path, buf_str(&x->manifest), x->manifest.len, err) < 0)
		return -1;
	buf_truncate(&x->manifest, 0);
	return 0;
}

static void note_kernels(struct inspector *x, const char *path, const void *p, size_t n)
{
	if (!x->digest)
		x->digest = digest_new(DIGEST_SHA256);
	if (n) {
		digest_update(x->digest, p, n);
		return;
	}
	char hex[DIGEST_HEX_MAX];
	digest_finish_hex(take_ptr(x->digest), hex);
	manifest_note_file(&x->kernels, path, hex);
}

static int take_file(void *arg, const struct deb_file *f, const void *p, size_t n, struct err *err)
{
	struct inspector *x = arg;
	if (is_table(f->path)) {
		buf_append(&x->table, n ? p : "\n", n ? n : 1);
		return n ? 0 : buf_check(&x->table, f->path, err);
	}
	if (manifest_is(f->path))
		return take_manifest(x, f->path, p, n, err);
	if (manifest_covers(f->path))
		note_kernels(x, f->path, p, n);
	if (n == 0)
		return end_file(x, f, err);
	if (x->head_len < ELF_HEAD_LEN) {
		size_t more = ELF_HEAD_LEN - x->head_len < n ? ELF_HEAD_LEN - x->head_len : n;
		memcpy(x->head + x->head_len, p, more);
		x->head_len += more;
		p = (const char *)p + more;
		n -= more;
		if (x->head_len < ELF_HEAD_LEN || !elf_is_library(x->head))
			return 0;
		x->keep = true;
		if (ftruncate(x->fd, 0) < 0 || lseek(x->fd, 0, SEEK_SET) < 0)
			return err_sys(err, "cannot write '%s'", x->tmp);
		if (write_all(x, x->head, ELF_HEAD_LEN, err) < 0)
			return -1;
	}
	return x->keep ? write_all(x, p, n, err) : 0;
}

/* A stanza of the table: the torches that one binding is said to fit. */
static void note_listed(struct inspector *x, const struct stanza *s)
{
	const char *file = stanza_get(s, "File"), *torch = stanza_get(s, "Torch");
	struct inspect_claims *out = x->out;
	if (!file || !torch)
		return;
	_cleanup_(strv_done) struct strv minors = STRV_INIT;
	strv_split(&minors, torch, " ");
	strv_add_all(&x->torch, &minors);
	for (size_t i = 0; i < out->n_bindings; i++)
		if (!strcmp(path_base(out->bindings[i].path), file))
			out->bindings[i].listed = strv_has(&minors, out->bindings[i].torch);
}

static int read_table(struct inspector *x, struct err *err)
{
	struct stanza_list list = {0};
	if (!x->table.len)
		return 0;
	if (stanza_parse(x->arena, buf_str(&x->table), x->table.len, "bindings", 0, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++)
		note_listed(x, &list.v[i]);
	return 0;
}

static int compare_versions(const void *a, const void *b)
{
	return version_compare(*(char *const *)a, *(char *const *)b);
}

static const char *join_versions(struct arena *a, struct strv *v)
{
	strv_sort(v);
	strv_uniq(v);
	if (v->n)
		qsort(v->v, v->n, sizeof *v->v, compare_versions);
	_free_ char *s = strv_join(v, " ");
	return arena_strdup(a, s);
}

int inspect_deb(struct arena *a, const char *path, struct inspect_claims *out, struct err *err)
{
	return inspect_deb_kernels(a, path, out, NULL, err);
}

int inspect_deb_kernels(struct arena *a, const char *path, struct inspect_claims *out,
    struct kernel_table *table, struct err *err)
{
	struct inspect_claims claims = {0};
	if (table)
		*table = (struct kernel_table){.a = a};
	_cleanup_(inspector_done) struct inspector x = {.arena = a,
	    .out = &claims,
	    .kernel_table = table,
	    .fd = -1,
	    .table = BUF_INIT(TABLE_MAX),
	    .manifest = BUF_INIT(TABLE_MAX)};
	if (open_tmp(&x, err) < 0 ||
	    deb_read(a, path, DEB_READ_FILES | DEB_READ_SIGNED, take_file, &x, &claims.info, err) <
		0 ||
	    read_table(&x, err) < 0)
		return -1;
	_cleanup_(buf_done) struct buf archs = BUF_INIT(1 << 20);
	fatbin_archs(&x.fat, &archs);
	manifest_sort(&x.kernels);
	for (size_t i = 0; i < x.kernels.archs.n; i++)
		buf_printf(&archs, "%s%s", archs.len ? " " : "", x.kernels.archs.v[i]);
	strv_add_all(&x.python, &x.kernels.pythons);
	claims.archs = arena_strdup(a, buf_str(&archs));
	struct err why = {0};
	if (manifest_check(&x.kernels, &why) < 0)
		claims.store_fault = arena_strdup(a, why.msg);
	claims.triton = join_versions(a, &x.kernels.tritons);
	_free_ char *profiles = strv_join(&x.kernels.profiles, " ");
	claims.profiles = arena_strdup(a, profiles);
	claims.cuda = join_versions(a, &x.cuda);
	claims.torch = join_versions(a, &x.torch);
	claims.python = join_versions(a, &x.python);
	if (table)
		kernel_table_sort(table);
	*out = claims;
	size_t size = claims.n_bindings * sizeof *claims.bindings;
	out->bindings = arena_alloc(a, size + 1);
	if (size)
		memcpy(out->bindings, claims.bindings, size);
	return 0;
}
