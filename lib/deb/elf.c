#include "elf.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/arena.h"
#include "../base/err.h"
#include "../base/xalloc.h"
#include "version.h"

#define VERSIONS 0x8000u /* indexes of versions are 15 bits */

/* What one reading passes around. */
struct elf_reader {
	struct arena *arena;
	Elf *elf;
	const char *name;
	uint64_t size; /* of the file */
	uint64_t text; /* bytes of all strings copied so far */
	struct elf_info *out;
	const char **versions; /* by index, or NULL */
	Elf_Scn *dynamic, *dynsym, *versym, *verneed, *verdef;
};

static void elf_close(Elf **e)
{
	elf_end(*e);
}

static int bad(const struct elf_reader *r, const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT, "'%s': %s", r->name, what);
}

/*
 * A string of the table with this section index, copied; NULL if there is none, or if a damaged
 * file names long strings so often that the copies would outgrow it by far.
 */
static const char *string_at(struct elf_reader *r, size_t table, size_t offset)
{
	const char *s = elf_strptr(r->elf, table, offset);
	if (!s)
		return NULL;
	r->text += strlen(s) + 1;
	return r->text < 4 * r->size + (1u << 20) ? arena_strdup(r->arena, s) : NULL;
}

static int check_header(struct elf_reader *r, struct err *err)
{
	GElf_Ehdr h;
	if (elf_kind(r->elf) != ELF_K_ELF || !gelf_getehdr(r->elf, &h))
		return bad(r, "not an ELF file", err);
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB)
		return bad(r, "not a 64-bit little-endian ELF file", err);
	if (h.e_type != ET_DYN)
		return bad(r, "not a shared object", err);
	r->out->machine = h.e_machine;
	return 0;
}

static int read_segments(struct elf_reader *r, struct err *err)
{
	size_t n;
	if (elf_getphdrnum(r->elf, &n) < 0)
		return bad(r, "the program headers are damaged", err);
	r->out->exec_stack = true; /* what the loader takes when nothing is said */
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;
		if (!gelf_getphdr(r->elf, (int)i, &p))
			return bad(r, "the program headers are damaged", err);
		if (p.p_type == PT_GNU_RELRO)
			r->out->relro = true;
		if (p.p_type == PT_GNU_STACK)
			r->out->exec_stack = p.p_flags & PF_X;
	}
	return 0;
}

static int note_section(
    struct elf_reader *r, Elf_Scn *scn, const GElf_Shdr *h, size_t names, struct err *err)
{
	const char *name = elf_strptr(r->elf, names, h->sh_name);
	if (!name)
		return bad(r, "a section without a name", err);
	if (h->sh_type == SHT_DYNAMIC)
		r->dynamic = scn;
	else if (h->sh_type == SHT_DYNSYM)
		r->dynsym = scn;
	else if (h->sh_type == SHT_GNU_versym)
		r->versym = scn;
	else if (h->sh_type == SHT_GNU_verneed)
		r->verneed = scn;
	else if (h->sh_type == SHT_GNU_verdef)
		r->verdef = scn;
	if (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"))
		r->out->has_debug = true;
	if (!strcmp(name, ".nv_fatbin") && h->sh_type != SHT_NOBITS) {
		if (h->sh_offset > r->size || h->sh_size > r->size - h->sh_offset)
			return bad(r, "the section .nv_fatbin leaves the file", err);
		r->out->fatbin_offset = h->sh_offset;
		r->out->fatbin_size = h->sh_size;
	}
	return 0;
}

static int find_sections(struct elf_reader *r, struct err *err)
{
	size_t names;
	if (elf_getshdrstrndx(r->elf, &names) < 0)
		return bad(r, "the section headers are damaged", err);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(r->elf, scn));) {
		GElf_Shdr h;
		if (!gelf_getshdr(scn, &h))
			return bad(r, "the section headers are damaged", err);
		if (note_section(r, scn, &h, names, err) < 0)
			return -1;
	}
	if (!r->dynamic || !r->dynsym)
		return bad(r, "no dynamic section or symbols", err);
	return 0;
}

/* The section's header and bytes; at most one data block in a file that is only read. */
static int get_data(
    struct elf_reader *r, Elf_Scn *scn, GElf_Shdr *h, Elf_Data **data, struct err *err)
{
	if (!gelf_getshdr(scn, h) || !(*data = elf_getdata(scn, NULL)) ||
	    ((*data)->d_size && !(*data)->d_buf))
		return bad(r, "a section of the dynamic linker is damaged", err);
	return 0;
}

