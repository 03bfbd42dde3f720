/*
 * What is built and from what: templates/NAME/recipe, one deb822 stanza. Without Kind it is a CUDA
 * extension, built from the sdist of a project for each torch and Python. "Kind: triton" is a
 * library of Triton kernels in wheels of pure Python, compiled ahead for each Triton and GPU arch.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/strv.h"
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct arena;
struct err;

enum recipe_kind { RECIPE_EXTENSION, RECIPE_TRITON };

struct recipe_wheel {
	const char *project, *version;
};

struct recipe {
	enum recipe_kind kind;
	const char *name;	 /* "causal-conv1d"; packages are python3-NAME[-cuXYZ] */
	const char *dir;	 /* templates/NAME */
	const char *version;	 /* upstream's */
	const char *revision;	 /* Debian's */
	const char *deb_version; /* "1.7.0-1" */
	time_t date;		 /* of the packaging; the default SOURCE_DATE_EPOCH */
	char **python_packages;	 /* NULL-terminated, as the other lists */

	/* Of an extension. */
	const char *project, *sdist;
	const char *module;  /* extension module, "causal_conv1d_cuda" */
	const char *include; /* folder in the sdist put on the include path */
	const char *host_source;
	char **device_sources;
	char **slow_sources;
	const char *max_stack; /* bytes of local memory that no kernel may take more of, or NULL */
	char **build_requires; /* what upstream's metadata names only because its build needs it */
	char **nvcc_flags, **clang_flags, **nvrtc_flags;
	char **torch_libraries; /* SONAMEs that a binding is linked with */

	/* Of a triton library. */
	struct recipe_wheel *wheels; /* upstream's, of pure Python: what is shipped */
	size_t n_wheels;
	const char *torch;		  /* the torch with which the kernels are built, "2.10.0" */
	struct recipe_wheel *environment; /* what they are built with beside it and Triton */
	size_t n_environment;
	char **tritons;	    /* versions that the build programs know, oldest first */
	char **archs;	    /* the GPU archs that are built when none is named */
	char **profiles;    /* names of the stanzas of templates/NAME/profiles */
	char **profile_ids; /* a hash of each stanza */
	const char *meta;   /* control.in describes a metapackage python3-META-cuXYZ; or NULL */
};

/* The headers for NVRTC that all recipes share, beside the folder of each. Owned by the caller. */
char *recipe_nvrtc_dir(const struct recipe *r) _malloc_;
/* Reads templates_dir/NAME/recipe; all of it lives in the arena. ERR_FORMAT: FILE:LINE. */
int recipe_load(struct arena *a, const char *templates_dir, const char *name, struct recipe *out,
    struct err *err) _must_check_;
/* True if the source takes minutes and gigabytes to compile. */
bool recipe_is_slow(const struct recipe *r, const char *source) _must_check_;
/* Splits a field at white space into a NULL-terminated list in the arena. */
char **recipe_words(struct arena *a, const char *text);
