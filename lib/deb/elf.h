/* What a shared object says of itself (libelf). */
#pragma once
#include "../base/compat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;

struct elf_symbol {
	const char *name;    /* without version */
	const char *version; /* "GLIBC_2.34", or NULL */
	bool weak;
};

struct elf_need {
	const char *library; /* "libc.so.6" */
	const char *version; /* "GLIBC_2.34" */
};

struct elf_info {
	const char *soname;  /* or NULL */
	const char *runpath; /* DT_RUNPATH, else DT_RPATH, else NULL */
	const char **needed; /* DT_NEEDED in order */
	size_t n_needed;
	struct elf_symbol *undefined, *defined; /* dynamic symbols: global and weak */
	size_t n_undefined, n_defined;
	struct elf_need *needs; /* .gnu.version_r */
	size_t n_needs;
	unsigned machine; /* EM_X86_64 ... */
	bool relro, now, exec_stack, has_debug;
	uint64_t fatbin_offset, fatbin_size; /* section .nv_fatbin in the file; size 0: none */
};

#define ELF_HEAD_LEN 20u /* bytes at the front that tell what a file is */
/* True for an ELF64 little-endian shared object of a processor (cubins are ELF files too). */
bool elf_is_library(const unsigned char head[ELF_HEAD_LEN]) _must_check_;

/* Reads an ELF64 little-endian shared object; refuses anything else with ERR_FORMAT. */
int elf_read(struct arena *a, const char *path, struct elf_info *out, struct err *err) _must_check_;
/* As above from memory (name is used in messages). */
int elf_read_mem(struct arena *a, const void *p, size_t n, const char *name, struct elf_info *out,
    struct err *err) _must_check_;
/*
 * The highest version needed with this prefix: "GLIBC" gives "2.34", "GLIBCXX" gives "3.4.29";
 * NULL if none. Points into the arena.
 */
const char *elf_floor(struct arena *a, const struct elf_info *e, const char *prefix) _must_check_;
