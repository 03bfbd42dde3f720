/* The kernels of a package's libraries, for each GPU arch, and what they take: a gate on quality.
 */
#pragma once
#include "../base/compat.h"
#include "kernels.h"

struct arena;
struct buf;
struct err;
struct fatbin_info;

struct kernel_row {
	const char *arch; /* "9.0", "9.0a" */
	unsigned abi;	  /* of its cubin */
	struct cubin_kernel k;
};

struct kernel_table {
	struct arena *a;
	struct kernel_row *v; /* in the order of archs, then of names, once sorted */
	size_t n, room;
};

/* All kernels of one arch. */
struct kernel_sum {
	const char *arch;
	size_t n;
	size_t stacked;	    /* kernels with a stack */
	uint64_t registers; /* of all of them */
	uint64_t stack, max_stack, local, code;
};

/* Adds the kernels in the fat binary f of the file path, which fatbin_read_elf read. */
int kernel_table_add(struct kernel_table *t, const char *path, const struct fatbin_info *f,
    struct err *err) _must_check_;
void kernel_table_sort(struct kernel_table *t);
/* One sum for each arch of a sorted table, in the arena; *n of them. */
struct kernel_sum *kernel_table_sums(const struct kernel_table *t, size_t *n);
/* Lines " 9.0: 1080 kernels, 103.1 registers on average, ...", one for each arch. */
void kernel_table_print_sums(const struct kernel_table *t, struct buf *out);
/* One line for each kernel: arch, registers, stack, local, shared, code, name. */
void kernel_table_print(const struct kernel_table *t, struct buf *out);
/*
 * What differs, in lines: sums of both for each arch, then each kernel that only one has ("-", "+")
 * or whose registers, stack, local accesses or code differ ("-" and "+"). Nothing for equal tables.
 */
void kernel_table_compare(
    const struct kernel_table *one, const struct kernel_table *other, struct buf *out);
/*
 * Drivers of CUDA 12 from the first (525) on read cubins of ABI 7; 8 came with Blackwell, whose
 * drivers know it, and is what ptxas 13 writes for all archs. ERR_FORMAT if a cubin for an older
 * arch is of ABI 8 or later in a package for this CUDA.
 */
int kernel_table_check_abi(
    const struct kernel_table *t, const char *cuda, struct err *err) _must_check_;
