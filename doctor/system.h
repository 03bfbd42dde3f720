/* What a container may do and has: distribution, limits, mounts, compilers. */
#pragma once
#include "../lib/base/compat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct probe;

struct os {
	const char *pretty;	  /* "Debian GNU/Linux 12 (bookworm)" */
	const char *id, *version; /* "debian", "12"; "" if not said */
	const char *glibc;	  /* "2.36" */
	const char *container;	  /* "LXC", "Docker", "Podman", "systemd-nspawn", ... or NULL */
	uint64_t memory;	  /* bytes available; 0: unknown */
	bool can_thread;	  /* clone3(2) is answered as a kernel or an old kernel would */
	const char *tmp;	  /* $TMPDIR, else /tmp */
	bool tmp_noexec, tmp_writable;
	const char *triton_cache; /* the folder that Triton would use */
	bool triton_noexec, triton_writable;
};

/* Fills out. No file is written. */
void system_read(struct probe *p, struct os *out);
/*
 * Whether the mount that holds an absolute path is noexec, by /proc/self/mountinfo (proc(5)): the
 * longest mount point wins, and of equal ones the last.
 */
bool system_parse_noexec(struct arena *a, const char *mountinfo, const char *path) _must_check_;
/* Bytes free for a path that may not exist yet; false if nothing tells. */
bool system_free_bytes(struct probe *p, const char *path, uint64_t *out) _must_check_;

/* What a compilation in this container would meet. */
struct compilers {
	const char *nvcc, *nvcc_cuda; /* path, "12.8"; NULL */
	const char *gcc;	      /* path; NULL */
	unsigned gcc_major;	      /* 0: its name does not tell */
};
void compilers_read(struct probe *p, struct compilers *out);
/* The newest major of gcc that an nvcc of this CUDA takes; 0: not known. */
unsigned compilers_gcc_max(const char *cuda) _must_check_;
/* Python.h of a version ("3.11") below a prefix or /usr. */
bool compilers_has_python_h(struct probe *p, const char *prefix, const char *version) _must_check_;