static void read_flags(struct elf_info *out, const GElf_Dyn *d)
{
	if (d->d_tag == DT_BIND_NOW || (d->d_tag == DT_FLAGS && (d->d_un.d_val & DF_BIND_NOW)) ||
	    (d->d_tag == DT_FLAGS_1 && (d->d_un.d_val & DF_1_NOW)))
		out->now = true;
}

static int read_dynamic(struct elf_reader *r, struct err *err)
{
	GElf_Shdr h;
	Elf_Data *data;
	if (get_data(r, r->dynamic, &h, &data, err) < 0)
		return -1;
	size_t n = data->d_size / sizeof(Elf64_Dyn);
	struct elf_info *out = r->out;
	out->needed = arena_alloc(r->arena, (n + 1) * sizeof *out->needed);
	const char *rpath = NULL;
	for (size_t i = 0; i < n; i++) {
		GElf_Dyn d;
		if (!gelf_getdyn(data, (int)i, &d) || d.d_tag == DT_NULL)
			break;
		read_flags(out, &d);
		if (d.d_tag != DT_NEEDED && d.d_tag != DT_SONAME && d.d_tag != DT_RUNPATH &&
		    d.d_tag != DT_RPATH)
			continue;
		const char *s = string_at(r, h.sh_link, d.d_un.d_val);
		if (!s)
			return bad(r, "a name in the dynamic section is damaged", err);
		if (d.d_tag == DT_NEEDED)
			out->needed[out->n_needed++] = s;
		else if (d.d_tag == DT_SONAME)
			out->soname = s;
		else if (d.d_tag == DT_RUNPATH)
			out->runpath = s;
		else
			rpath = s;
	}
	if (!out->runpath)
		out->runpath = rpath;
	return 0;
}

static void set_version(struct elf_reader *r, unsigned index, const char *name)
{
	if (index < VERSIONS)
		r->versions[index] = name;
}

static void add_need(struct elf_reader *r, size_t *cap, const char *library, const char *version)
{
	struct elf_info *out = r->out;
	if (out->n_needs == *cap) {
		*cap = *cap ? *cap * 2 : 16;
		struct elf_need *more = arena_alloc(r->arena, *cap * sizeof *more);
		if (out->n_needs)
			memcpy(more, out->needs, out->n_needs * sizeof *more);
		out->needs = more;
	}
	out->needs[out->n_needs++] = (struct elf_need){library, version};
}

/* Both chains below only go forward, so that a damaged file cannot make them endless. */
static int read_verneed(struct elf_reader *r, struct err *err)
{
	static const char what[] = "the version needs are damaged";
	GElf_Shdr h;
	Elf_Data *data;
	if (!r->verneed)
		return 0;
	if (get_data(r, r->verneed, &h, &data, err) < 0)
		return -1;
	/* Entries may share their auxiliaries only in a damaged file: then all walks together are
	 * longer than the section. */
	size_t cap = 0, left = data->d_size / sizeof(Elf64_Vernaux);
	for (size_t at = 0;;) {
		GElf_Verneed need;
		GElf_Vernaux aux;
		if (at > data->d_size || !gelf_getverneed(data, (int)at, &need))
			return bad(r, what, err);
		const char *library = string_at(r, h.sh_link, need.vn_file);
		if (!library)
			return bad(r, what, err);
		size_t sub = at + need.vn_aux;
		for (unsigned i = 0; i < need.vn_cnt; i++, sub += aux.vna_next) {
			if (!left-- || sub > data->d_size || !gelf_getvernaux(data, (int)sub, &aux))
				return bad(r, what, err);
			const char *version = string_at(r, h.sh_link, aux.vna_name);
			if (!version || (!aux.vna_next && i + 1u < need.vn_cnt))
				return bad(r, what, err);
			set_version(r, aux.vna_other & 0x7fff, version);
			add_need(r, &cap, library, version);
		}
		if (!need.vn_next)
			return 0;
		at += need.vn_next;
	}
}

static int read_verdef(struct elf_reader *r, struct err *err)
{
	static const char what[] = "the version definitions are damaged";
	GElf_Shdr h;
	Elf_Data *data;
	if (!r->verdef)
		return 0;
	if (get_data(r, r->verdef, &h, &data, err) < 0)
		return -1;
	for (size_t at = 0;;) {
		GElf_Verdef def;
		GElf_Verdaux aux;
		if (at > data->d_size || !gelf_getverdef(data, (int)at, &def))
			return bad(r, what, err);
		size_t sub = at + def.vd_aux;
		if (sub > data->d_size || !gelf_getverdaux(data, (int)sub, &aux))
			return bad(r, what, err);
		const char *version = string_at(r, h.sh_link, aux.vda_name);
		if (!version)
			return bad(r, what, err);
		if (!(def.vd_flags & VER_FLG_BASE))
			set_version(r, def.vd_ndx & 0x7fff, version);
		if (!def.vd_next)
			return 0;
		at += def.vd_next;
	}
}

