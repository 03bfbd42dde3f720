#include "kernels.h"

#include <ctype.h>
#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include "../base/path.h"
#include "../base/strv.h"
#include "../base/xalloc.h"

#ifndef EM_CUDA
#define EM_CUDA 190
#endif
#define FILE_MAX       ((size_t)512 << 20)
#define STUB	       "__device_stub__"
#define INFO_FRAME     0x11 /* EIATTR_FRAME_SIZE */
#define INFO_PARAMS    0x19 /* EIATTR_CBANK_PARAM_SIZE */
#define INFO_REGISTERS 0x2f /* EIATTR_REGCOUNT */
#define INFO_U16       0x03 /* format: a u16 */
#define INFO_SIZED     0x04 /* format: a u16 length and as many bytes */
#define KERNELS_MAX    100000u
#define INSTRUCTION    16u
#define LOCAL_LOAD     0x983u
#define LOCAL_STORE    0x387u

struct reader {
	struct arena *a;
	Elf *elf;
	const char *name;
	uint64_t text; /* bytes of all names copied so far */
	uint64_t size;
	uint64_t code; /* bytes of all kernels so far */
	Elf_Scn *symtab;
	struct cubin *out;
};

static void reader_done(struct reader *r)
{
	elf_end(r->elf);
}

static int bad(const struct reader *r, const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT, "'%s': %s", r->name, what);
}

