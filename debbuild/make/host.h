/*
 * The facts of this machine that a plan depends on: architecture, compilers, Python headers,
 * memory. Reads files and asks programs; changes nothing but the cache's notes of their answers.
 */
#pragma once
#include "../plan/plan.h"

enum host_toolchain { TOOLCHAIN_AUTO, TOOLCHAIN_NVCC, TOOLCHAIN_NVRTC, TOOLCHAIN_CLANG };

/* "auto", "nvcc", "nvrtc" or "clang"; ERR_USAGE otherwise. NULL is auto. */
int host_parse_toolchain(const char *word, enum host_toolchain *out, struct err *err) _must_check_;
/*
 * Fills out for builds of the recipe and the selection. auto: nvcc of exactly that CUDA if there
 * is one, else the route of templates/toolkits: NVRTC, with clang for the host half, or clang
 * alone. ERR_TOOL names what is missing and the Debian package that has it.
 */
int host_gather(struct arena *a, const struct recipe *r, const struct matrix *m,
    const struct selection *sel, enum host_toolchain toolchain, struct host *out,
    struct err *err) _must_check_;
/* The version of nvcc in a toolkit (folder with bin/nvcc) if it is exactly of that CUDA, or NULL.
 */
const char *host_toolkit_version(struct arena *a, const char *root, const char *cuda) _must_check_;
/* The installed toolkit (folder with bin/nvcc) whose nvcc is exactly of that CUDA, or NULL. */
const char *host_find_nvcc(struct arena *a, const char *cuda, const char **version) _must_check_;
