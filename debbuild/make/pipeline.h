/*
 * The only sequencer: data -> host -> plan -> fetch -> compile -> pack -> sign -> check. Each
 * stage has const inputs and one output; no stage calls another.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/strv.h"
#include "host.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "partial.h"
#include "../plan/plan.h"
#include "../data/recipe.h"
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct err;
struct pack_result;

struct pipeline_request {
	const char *recipe; /* "causal-conv1d" */
	struct selection selection;
	enum host_toolchain toolchain;
	const char *out;	      /* folder for the .debs and the work folders */
	const char *sign_key;	      /* fingerprint, or NULL: nothing is signed */
	const struct strv *next_keys; /* shipped beside sign_key before they sign; may be NULL */
	bool keyring_only;     /* the keyring package alone: nothing is fetched or compiled */
	const char *repo_url;  /* for debkit-archive-keyring's .sources file, or NULL */
	const char *launcher;  /* words put before each step's command, or NULL */
	bool slurm;	       /* costly steps are Slurm jobs (slurm.h): launcher is NULL */
	const char *partition; /* of Slurm, or NULL: the default one */
	unsigned nodes;	       /* so many of Slurm's nodes are kept busy; 0: all */
	bool compile_only;     /* stop when all steps are done: fill the cache, make no package */
	bool no_sign; /* sign_key is only named, as for a rebuild: no signatures, no papers */
	const char *objects; /* an absolute folder for an object cache of its own, or NULL */
};

struct pipeline_events {
	void (*note)(void *arg, const char *text);
	void (*warn)(void *arg, const char *text); /* something asked for is left out */
	void (*bytes)(void *arg, const char *what, uint64_t done, uint64_t total);
	void (*progress)(void *arg, size_t done, size_t total, const char *what, double left_s);
	void *arg;
};

/* Everything up to the plan; all but keys lives in the arena. */
struct pipeline_plan {
	struct recipe recipe;
	struct matrix matrix;
	struct host host;
	struct plan plan;
	struct lockfile lock;
	const char *templates; /* folder */
	const char *sign_key;  /* full fingerprint as found in the keyring, or NULL */
	struct strv keys;      /* fingerprints of the keyring package, sign_key first */
};

/* What a build came to; all of it lives in the arena. */
struct pipeline_result {
	struct pack_result *packages; /* one for each package of the plan; none with compile_only */
	size_t n_packages;
	size_t n_parts;		/* bindings, or Tritons, that were asked for */
	bool did_work;		/* anything had to be done */
	struct partial partial; /* what could not be: n_left_out > 0 is no success */
};

int pipeline_plan(struct arena *a, const struct pipeline_request *r, struct pipeline_plan *out,
    struct err *err) _must_check_;
void pipeline_plan_done(struct pipeline_plan *p);
/*
 * Plans and builds. Takes the lock OUT/.debkit.lock. A binding that does not compile is left out
 * of the packages, which claim that much less; nothing is recorded as complete then, and the next
 * call tries it again.
 */
int pipeline_build(struct arena *a, const struct pipeline_request *r,
    const struct pipeline_events *events, struct pipeline_result *out,
    struct err *err) _must_check_;