static int open_elf(struct reader *r, const void *p, size_t n, GElf_Ehdr *h, struct err *err)
{
	elf_version(EV_CURRENT);
	r->size = n;
	r->elf = n ? elf_memory((char *)p, n) : NULL;
	if (!r->elf || elf_kind(r->elf) != ELF_K_ELF || !gelf_getehdr(r->elf, h) ||
	    h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
		return bad(r, "not a 64-bit little-endian ELF file", err);
	/* libelf would read as many headers as there are. */
	if (h->e_shoff > n || h->e_shnum > (n - h->e_shoff) / sizeof(Elf64_Shdr))
		return bad(r, "the section headers leave the file", err);
	return 0;
}

/* Names may be long and shared by sections of a damaged file: their copies are bounded. */
static const char *copy_name(struct reader *r, const char *s)
{
	r->text += strlen(s) + 1;
	return r->text <= 4 * r->size + (1u << 20) ? arena_strdup(r->a, s) : NULL;
}

static int by_name(const void *a, const void *b)
{
	const struct cubin_kernel *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static struct cubin_kernel *find(const struct cubin *c, const char *name)
{
	struct cubin_kernel key = {.name = name};
	return c->n ? bsearch(&key, c->v, c->n, sizeof key, by_name) : NULL;
}

/* The next section in *scn with its name and header, or 0 at the end; -1 if it is not whole. */
static int next_section(
    const struct reader *r, size_t names, Elf_Scn **scn, GElf_Shdr *h, const char **name)
{
	*scn = elf_nextscn(r->elf, *scn);
	if (!*scn)
		return 0;
	*name = gelf_getshdr(*scn, h) ? elf_strptr(r->elf, names, h->sh_name) : NULL;
	bool whole = h->sh_type == SHT_NOBITS || h->sh_type == SHT_NULL ||
		     (h->sh_offset <= r->size && h->sh_size <= r->size - h->sh_offset);
	return *name && whole ? 1 : -1;
}

/* How many instructions read or write local memory (kernels.h). */
static uint32_t count_local(Elf_Scn *scn)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	const unsigned char *p = d ? d->d_buf : NULL;
	uint32_t n = 0;
	for (size_t at = 0; p && d->d_size - at >= INSTRUCTION; at += INSTRUCTION) {
		unsigned code = p[at] | (p[at + 1] & 0xfu) << 8;
		n += code == LOCAL_LOAD || code == LOCAL_STORE;
	}
	return n;
}

static int find_kernels(struct reader *r, size_t names, struct err *err)
{
	static const char prefix[] = ".text.";
	struct cubin *c = r->out;
	size_t room = 0;
	GElf_Shdr h;
	const char *name;
	int more;
	for (Elf_Scn *scn = NULL; (more = next_section(r, names, &scn, &h, &name)) > 0;) {
		if (h.sh_type == SHT_SYMTAB)
			r->symtab = scn;
		if (!str_starts(name, prefix) || h.sh_type != SHT_PROGBITS)
			continue;
		if (c->n == room) {
			size_t wider = room ? 2 * room : 64;
			struct cubin_kernel *v = arena_alloc(r->a, wider * sizeof *v);
			if (c->n)
				memcpy(v, c->v, c->n * sizeof *v);
			c->v = v;
			room = wider;
		}
		const char *own = copy_name(r, name + strlen(prefix));
		if (!own || c->n == KERNELS_MAX)
			return bad(r, "more kernels than a cubin has", err);
		if (h.sh_size > r->size - r->code)
			return bad(r, "its kernels are longer than the file", err);
		r->code += h.sh_size;
		c->v[c->n++] = (struct cubin_kernel){
		    .name = own, .code = h.sh_size, .local = count_local(scn)};
	}
	if (more < 0)
		return bad(r, "a section without a name, or that leaves the file", err);
	if (c->n)
		qsort(c->v, c->n, sizeof *c->v, by_name);
	return 0;
}

static uint32_t u32_at(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The symbol with this index, or NULL. */
static const char *symbol_name(const struct reader *r, uint32_t index)
{
	GElf_Shdr h;
	GElf_Sym s;
	if (!r->symtab || index > INT32_MAX || !gelf_getshdr(r->symtab, &h))
		return NULL;
	Elf_Data *d = elf_getdata(r->symtab, NULL);
	if (!d || !gelf_getsym(d, (int)index, &s))
		return NULL;
	return elf_strptr(r->elf, h.sh_link, s.st_name);
}

/* A record of a kernel's symbol and a number. */
static void note_info(const struct reader *r, unsigned attribute, const unsigned char *p)
{
	if (attribute != INFO_FRAME && attribute != INFO_REGISTERS)
		return;
	const char *name = symbol_name(r, u32_at(p));
	struct cubin_kernel *k = name ? find(r->out, name) : NULL;
	if (k && attribute == INFO_FRAME)
		k->stack = u32_at(p + 4);
	else if (k)
		k->registers = u32_at(p + 4);
}

/*
 * Records of .nv.info, or of a kernel's own: u8 format, u8 attribute, then a u16 that is the value,
 * or the length of what follows. own: the kernel, or NULL.
 */
static int read_info(
    const struct reader *r, Elf_Scn *scn, struct cubin_kernel *own, struct err *err)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	const unsigned char *p = d ? d->d_buf : NULL;
	size_t left = p ? d->d_size : 0;
	while (left >= 4) {
		size_t value = p[2] | (size_t)p[3] << 8;
		size_t length = p[0] == INFO_SIZED ? value : 0;
		if (length > left - 4)
			break;
		if (p[0] == INFO_SIZED && length >= 8)
			note_info(r, p[1], p + 4);
		if (own && p[0] == INFO_U16 && p[1] == INFO_PARAMS)
			own->parameters = (uint32_t)value;
		p += 4 + length;
		left -= 4 + length;
	}
	return left ? bad(r, "a record leaves .nv.info", err) : 0;
}

static int read_sizes(struct reader *r, size_t names, struct err *err)
{
	static const char info[] = ".nv.info", shared[] = ".nv.shared.";
	GElf_Shdr h;
	const char *name;
	int more;
	for (Elf_Scn *scn = NULL; (more = next_section(r, names, &scn, &h, &name)) > 0;) {
		struct cubin_kernel *k = NULL;
		if (str_starts(name, shared) && (k = find(r->out, name + strlen(shared))))
			k->shared = h.sh_size;
		if (!str_starts(name, info))
			continue;
		if (name[strlen(info)] == '.')
			k = find(r->out, name + strlen(info) + 1);
		if ((k || !name[strlen(info)]) && read_info(r, scn, k, err) < 0)
			return -1;
	}
	return more < 0 ? bad(r, "a section without a name, or that leaves the file", err) : 0;
}

/* The arch stands in e_flags: the lowest 8 bits, or from cubin ABI 8 on the second byte. */
static unsigned arch_of(const GElf_Ehdr *h)
{
	return h->e_ident[EI_ABIVERSION] >= 8 ? h->e_flags >> 8 & 0xff : h->e_flags & 0xff;
}

int cubin_read_mem(
    struct arena *a, const void *p, size_t n, const char *name, struct cubin *out, struct err *err)
{
	struct cubin c = {.n = 0};
	_cleanup_(reader_done) struct reader r = {.a = a, .name = name, .out = &c};
	GElf_Ehdr h;
	size_t names;
	if (open_elf(&r, p, n, &h, err) < 0)
		return -1;
	if (h.e_machine != EM_CUDA)
		return bad(&r, "not a cubin: it is for another machine than a GPU", err);
	if (elf_getshdrstrndx(r.elf, &names) < 0)
		return bad(&r, "the section headers are damaged", err);
	c.arch = arch_of(&h);
	c.abi = h.e_ident[EI_ABIVERSION];
	if (find_kernels(&r, names, err) < 0 || read_sizes(&r, names, err) < 0)
		return -1;
	*out = c;
	return 0;
}

int cubin_read(struct arena *a, const char *path, struct cubin *out, struct err *err)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(FILE_MAX);
	if (path_read(path, &b, err) < 0)
		return -1;
	return cubin_read_mem(a, buf_str(&b), b.len, path, out, err);
}

