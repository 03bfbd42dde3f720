/*
 * The only sequencer: data -> host -> plan -> fetch -> compile -> pack -> sign -> check. Each
 * stage has const inputs and one output; no stage calls another.
 */
#pragma once
#include "../base/compat.h"
#include "host.h"
#include "lockfile.h"
#include "matrix.h"
#include "plan.h"
#include "recipe.h"
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct err;
struct pack_result;

struct pipeline_request {
	const char *recipe; /* "causal-conv1d" */
	struct selection selection;
	enum host_toolchain toolchain;
	const char *out;      /* folder for the .debs and the work folders */
	const char *sign_key; /* fingerprint, or NULL: nothing is signed */
	const char *repo_url; /* for debkit-archive-keyring's .sources file, or NULL */
	const char *launcher; /* words put before each step's command, or NULL */
	bool compile_only;    /* stop when all steps are done: fill the cache, make no package */
};

struct pipeline_events {
	void (*note)(void *arg, const char *text);
	void (*warn)(void *arg, const char *text); /* something asked for is left out */
	void (*bytes)(void *arg, const char *what, uint64_t done, uint64_t total);
	void (*progress)(void *arg, size_t done, size_t total, const char *what, double left_s);
	void *arg;
};

/* Everything up to the plan; all of it lives in the arena. */
struct pipeline_plan {
	struct recipe recipe;
	struct matrix matrix;
	struct host host;
	struct plan plan;
	struct lockfile lock;
	const char *templates; /* folder */
	const char *sign_key;  /* full fingerprint as found in the keyring, or NULL */
};

int pipeline_plan(struct arena *a, const struct pipeline_request *r, struct pipeline_plan *out,
    struct err *err) _must_check_;
/*
 * Plans and builds. results gets one entry for each package of the plan (in the arena; none with
 * compile_only);
 * *did_work says whether anything had to be done. Takes the lock OUT/.debkit.lock.
 */
int pipeline_build(struct arena *a, const struct pipeline_request *r,
    const struct pipeline_events *events, struct pack_result **results, size_t *n_results,
    bool *did_work, struct err *err) _must_check_;
