/*
 * What one machine without a network needs of a repository, as one tar: the packages and those of
 * the repository that they depend on, the suite's own indexes as they were signed, the key,
 * checksums, and a script that installs them. No key signs anything: apt checks the suite's
 * signature.
 *
 *	NAME/install.sh SHA256SUMS debkit-archive-keyring.gpg README
 *	NAME/repo/dists/SUITE/...  NAME/repo/pool/...
 */
#pragma once
#include "../index/repo.h"

struct bundle_spec {
	struct repo_spec repo;
	const char *suite;
	const char *want;      /* "ubuntu24.04,torch2.10,py3.12,sm_120" */
	const char *templates; /* folder with suites and matrix: which glibc a system has, and which
				* Triton a torch */
	const struct strv *recipes; /* only the packages of these, "causal-conv1d"; empty: all */
	const char *out;	    /* the tar; its name without .tar is that of the folder in it */
};

struct bundle_result {
	struct strv packages; /* paths in the pool of all that are in it */
	struct strv installs; /* names that the script installs */
	struct strv warnings; /* of each recipe that has nothing for the machine, what it has; and
			       * what is in it though it was withdrawn, which a snapshot may list */
};

/* ERR_USAGE for a machine that no package of the suite is for, with what there is. */
int bundle_run(
    const struct bundle_spec *spec, struct bundle_result *res, struct err *err) _must_check_;
void bundle_result_done(struct bundle_result *res);

/* What a torch of a CUDA pins. */
struct bundle_triton {
	const char *flavour, *version; /* "cu128", "3.6.0" */
};
/* The machine that a bundle is for; strings live in the arena. */
struct bundle_want {
	const char *system;		 /* "Ubuntu 24.04" */
	const char *torch, *python, *cc; /* "2.10", "3.12", "12.0" */
	struct bundle_triton *tritons;	 /* of that torch, for each CUDA: by bundle_read_tritons */
	size_t n_tritons;
};
int bundle_parse(
    struct arena *a, const char *text, struct bundle_want *out, struct err *err) _must_check_;
int bundle_read_tritons(
    struct arena *a, const char *templates, struct bundle_want *w, struct err *err) _must_check_;
/* Whether a list such as "9.0 12.0 12.0+PTX" has code that runs on cc: of the same major version
 * and no newer, or PTX of any older one. */
bool bundle_runs_on(const char *archs, const char *cc) _must_check_;
