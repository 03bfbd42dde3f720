/*
 * NVIDIA's device compiler as a library, NVRTC, driven as a compiler of whole .cu files. It has no
 * host half: host code of the file is dropped or only declared, and each kernel that clang's host
 * code launches is instantiated by name, so that both halves agree.
 *
 * A host function that launches a kernel and is no template is an error of NVRTC's; as a template,
 * as most projects have it, it is only declared, and the lines that instantiate it are left out.
 *
 * templates/nvrtc has stand-ins for the standard headers that device code names; a header that they
 * lack is NVRTC's own error, with file and line.
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stdint.h>

struct err;
struct strv;

struct nvrtc_job {
	const char *library;	    /* libnvrtc.so.12, or a path to it */
	const char *source;	    /* the .cu file */
	const char *host;	    /* clang's host object of it (deb/kernels.h) */
	const char *out;	    /* the PTX to write */
	const struct strv *options; /* of NVRTC */
};

/*
 * Compiles; appends what NVRTC says to *log (owned by the caller, NULL if nothing) in any case.
 * ERR_TOOL for a library that is none, or a source that it refuses; ERR_FORMAT for a kernel whose
 * name would be another in each process (in an unnamed namespace).
 */
int nvrtc_compile(const struct nvrtc_job *job, char **log, struct err *err) _must_check_;
/*
 * The kernels that the host object launches are those of each cubin, all cubins agree on their
 * parameters, and none takes more than max_stack bytes of local memory (UINT32_MAX: any). Writes to
 * out a line for each kernel of each cubin: arch, registers, stack, static shared memory and code
 * in bytes, name, with tabs between. ERR_FORMAT names the first that differs, or the worst.
 */
int nvrtc_match(const char *host, const struct strv *cubins, uint32_t max_stack, const char *out,
    struct err *err) _must_check_;
