/*
 * What the binaries of a package really say, beside what its Debkit-* fields claim:
 *	Debkit-Cuda "12.8": the libraries need, or are, libcudart.so.12
 *	Debkit-Cuda-Archs "9.0 12.0 12.0+PTX": what every fat binary covers
 *	Debkit-Python "3.11 3.13t": the bindings torch2.10-cp311.so ...
 *	Debkit-Torch "2.10 2.11": what the table `bindings` beside them claims, at least the minors
 *	that the bindings were compiled for
 *	Debkit-Triton, Debkit-Profiles, and of such a package Debkit-Cuda-Archs and Debkit-Python:
 *	what the manifests of its stores of Triton kernels say (manifest.h)
 *	Debkit-Source-Sha256: 64 hex digits
 *	Depends: libc6 with at least the highest GLIBC version needed
 *	md5sums: every regular file (a conffile may be left out), with its digest
 */
#pragma once
#include "../base/compat.h"
#include "deb.h"

struct arena;
struct err;
struct kernel_table;

/* usr/lib/TRIPLET/debkit/NAME/torchMINOR-cpXY.so */
struct inspect_binding {
	const char *path;
	const char *torch, *python; /* "2.10", "3.11" */
	bool listed;		    /* the table has it, with its own torch */
	bool init;		    /* it defines a PyInit_ function */
};

struct inspect_claims {
	struct deb_info info;	 /* with files */
	const char *cuda;	 /* major versions of libcudart, "12"; "" if there are none */
	const char *archs;	 /* as fatbin_archs writes them; "" if there is no fat binary */
	const char *torch;	 /* "2.10 2.11", sorted, "" if there are no bindings */
	const char *python;	 /* "3.11 3.12" */
	const char *triton;	 /* "3.5.1 3.6.0", "" if there are no stores of kernels */
	const char *profiles;	 /* "qwen3-next", of the stores */
	const char *store_fault; /* what a manifest says and its store does not hold, or NULL */
	const char *glibc;	 /* highest GLIBC version needed, "2.34", or NULL */
	const char *glibcxx;	 /* the same for GLIBCXX, "3.4.29" */
	size_t n_libraries;	 /* ELF shared objects in the package */
	struct inspect_binding *bindings;
	size_t n_bindings;
};

/*
 * Reads the package once, with all checks of deb_read; a signature is allowed and not checked.
 * Each shared object waits in a temporary file in $TMPDIR (else /var/tmp), never in memory.
 */
int inspect_deb(
    struct arena *a, const char *path, struct inspect_claims *out, struct err *err) _must_check_;
/* The same, and the kernels of all its fat binaries: table must be empty and gets an arena of a. */
int inspect_deb_kernels(struct arena *a, const char *path, struct inspect_claims *out,
    struct kernel_table *table, struct err *err) _must_check_;
/*
 * Compares. ERR_TRUST names the field, what it claims and what is there. A package with bindings
 * or fat binaries must have the fields; one without may not claim them.
 */
int inspect_check(const struct inspect_claims *c, struct err *err) _must_check_;
