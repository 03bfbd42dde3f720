#include "fatbin.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include "../base/xalloc.h"
#include "elf.h"

#define MAGIC	      0xBA55ED50u
#define CONTAINER_LEN 16u
#define ENTRY_LEN     64u
#define FLAG_LZ4      0x2000u
#define FLAG_ZSTD     0x8000u
#define FLAG_SPECIFIC 0x100000u
#define FLAG_FAMILY   0x200000u
#define ENTRIES_MAX   65536u
/* A cubin without a kernel has at most 1952 bytes, one with an empty kernel 2856 and more. */
#define KERNEL_MIN 2048u

/* Where the bytes are: in memory, or in a file from an offset. */
struct source {
	const char *p;
	int fd;
	uint64_t offset, size;
	const char *name;
};

struct fatbin_reader {
	struct arena *arena;
	struct source src;
	struct fatbin_info *out;
	size_t cap;
};

static int get(const struct source *s, uint64_t at, void *to, size_t n, struct err *err)
{
	if (at > s->size || n > s->size - at)
		return err_set(err, ERR_FORMAT, "'%s': the CUDA fat binary is truncated", s->name);
	if (s->p) {
		memcpy(to, s->p + at, n);
		return 0;
	}
	for (size_t got = 0; got < n;) {
		ssize_t r = pread(s->fd, (char *)to + got, n - got, (off_t)(s->offset + at + got));
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_sys(err, "cannot read '%s'", s->name);
		if (r == 0)
			return err_set(
			    err, ERR_FORMAT, "'%s' ends within its CUDA fat binary", s->name);
		got += (size_t)r;
	}
	return 0;
}

static uint64_t le(const unsigned char *p, size_t n)
{
	uint64_t v = 0;
	while (n--)
		v = v << 8 | p[n];
	return v;
}

static int bad(const struct fatbin_reader *r, const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT, "'%s': CUDA fat binary: %s", r->src.name, what);
}

static struct fatbin_entry *add_entry(struct fatbin_reader *r)
{
	struct fatbin_info *out = r->out;
	if (out->n == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 16;
		struct fatbin_entry *more = arena_alloc(r->arena, r->cap * sizeof *more);
		if (out->n)
			memcpy(more, out->v, out->n * sizeof *more);
		out->v = more;
	}
	return &out->v[out->n++];
}

/* Reads the entry at *at, which must end before end, and moves *at behind it. */
static int read_entry(struct fatbin_reader *r, uint64_t *at, uint64_t end, struct err *err)
{
	unsigned char h[ENTRY_LEN];
	if (end - *at < ENTRY_LEN)
		return bad(r, "an entry is cut off", err);
	if (get(&r->src, *at, h, sizeof h, err) < 0)
		return -1;
	uint64_t header = le(h + 4, 4), size = le(h + 8, 8), flags = le(h + 40, 8);
	if (header < ENTRY_LEN || header > end - *at || size > end - *at - header)
		return bad(r, "the length of an entry leaves its container", err);
	if (r->out->n == ENTRIES_MAX)
		return bad(r, "too many entries", err);
	uint64_t offset = r->src.offset + *at + header;
	*at += header + size;
	struct fatbin_entry *e = add_entry(r);
	*e = (struct fatbin_entry){.kind = (enum fatbin_kind)le(h, 2),
	    .container = (unsigned)r->out->n_containers,
	    .arch = (unsigned)le(h + 28, 4),
	    .suffix = flags & FLAG_SPECIFIC ? 'a'
		      : flags & FLAG_FAMILY ? 'f'
					    : 0,
	    .size = size,
	    .offset = offset,
	    .packed = (uint32_t)le(h + 16, 4)};
	if (flags & FLAG_ZSTD)
		e->compress = FATBIN_ZSTD;
	else if (flags & FLAG_LZ4)
		e->compress = FATBIN_LZ4;
	else if (le(h + 16, 4))
		e->compress = FATBIN_OTHER;
	if (e->compress != FATBIN_PLAIN)
		e->plain_size = le(h + 56, 8);
	return 0;
}

static int read_container(struct fatbin_reader *r, uint64_t *at, struct err *err)
{
	unsigned char h[CONTAINER_LEN];
	if (get(&r->src, *at, h, sizeof h, err) < 0)
		return -1;
	uint64_t header = le(h + 6, 2), size = le(h + 8, 8), room = r->src.size - *at;
	if (le(h, 4) != MAGIC)
		return bad(r, "no container where one is expected", err);
	if (header < CONTAINER_LEN || header > room || size > room - header)
		return bad(r, "the length of a container leaves the section", err);
	uint64_t end = *at + header + size;
	*at += header;
	while (*at < end)
		if (read_entry(r, at, end, err) < 0)
			return -1;
	r->out->n_containers++;
	return 0;
}