char *stub_kernel(const char *symbol)
{
	const char *at = strstr(symbol, STUB), *digits = at;
	while (digits && digits > symbol && isdigit((unsigned char)digits[-1]))
		digits--;
	if (!at || digits == at || at - digits > 9)
		return NULL;
	unsigned long length = strtoul(digits, NULL, 10);
	if (length <= strlen(STUB))
		return NULL;
	return xasprintf(
	    "%.*s%lu%s", (int)(digits - symbol), symbol, length - strlen(STUB), at + strlen(STUB));
}

static int read_stubs(struct reader *r, struct strv *kernels, struct err *err)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(r->elf, scn));) {
		GElf_Shdr h;
		GElf_Sym s;
		Elf_Data *d = gelf_getshdr(scn, &h) && h.sh_type == SHT_SYMTAB
				  ? elf_getdata(scn, NULL)
				  : NULL;
		for (int i = 0; d && gelf_getsym(d, i, &s); i++) {
			const char *name = elf_strptr(r->elf, h.sh_link, s.st_name);
			char *kernel =
			    name && s.st_shndx != SHN_UNDEF && GELF_ST_TYPE(s.st_info) == STT_FUNC
				? stub_kernel(name)
				: NULL;
			r->text += kernel ? strlen(kernel) + 1 : 0;
			if (r->text > 4 * r->size + (1u << 20)) {
				free(kernel);
				return bad(r, "names longer than the file", err);
			}
			if (kernel)
				strv_take(kernels, kernel);
		}
	}
	strv_uniq(kernels);
	return 0;
}

int stubs_read(const char *path, struct strv *kernels, struct err *err)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(FILE_MAX);
	_cleanup_(reader_done) struct reader r = {.name = path};
	GElf_Ehdr h;
	if (path_read(path, &b, err) < 0 || open_elf(&r, buf_str(&b), b.len, &h, err) < 0)
		return -1;
	if (h.e_type != ET_REL)
		return bad(&r, "not an object file", err);
	return read_stubs(&r, kernels, err);
}
