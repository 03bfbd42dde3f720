/* What the stagers of both kinds of recipes share. */
#pragma once
#include "../../lib/base/compat.h"
#include "stage.h"
#include <stddef.h>
#include <sys/types.h>

/* Everything importable lies here, packages and dist-info side by side. */
#define STAGE_IMPORT_ROOT "usr/lib/debkit/python"
#define STAGE_TEXT_MAX	  ((size_t)4 << 20)

/* A new file DIR/NAME, with its folders. */
int stage_put_text(
    const char *dir, const char *name, const char *text, size_t len, struct err *err) _must_check_;
int stage_put_file(
    const char *dir, const char *name, const char *from, mode_t mode, struct err *err) _must_check_;
/* Copies each regular file below from that ends with suffix ("" for all) to DIR/NAME. */
int stage_put_tree(const char *dir, const char *name, const char *from, const char *suffix,
    struct err *err) _must_check_;
/* The line by which the system's Python sees the packages. */
int stage_put_pth(const struct plan *p, const char *dir, struct err *err) _must_check_;
/* METADATA or PKG-INFO without the requirements that only upstream's build has, and without the
 * names of licence files, which the copyright file replaces. */
int stage_write_metadata(
    char *const *build_requires, const char *from, struct buf *out, struct err *err) _must_check_;

/* The packages of a triton recipe. */
int stage_modules(const struct stage_context *c, const struct plan_package *pkg, const char *dir,
    struct err *err) _must_check_;
int stage_kernels(const struct stage_context *c, const struct plan_package *pkg, const char *dir,
    struct err *err) _must_check_;
int stage_meta(const struct stage_context *c, const struct plan_package *pkg, const char *dir,
    struct err *err) _must_check_;