static void add_symbol(struct elf_reader *r, const GElf_Sym *s, const char *name, unsigned version)
{
	struct elf_info *out = r->out;
	unsigned bind = GELF_ST_BIND(s->st_info), seen = GELF_ST_VISIBILITY(s->st_other);
	if ((bind != STB_GLOBAL && bind != STB_WEAK && bind != STB_GNU_UNIQUE) || !*name)
		return;
	struct elf_symbol symbol = {
	    name, version > 1 ? r->versions[version & 0x7fff] : NULL, bind == STB_WEAK};
	if (s->st_shndx == SHN_UNDEF)
		out->undefined[out->n_undefined++] = symbol;
	else if (seen == STV_DEFAULT || seen == STV_PROTECTED)
		out->defined[out->n_defined++] = symbol;
}

static int read_symbols(struct elf_reader *r, struct err *err)
{
	GElf_Shdr h, vh;
	Elf_Data *data, *versions = NULL;
	if (get_data(r, r->dynsym, &h, &data, err) < 0 ||
	    (r->versym && get_data(r, r->versym, &vh, &versions, err) < 0))
		return -1;
	size_t n = data->d_size / sizeof(Elf64_Sym);
	r->out->undefined = arena_alloc(r->arena, n * sizeof(struct elf_symbol) + 1);
	r->out->defined = arena_alloc(r->arena, n * sizeof(struct elf_symbol) + 1);
	for (size_t i = 1; i < n; i++) {
		GElf_Sym s;
		GElf_Versym v = 0;
		const char *name = NULL;
		if (gelf_getsym(data, (int)i, &s))
			name = string_at(r, h.sh_link, s.st_name);
		if (!name || (versions && !gelf_getversym(versions, (int)i, &v)))
			return bad(r, "the dynamic symbols are damaged", err);
		add_symbol(r, &s, name, v);
	}
	return 0;
}

static int read_all(struct elf_reader *r, struct err *err)
{
	if (check_header(r, err) < 0 || read_segments(r, err) < 0 || find_sections(r, err) < 0 ||
	    read_dynamic(r, err) < 0 || read_verneed(r, err) < 0 || read_verdef(r, err) < 0)
		return -1;
	return read_symbols(r, err);
}

static int read_handle(struct arena *a, Elf *handle, uint64_t size, const char *name,
    struct elf_info *out, struct err *err)
{
	_cleanup_(elf_close) Elf *elf = handle;
	_free_ const char **versions = xcalloc(VERSIONS, sizeof *versions);
	struct elf_info info = {0};
	struct elf_reader r = {
	    .arena = a, .elf = elf, .name = name, .size = size, .out = &info, .versions = versions};
	if (!elf)
		return bad(&r, "not an ELF file", err);
	if (read_all(&r, err) < 0)
		return -1;
	*out = info;
	return 0;
}

bool elf_is_library(const unsigned char head[ELF_HEAD_LEN])
{
	unsigned type = head[16] | (unsigned)head[17] << 8;
	unsigned machine = head[18] | (unsigned)head[19] << 8;
	return !memcmp(head, ELFMAG, SELFMAG) && head[EI_CLASS] == ELFCLASS64 &&
	       head[EI_DATA] == ELFDATA2LSB && type == ET_DYN && machine != EM_CUDA;
}

int elf_read(struct arena *a, const char *path, struct elf_info *out, struct err *err)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "cannot read '%s'", path);
	elf_version(EV_CURRENT);
	Elf *elf = S_ISREG(st.st_mode) ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	return read_handle(a, elf, (uint64_t)st.st_size, path, out, err);
}

int elf_read_mem(struct arena *a, const void *p, size_t n, const char *name, struct elf_info *out,
    struct err *err)
{
	elf_version(EV_CURRENT);
	/* libelf takes a writable pointer and writes only on request. */
	Elf *elf = n ? elf_memory((char *)(uintptr_t)p, n) : NULL;
	return read_handle(a, elf, n, name, out, err);
}

const char *elf_floor(struct arena *a, const struct elf_info *e, const char *prefix)
{
	size_t len = strlen(prefix);
	const char *best = NULL;
	for (size_t i = 0; i < e->n_needs; i++) {
		const char *v = e->needs[i].version;
		if (strncmp(v, prefix, len) != 0 || v[len] != '_')
			continue;
		v += len + 1;
		if (*v < '0' || *v > '9' || v[strspn(v, "0123456789.")])
			continue; /* GLIBC_ABI_DT_RELR and the like are no numbers */
		if (!best || version_compare(v, best) > 0)
			best = v;
	}
	return best ? arena_strdup(a, best) : NULL;
}
