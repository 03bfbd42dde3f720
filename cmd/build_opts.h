/* The options that `debkit build` and `debkit plan` share: which part of the matrix. */
#pragma once
#include "../lib/base/opt.h"
#include "../debbuild/make/pipeline.h"

struct build_opts {
	const char *cuda, *toolchain, *sign_key, *repo_url;
	struct strv recipes, torches, pythons, archs, profiles, packages;
	unsigned jobs;
};

/* The rows of the option table that fill b. */
#define BUILD_FILTER_OPTS(b)                                                                       \
	{"cuda", 0, OPT_STRING, "X.Y", "the CUDA to build for, such as 12.8 (required)",           \
	    &(b).cuda},                                                                            \
	    {"recipe", 0, OPT_LIST, "NAME[,NAME...]|all",                                          \
		"what to build: folders of the templates; default: causal-conv1d", &(b).recipes},  \
	    {"torch", 0, OPT_LIST, "V[,V...]", "only these torches; default: all of that CUDA",    \
		&(b).torches},                                                                     \
	    {"python", 0, OPT_LIST, "V[,V...]",                                                    \
		"only these Pythons; default: all whose headers are here or offered by apt",       \
		&(b).pythons},                                                                     \
	    {"arch", 0, OPT_LIST, "CC[,CC...]",                                                    \
		"GPU archs, such as 9.0,12.0; default: those of the arch table", &(b).archs},      \
	    {"profile", 0, OPT_LIST, "NAME[,NAME...]",                                             \
		"only these models' kernels, of a recipe that has profiles; default: all",         \
		&(b).profiles},                                                                    \
	    {"package", 0, OPT_LIST, "NAME[,NAME...]",                                             \
		"write only these packages, and compile only what they hold", &(b).packages},      \
	    {"toolchain", 0, OPT_STRING, "auto|nvcc|clang",                                        \
		"the device compiler; auto: nvcc of that CUDA, installed or from wheels, else "    \
		"clang",                                                                           \
		&(b).toolchain},                                                                   \
	{                                                                                          \
		"jobs", 'j', OPT_UINT, "N", "compile jobs at once; default: one for each CPU",     \
		    &(b).jobs                                                                      \
	}

/*
 * The names of the recipes that were asked for, in the order in which they are built. ERR_USAGE
 * for one that the templates do not have.
 */
int build_opts_recipes(const struct build_opts *b, struct strv *out, struct err *err) _must_check_;
/* Fills a request for one of them; ERR_USAGE for what is missing or malformed. */
int build_opts_request(const struct build_opts *b, const char *recipe, struct pipeline_request *out,
    struct err *err) _must_check_;