/* Moves *at over zero bytes. */
static int skip_padding(struct fatbin_reader *r, uint64_t *at, struct err *err)
{
	char block[256];
	while (*at < r->src.size) {
		uint64_t room = r->src.size - *at;
		size_t n = room < sizeof block ? (size_t)room : sizeof block, i = 0;
		if (get(&r->src, *at, block, n, err) < 0)
			return -1;
		while (i < n && block[i] == 0)
			i++;
		*at += i;
		if (i < n)
			break;
	}
	return 0;
}

static int read_source(
    struct arena *a, const struct source *src, struct fatbin_info *out, struct err *err)
{
	struct fatbin_info info = {0};
	struct fatbin_reader r = {.arena = a, .src = *src, .out = &info};
	uint64_t at = 0;
	for (;;) {
		if (skip_padding(&r, &at, err) < 0)
			return -1;
		if (at == src->size)
			break;
		if (read_container(&r, &at, err) < 0)
			return -1;
	}
	*out = info;
	return 0;
}

int fatbin_read(struct arena *a, const void *p, size_t n, struct fatbin_info *out, struct err *err)
{
	const struct source src = {.p = n ? p : "", .fd = -1, .size = n, .name = ".nv_fatbin"};
	return read_source(a, &src, out, err);
}

int fatbin_read_elf(struct arena *a, const char *path, struct fatbin_info *out, struct err *err)
{
	struct elf_info elf;
	if (elf_read(a, path, &elf, err) < 0)
		return -1;
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "cannot read '%s'", path);
	const struct source src = {
	    .fd = fd, .offset = elf.fatbin_offset, .size = elf.fatbin_size, .name = path};
	return read_source(a, &src, out, err);
}

int fatbin_image(const char *path, const struct fatbin_entry *e, struct buf *out, struct err *err)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "cannot read '%s'", path);
	const struct source src = {.fd = fd, .offset = e->offset, .size = e->size, .name = path};
	_free_ char *packed = xmalloc(e->size + 1);
	return get(&src, 0, packed, e->size, err) < 0 ? -1
						      : fatbin_unpack(e, packed, path, out, err);
}

static bool has_kernel(const struct fatbin_entry *e)
{
	uint64_t plain = e->compress == FATBIN_PLAIN ? e->size : e->plain_size;
	return e->kind != FATBIN_ELF || plain >= KERNEL_MIN;
}

static bool is_code(const struct fatbin_entry *e)
{
	return e->kind == FATBIN_ELF || e->kind == FATBIN_PTX;
}

static bool same_target(const struct fatbin_entry *a, const struct fatbin_entry *b)
{
	return a->kind == b->kind && a->arch == b->arch && a->suffix == b->suffix;
}

/* Marks the containers that count in used; returns how many they are. */
static size_t find_used(const struct fatbin_info *f, bool *used)
{
	size_t n = 0;
	for (size_t i = 0; i < f->n; i++)
		if (has_kernel(&f->v[i]))
			used[f->v[i].container] = true;
	for (size_t c = 0; c < f->n_containers; c++)
		n += used[c];
	if (n)
		return n;
	memset(used, true, f->n_containers);
	return f->n_containers;
}

/* ELF before PTX, then by arch, plain before suffixed, then by container. */
static int compare(const void *a, const void *b)
{
	const struct fatbin_entry *x = *(const struct fatbin_entry *const *)a,
				  *y = *(const struct fatbin_entry *const *)b;
	if (x->kind != y->kind)
		return x->kind == FATBIN_ELF ? -1 : 1;
	if (x->arch != y->arch)
		return x->arch < y->arch ? -1 : 1;
	if (x->suffix != y->suffix)
		return x->suffix - y->suffix;
	return x->container < y->container ? -1 : x->container > y->container;
}

static void put_target(const struct fatbin_entry *e, struct buf *out, bool first)
{
	buf_printf(out, "%s%u.%u", first ? "" : " ", e->arch / 10, e->arch % 10);
	if (e->suffix)
		buf_putc(out, e->suffix);
	if (e->kind == FATBIN_PTX)
		buf_puts(out, "+PTX");
}

void fatbin_archs(const struct fatbin_info *f, struct buf *out)
{
	_free_ bool *used = xcalloc(f->n_containers + 1, sizeof *used);
	_free_ const struct fatbin_entry **v = xcalloc(f->n + 1, sizeof *v);
	size_t want = find_used(f, used), n = 0, start = out->len;
	for (size_t i = 0; i < f->n; i++)
		if (is_code(&f->v[i]) && used[f->v[i].container])
			v[n++] = &f->v[i];
	qsort(v, n, sizeof *v, compare);
	for (size_t i = 0; i < n;) {
		size_t first = i, containers = 0;
		for (; i < n && same_target(v[first], v[i]); i++)
			containers += i == first || v[i]->container != v[i - 1]->container;
		if (containers == want)
			put_target(v[first], out, out->len == start);
	}
}
