/*
 * The plan: everything that one `debkit build` will fetch, run and pack, computed before any
 * work starts. Pure: the same recipe, matrix, lock, selection and host facts give the same plan,
 * and nothing is read, written or run.
 *
 * Steps run in the work folder; all their paths are relative to it, so that neither the bytes nor
 * the keys depend on where that folder lies:
 *	src/      upstream's sources, unpacked	      tk/      the device compiler's toolkit
 *	cuda/	  headers and runtime of that CUDA, always from wheels: what an installed
 *		  toolkit holds beside its compiler differs from machine to machine
 *	sdk/V/    headers of torch V (sdk/device: of the oldest selected one)
 *	py/X.Y/   headers of that Python	      support/ templates/NAME
 *	nvrtc/	  templates/nvrtc: headers for NVRTC
 *	stubs/    empty libraries with torch's SONAMEs
 *	cuXYZ/    what is built
 * and for a triton recipe:
 *	site/V/   a Python environment with Triton V	      record/V/X.Y  RECORD of its wheels
 *	kept/V/   Triton's own cache, for what is compiled   triton-V/ what is built
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/digest.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct err;
struct gpu_arch;
struct lock_entry;
struct lockfile;
struct matrix;
struct recipe;
struct strv;
struct torch_release;

/* Who compiles device code. On the NVRTC route clang compiles the host half. */
enum plan_route { ROUTE_CLANG, ROUTE_NVCC, ROUTE_NVRTC };

struct host_python {
	const char *version; /* "3.11" */
	const char *include; /* folder of Python.h; machine-dependent, no part of any key */
	const char *id;	     /* hash of the headers that decide the ABI */
	const char *package; /* "libpython3.12-dev:amd64=3.12.3-1" that apt has yet to download
			      * into include (pyheaders.h), or NULL */
	const char *package_sha256;
	uint64_t package_size; /* bytes */
};

/* What the plan must know of this machine; gathered by host.h, or made up by a test. */
struct host {
	const char *deb_arch, *multiarch; /* "amd64", "x86_64-linux-gnu" */
	enum plan_route route;
	const char *compiler;	  /* device compiler as written to Debkit-Compiler */
	const char *toolkit_root; /* installed toolkit, or NULL: put together from wheels */
	const char *cxx, *cxx_id; /* host compiler and its version line */
	const char *clang;	  /* "clang++-22" on the clang and NVRTC routes */
	const char *python;	  /* "3.11": version of python3, for a triton recipe */
	const char *support_id;	  /* hash of the recipe's own build files: C and C++, or Python */
	const char *kernels_id;	  /* hash of those that its kernels are compiled with */
	const char *nvrtc_id;	  /* hash of templates/nvrtc, on the NVRTC route */
	char **cxx_flags, **ld_flags; /* hardening, from dpkg-buildflags */
	const struct host_python *pythons;
	size_t n_pythons;
	uint64_t memory; /* bytes available */
	unsigned cpus;
};

/* What the user asked for. Empty lists: all. */
struct selection {
	const char *cuda;
	const struct strv *torches, *pythons, *archs;
	const struct strv *profiles; /* of a triton recipe */
	const struct strv *packages; /* names; NULL: all */
	unsigned jobs;		     /* 0: as many as there are CPUs */
	const char
	    *keyring_version; /* of debkit-archive-keyring, or NULL: unsigned, none is made */
};

enum plan_step_kind {
	STEP_STUB,
	STEP_LAUNCHES,
	STEP_PTX,
	STEP_CUBIN,
	STEP_MATCH,
	STEP_FATBIN,
	STEP_HOST,
	STEP_NVCC,
	STEP_BINDING,
	STEP_LINK_KERNELS,
	STEP_LINK_BINDING,
	STEP_KERNELS,
	STEP_STORE
};

struct plan_step {
	enum plan_step_kind kind;
	const char *name; /* "ptx bwd sm_90": for progress and logs */
	const char *out;
	char **in;	      /* outputs of other steps */
	char **argv;	      /* NULL-terminated */
	bool heavy;	      /* takes gigabytes: runs in the memory pool */
	double cpu_s;	      /* typical CPU seconds, for the time left */
	char key[SHA256_HEX]; /* of argv and of all that goes in, by content */
};

