/*
 * The choice that the selector module makes at import (templates/causal-conv1d/
 * causal_conv1d_cuda.py), made again from the same files by the same rules.
 */
#pragma once
#include "../lib/base/compat.h"
#include <stddef.h>

struct arena;
struct probe;
struct pyenv;
struct torch;

struct binding {
	const char *folder; /* "causal-conv1d-cu128" */
	const char *file, *python, *torch, *cuda;
};
struct bindings {
	struct binding *v;
	size_t n, cap;
};

/* Appends the stanzas of one table that have all four fields. */
void bindings_parse(struct arena *a, const char *text, const char *folder, struct bindings *out);
/* The tables of all installed flavours, in the order of their names. */
void bindings_read(struct probe *p, struct bindings *out);
/* The one that would be loaded, or NULL. */
const struct binding *bindings_choose(struct arena *a, const struct bindings *b, const char *tag,
    const struct torch *torch) _must_check_;
/* "torch 2.10 or 2.11 with CUDA 12.8 on Python 3.11": all of them, or NULL if there are none. */
const char *bindings_words(struct arena *a, const struct bindings *b) _must_check_;
/* The binding that the user could have: same Python if possible, then CUDA, then the newest. */
const struct binding *bindings_nearest(
    struct arena *a, const struct bindings *b, const char *tag, const char *cuda) _must_check_;
/* The first word of a binding's list of torches: the one it was compiled for. In the arena. */
const char *binding_torch(struct arena *a, const struct binding *b) _must_check_;
/* "3.11" of "cp311". */
const char *binding_python(struct arena *a, const char *tag) _must_check_;
