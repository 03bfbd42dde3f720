#include "dynsym.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include "../base/xalloc.h"

#define SECTIONS_MAX 65536u
#define TABLE_MAX    ((size_t)128 << 20)

/* The sections that say what is exported, and their bytes. */
struct tables {
	const char *name;
	dynsym_read_fn *read;
	void *arg;
	uint64_t size;
	Elf64_Shdr dynsym, dynstr, hash; /* hash.sh_type is SHT_NULL where there is none */
	struct buf symbols, strings, hashes;
};

static void tables_done(struct tables *t)
{
	buf_done(&t->symbols);
	buf_done(&t->strings);
	buf_done(&t->hashes);
}

static int bad(const struct tables *t, const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT, "'%s': %s", t->name, what);
}

static int read_header(struct tables *t, Elf64_Ehdr *h, struct err *err)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(sizeof *h);
	if (t->size < sizeof *h)
		return bad(t, "not an ELF file", err);
	if (t->read(t->arg, 0, sizeof *h, &b, err) < 0)
		return -1;
	memcpy(h, b.data, sizeof *h);
	if (memcmp(h->e_ident, ELFMAG, SELFMAG))
		return bad(t, "not an ELF file", err);
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
	    h->e_type != ET_DYN)
		return bad(t, "not a 64-bit little-endian shared object", err);
	if (!h->e_shnum || h->e_shentsize != sizeof(Elf64_Shdr))
		return bad(t, "it has no section headers", err);
	return 0;
}

static int find_tables(struct tables *t, struct err *err)
{
	Elf64_Ehdr h;
	_cleanup_(buf_done) struct buf b = BUF_INIT(SECTIONS_MAX * sizeof(Elf64_Shdr));
	if (read_header(t, &h, err) < 0 ||
	    t->read(t->arg, h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr), &b, err) < 0)
		return -1;
	Elf64_Shdr s = {0};
	for (unsigned i = 0; i < h.e_shnum; i++) {
		memcpy(&s, b.data + i * sizeof s, sizeof s);
		if (s.sh_type == SHT_DYNSYM)
			t->dynsym = s;
		else if (s.sh_type == SHT_GNU_HASH)
			t->hash = s;
	}
	if (t->dynsym.sh_type != SHT_DYNSYM || t->dynsym.sh_link >= h.e_shnum)
		return bad(t, "it has no dynamic symbols", err);
	memcpy(&t->dynstr, b.data + t->dynsym.sh_link * sizeof s, sizeof s);
	return t->dynstr.sh_type == SHT_STRTAB ? 0 : bad(t, "its symbols have no names", err);
}

static int read_tables(struct tables *t, struct err *err)
{
	const struct {
		const Elf64_Shdr *section;
		struct buf *to;
	} parts[] = {{&t->dynstr, &t->strings}, {&t->hash, &t->hashes}, {&t->dynsym, &t->symbols}};
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const Elf64_Shdr *s = parts[i].section;
		if (s->sh_type == SHT_NULL)
			continue;
		if (s->sh_size > TABLE_MAX)
			return bad(t, "its symbol tables are too large", err);
		if (t->read(t->arg, s->sh_offset, s->sh_size, parts[i].to, err) < 0)
			return -1;
	}
	if (!t->strings.len || t->strings.data[t->strings.len - 1])
		return bad(t, "the table of its symbols' names is damaged", err);
	return 0;
}

/* The hash of the symbol tables' own index, as in glibc's dl-new-hash. */
static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;
	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static uint32_t word(const struct buf *b, size_t i)
{
	uint32_t v;
	memcpy(&v, b->data + i * sizeof v, sizeof v);
	return v;
}

/*
 * Header of .gnu.hash: buckets, first symbol, words of the filter, shift; then the filter (64-bit
 * words), the buckets and one hash for each symbol from the first on, the lowest bit apart.
 */
static int find_chain(
    const struct tables *t, size_t n_symbols, size_t *first, size_t *chain, struct err *err)
{
	uint64_t words = t->hashes.len / 4;
	*first = n_symbols;
	*chain = 0;
	if (t->hash.sh_type == SHT_NULL)
		return 0;
	if (words < 4)
		return bad(t, "its .gnu.hash is damaged", err);
	uint64_t at = 4 + 2 * (uint64_t)word(&t->hashes, 2) + word(&t->hashes, 0);
	*first = word(&t->hashes, 1);
	if (*first > n_symbols)
		*first = n_symbols; /* ld writes 1 for an object that exports nothing */
	if (*first < n_symbols && (at > words || words - at < n_symbols - *first))
		return bad(t, "its .gnu.hash is damaged", err);
	*chain = at;
	return 0;
}

/* SHN_ABS is what the names of versions have that stand among the symbols. */
static bool is_exported(const Elf64_Sym *s)
{
	unsigned bind = ELF64_ST_BIND(s->st_info), seen = ELF64_ST_VISIBILITY(s->st_other);
	return s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS &&
	       (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE) &&
	       (seen == STV_DEFAULT || seen == STV_PROTECTED);
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

/* Sorts, and drops what stands there twice (two versions of one name). */
static size_t sort_names(const char **v, size_t n)
{
	size_t kept = 0;
	qsort(v, n, sizeof *v, by_name);
	for (size_t i = 0; i < n; i++)
		if (!kept || strcmp(v[kept - 1], v[i]))
			v[kept++] = v[i];
	return kept;
}

static int collect(struct arena *a, const struct tables *t, struct dynsym *out, struct err *err)
{
	size_t n = t->symbols.len / sizeof(Elf64_Sym), first, chain;
	bool hashed = t->hash.sh_type != SHT_NULL;
	if (find_chain(t, n, &first, &chain, err) < 0)
		return -1;
	/* One copy of all names: they share their tails, so this is the smallest form. */
	char *strings = arena_alloc(a, t->strings.len);
	memcpy(strings, t->strings.data, t->strings.len);
	out->names = arena_alloc(a, (n + 1) * sizeof *out->names);
	out->n = 0;
	for (size_t i = hashed ? first : 1; i < n; i++) {
		Elf64_Sym s;
		memcpy(&s, t->symbols.data + i * sizeof s, sizeof s);
		if (s.st_name >= t->strings.len)
			return bad(t, "the name of a symbol lies outside of their table", err);
		const char *name = strings + s.st_name;
		if (hashed && (gnu_hash(name) | 1) != (word(&t->hashes, chain + i - first) | 1))
			return bad(t, "the name of a symbol does not fit its hash", err);
		if (*name && is_exported(&s))
			out->names[out->n++] = name;
	}
	out->n = sort_names(out->names, out->n);
	return 0;
}

int dynsym_exports(struct arena *a, dynsym_read_fn *read, void *arg, uint64_t size,
    const char *name, struct dynsym *out, struct err *err)
{
	_cleanup_(tables_done) struct tables t = {.name = name,
	    .read = read,
	    .arg = arg,
	    .size = size,
	    .symbols = BUF_INIT(TABLE_MAX),
	    .strings = BUF_INIT(TABLE_MAX),
	    .hashes = BUF_INIT(TABLE_MAX)};
	if (find_tables(&t, err) < 0 || read_tables(&t, err) < 0)
		return -1;
	return collect(a, &t, out, err);
}
