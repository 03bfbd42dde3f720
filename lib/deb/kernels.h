/*
 * Kernels by name: what a cubin holds of each, and which of them a host object registers.
 *
 * A cubin is an ELF file of machine EM_CUDA. Its kernels are the sections .text.NAME;
 * .nv.shared.NAME is static shared memory; .nv.info has records EIATTR_FRAME_SIZE (format 4,
 * attribute 0x11: u32 symbol, u32 bytes of stack) and EIATTR_REGCOUNT (0x2f: u32 symbol, u32
 * registers) for each, .nv.info.NAME one EIATTR_CBANK_PARAM_SIZE (format 3, attribute 0x19: u16
 * bytes). ABIVERSION of its header is what a driver accepts or not: 7 of ptxas 12.9 below sm_100,
 * else 8. An instruction, from sm_70 on, has 16 bytes, of which the lowest 12 bits say what it
 * does: 0x983 reads local memory (LDL), 0x387 writes it (STL). Found by reading what ptxas 12 and
 * 13 write.
 *
 * A host object has a function NAME for each kernel, which launches it: clang mangles it as the
 * kernel with "__device_stub__" before its last name.
 */
#pragma once
#include "../base/compat.h"
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;
struct strv;

struct cubin_kernel {
	const char *name;    /* mangled */
	uint64_t code;	     /* bytes of machine code */
	uint64_t shared;     /* bytes of static shared memory */
	uint32_t parameters; /* bytes of them all */
	uint32_t stack;	     /* bytes of local memory for arrays and spills */
	uint32_t registers;  /* of a thread */
	uint32_t local;	     /* instructions that read or write local memory: spills too */
};

struct cubin {
	unsigned arch; /* 90 for sm_90 */
	unsigned abi;  /* ABIVERSION */
	struct cubin_kernel *v;
	size_t n; /* sorted by name */
};

/* Reads a cubin from memory (name is used in messages); ERR_FORMAT for anything else. */
int cubin_read_mem(struct arena *a, const void *p, size_t n, const char *name, struct cubin *out,
    struct err *err) _must_check_;
int cubin_read(struct arena *a, const char *path, struct cubin *out, struct err *err) _must_check_;
/*
 * Appends the kernels that an object file (ET_REL) of clang's host code launches: their mangled
 * names, sorted, each once. ERR_FORMAT if it is no such file.
 */
int stubs_read(const char *path, struct strv *kernels, struct err *err) _must_check_;
/*
 * The kernel's name in a stub's: "_Z4kernv" in "_Z19__device_stub__kernv", also inside a nested
 * name. NULL if it is no stub. Owned by the caller.
 */
char *stub_kernel(const char *symbol) _must_check_;