struct plan_binding {
	const struct torch_release *torch;
	const struct host_python *python;
	const char *file; /* "torch2.10-cp311.so" */
	const char *out;  /* in the work folder */
};

/* One Triton of a triton recipe: its kernels for each GPU arch and profile, its keys for each
 * Python. */
struct plan_triton {
	const char *version; /* "3.6.0" */
	char **torches;	     /* minors of this CUDA's torches that pin it, NULL-terminated */
	const struct lock_entry **site; /* the wheels of its environment, Triton first, torch next;
					 * NULL-terminated */
	const struct host_python **pythons;
	const struct lock_entry **records; /* its wheel for each of these Pythons */
	size_t n_pythons;
	const char *out; /* the kernel store, a tar in the work folder */
};

struct plan_package {
	const char *name; /* "python3-causal-conv1d-cu128" */
	const char *version;
	const char *arch;     /* "amd64", "all" */
	const char *template; /* folder of templates that holds its control.in */
	const char *kind;     /* "python", "flavour", "cudart", "keyring"; "modules", "kernels",
			       * "meta": how it is staged */
};

struct plan {
	const struct recipe *recipe;
	const struct host *host;
	const char *cuda;		      /* "12.8" */
	const char *flavour;		      /* "cu128" */
	const char *cuda_major, *cuda_dashed; /* "12", "12-8" */
	const struct gpu_arch **archs;	      /* sorted by number, oldest first */
	size_t n_archs;
	const struct torch_release **torches;
	size_t n_torches;
	struct plan_binding *bindings;
	size_t n_bindings;
	char **missing_pythons;	    /* that selected torches have wheels for, and no headers */
	const char *kernel_library; /* SONAME, "libcausal_conv1d_cu128.so.1" */
	const struct lock_entry *sdist;
	const struct toolkit_recipe *toolkit;
	const struct lock_entry **wheels; /* torch wheels (SDK), one for each torch */
	const struct lock_entry **parts;  /* toolkit wheels, in the order of toolkit->parts;
					   * NULL: nothing is taken of it */
	char ***part_members;		  /* what is taken of each */
	const struct lock_entry *runtime; /* the wheel of the CUDA runtime */

	/* Of a triton recipe; all of toolkit, sdist, bindings and wheels is then NULL or 0. */
	const struct lock_entry **library; /* upstream's wheels, NULL-terminated */
	struct plan_triton *tritons;
	size_t n_tritons;
	char **unknown_tritons; /* that selected torches pin, and the recipe does not know */
	char **profiles;	/* names, NULL-terminated */

	struct plan_step *steps;
	size_t n_steps;
	struct plan_package *packages;
	size_t n_packages;
	unsigned jobs, heavy_jobs;
	uint64_t heavy_bytes; /* memory that a heavy step takes at most */
};

/*
 * Fills the plan from arena a. ERR_USAGE for what the user asked and cannot have, with what can
 * be had; ERR_TRUST for what is not in the lock.
 */
int plan_make(struct arena *a, const struct recipe *r, const struct matrix *m,
    const struct lockfile *lock, const struct host *host, const struct selection *sel,
    struct plan *out, struct err *err) _must_check_;
/*
 * The plan as far as it could be carried out: without the steps that are undone (one bool for
 * each step) and the bindings, or Tritons, that need them. False if that leaves nothing to ship:
 * something other is undone, or every one of them is.
 */
bool plan_without(
    struct arena *a, const struct plan *p, const bool *undone, struct plan *out) _must_check_;
/* For people, or as JSON with the same content. */
void plan_print(const struct plan *p, struct buf *out);
void plan_print_json(const struct plan *p, struct buf *out);
/* Whether such a step takes seconds to hours, so that another machine may be asked to run it. */
bool plan_kind_is_costly(enum plan_step_kind kind) _must_check_;
/* The name of a route: "clang", "nvcc", "nvrtc", as --toolchain and templates/toolkits have it. */
const char *plan_route_name(enum plan_route route) _must_check_;
/* The word for a kind: "ptx", "binding" ... */
const char *plan_kind_name(enum plan_step_kind kind) _must_check_;
