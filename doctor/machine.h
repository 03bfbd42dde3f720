/* All that the probes found, and the checks that make findings of it. */
#pragma once
#include "../lib/base/compat.h"
#include "aptsrc.h"
#include "bindings.h"
#include "debs.h"
#include "finding.h"
#include "gpu.h"
#include "pyscan.h"
#include "system.h"
#include <stdbool.h>

struct err;
struct probe;

struct machine {
	struct probe *p;
	const char *templates; /* folder with archs, or NULL */
	struct pyenvs envs;    /* every Python that was found */
	struct debs debs;
	struct bindings bindings;
	struct gpu gpu;
	struct apt_sources sources;
	struct os os;
	struct compilers compilers;
	const char *repo_url; /* where the repository of this debkit is, or NULL */
	const char *sudo;     /* "" for root, else "sudo " */
	/* What the checks of the environments found out for the later ones. */
	bool must_install;   /* a package of ours is missing */
	const char *flavour; /* "cu128" of the torch that matters, or NULL */
	const char *cuda;    /* "12.8" */
	const char *install; /* the packages to install, or NULL */
};

struct doctor_request {
	const char *exe, *venv; /* the one that was asked about, or NULL */
	bool all;		/* judge every Python, not only those with torch */
};

/* Reads everything; ERR_USAGE if what was asked about is no Python. */
int machine_read(struct machine *m, struct probe *p, const char *templates,
    const struct doctor_request *r, struct err *err) _must_check_;
/* Marks which environments count: asked about, active, or all that have torch. In the arena. */
struct pyenv **machine_targets(struct machine *m, const struct doctor_request *r, size_t *n);
/* All checks, in an order in which their lines can be typed; sorts the findings. */
void machine_check(struct machine *m, struct pyenv *const *targets, size_t n, struct findings *out);

/* One environment. strict: what is missing there is bad, else a warning. */
void check_python(struct machine *m, const struct pyenv *e, bool strict, struct findings *out);
void check_packages(
    struct machine *m, const struct pyenv *e, enum finding_grade missing, struct findings *out);
void check_cudart(struct machine *m, const struct pyenv *e, struct findings *out);
void check_driver(struct machine *m, struct pyenv *const *envs, size_t n, struct findings *out);
void check_gpu(struct machine *m, struct pyenv *const *envs, size_t n, struct findings *out);
void check_apt(struct machine *m, struct findings *out);
/* Whatever environment counts. */
void check_withdrawn(struct machine *m, struct findings *out);
void check_system(struct machine *m, struct findings *out);
void check_compilers(struct machine *m, struct pyenv *const *envs, size_t n, struct findings *out);

/* "EXE -m pip", "uv pip" as the environment has it: with the verb and what it needs. In the
 * arena. */
const char *machine_pip(struct machine *m, const struct pyenv *e, const char *verb) _must_check_;
/* The line that makes this torch, of this CUDA, the one of the environment. In the arena. */
const char *machine_pip_torch(
    struct machine *m, const struct pyenv *e, const char *torch, const char *cuda) _must_check_;
/* "cu128" of "12.8"; in the arena. */
const char *machine_flavour(struct machine *m, const char *cuda) _must_check_;
/* "cuda-cudart-12-8" of "12.8"; in the arena. */
const char *machine_runtime(struct machine *m, const char *cuda) _must_check_;
/* Whether code for these archs ("8.0 9.0a 12.0+PTX") runs on a GPU of this capability. */
bool machine_arch_runs(const char *archs, int major, int minor) _must_check_;
/* The archs that PyTorch builds for a CUDA, from templates/archs; "" if nothing tells. */
const char *machine_torch_archs(struct machine *m, const char *cuda) _must_check_;
/* The oldest driver that runs this CUDA, by its major version; NULL: not known. */
const char *machine_driver_floor(const char *cuda) _must_check_;
/* A word quoted for a shell where it must be. In the arena. */
const char *machine_quote(struct machine *m, const char *word) _must_check_;
