/*
 * CUDA fat binaries, read without NVIDIA's tools. The container's form was found by reading
 * what fatbinary 12 and 13 write (little endian):
 *	container: u32 magic 0xBA55ED50, u16 version, u16 header size, u64 size without header
 *	entry: u16 kind at 0, u32 header size at 4, u64 size in the container at 8, u32 packed
 *	bytes at 16 (0: plain), u32 arch at 28, u64 flags at 40, u64 plain size at 56
 *	flags: 0x2000 LZ4, 0x8000 zstd, 0x100000 arch-specific (sm_90a), 0x200000 family (sm_120f)
 * A .nv_fatbin section may hold several containers, with zero bytes between.
 */
#pragma once
#include "../base/compat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct err;

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_ELF = 2 };
enum fatbin_compress { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD, FATBIN_OTHER };

struct fatbin_entry {
	enum fatbin_kind kind;
	unsigned container; /* which one it lies in, from 0 */
	unsigned arch;	    /* 90 for sm_90 */
	char suffix;	    /* 'a' for sm_90a, 'f' for sm_120f, else 0 */
	enum fatbin_compress compress;
	uint64_t size, plain_size; /* bytes in the container, bytes unpacked (0: plain) */
	uint64_t offset;	   /* of these bytes, in the file or memory that was read */
	uint32_t packed;	   /* those that the compression made of it: size is rounded up */
};

struct fatbin_info {
	struct fatbin_entry *v;
	size_t n, n_containers;
};

/* Reads all containers in n bytes; ERR_FORMAT if a length leaves the section. */
int fatbin_read(struct arena *a, const void *p, size_t n, struct fatbin_info *out,
    struct err *err) _must_check_;
/* Reads the .nv_fatbin section of a shared object; no section: zero entries. */
int fatbin_read_elf(
    struct arena *a, const char *path, struct fatbin_info *out, struct err *err) _must_check_;
/*
 * The archs that every container covers, "8.0 9.0a 9.0+PTX" (sorted, PTX last), as written to
 * Debkit-Cuda-Archs. A container that nvcc's device link adds, without any kernel, counts only
 * when there is no other.
 */
void fatbin_archs(const struct fatbin_info *f, struct buf *out);
/*
 * Appends the bytes of an entry of a file that fatbin_read_elf read, unpacked. ERR_FORMAT for what
 * is damaged, packed in another way than LZ4 or zstd, or unpacks to another size than the entry
 * says.
 */
int fatbin_image(
    const char *path, const struct fatbin_entry *e, struct buf *out, struct err *err) _must_check_;
/* The same of packed bytes (e->size of them) in memory; name is used in messages. */
int fatbin_unpack(const struct fatbin_entry *e, const void *packed, const char *name,
    struct buf *out, struct err *err) _must_check_;
