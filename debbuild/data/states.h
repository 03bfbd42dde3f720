/*
 * What was seen of packages outside a build: templates/states, a stanza for each fact.
 *
 *	State: imported            by a real torch; or gpu: its kernels ran on a GPU; or
 *				   rebuilt: made again, byte for byte
 *	Recipe: causal-conv1d
 *	Version: 1.7.0-1           of the package; facts of another version do not count
 *	Torch: 2.10
 *	Cuda: 12.8
 *	Python: 3.11
 *	Note: free text            what ran, where (optional)
 */
#pragma once
#include "../../lib/base/compat.h"
#include <stddef.h>

struct arena;
struct err;

struct state_fact {
	const char *state, *recipe, *version, *torch, *cuda, *python;
	const char *note; /* or NULL */
};

struct states {
	struct state_fact *v;
	size_t n;
};

/* Reads the file; one that is not there holds nothing. A wrong line is FILE:LINE. */
int states_load(
    struct arena *a, const char *path, struct states *out, struct err *err) _must_check_;
/* Adds the fact, or replaces one of the same state and cell. ERR_USAGE for an unknown state. */
int states_record(const char *path, const struct state_fact *fact, struct err *err) _must_check_;
