/* What is built and from what: templates/NAME/recipe, one deb822 stanza. */
#pragma once
#include "../base/compat.h"
#include "../base/strv.h"
#include <stdbool.h>
#include <time.h>

struct arena;
struct err;

struct recipe {
	const char *name;	 /* "causal-conv1d"; packages are python3-NAME[-cuXYZ] */
	const char *dir;	 /* templates/NAME */
	const char *version;	 /* upstream's */
	const char *revision;	 /* Debian's */
	const char *deb_version; /* "1.7.0-1" */
	time_t date;		 /* of the packaging; the default SOURCE_DATE_EPOCH */
	const char *project, *sdist;
	const char *module;  /* extension module, "causal_conv1d_cuda" */
	const char *include; /* folder in the sdist put on the include path */
	const char *host_source;
	char **device_sources; /* NULL-terminated, as the other lists */
	char **slow_sources;
	char **python_packages;
	char **build_requires; /* what upstream's metadata names only because its build needs it */
	char **nvcc_flags, **clang_flags;
	char **torch_libraries; /* SONAMEs that a binding is linked with */
};

/* Reads templates_dir/NAME/recipe; all of it lives in the arena. ERR_FORMAT: FILE:LINE. */
int recipe_load(struct arena *a, const char *templates_dir, const char *name, struct recipe *out,
    struct err *err) _must_check_;
/* True if the source takes minutes and gigabytes to compile. */
bool recipe_is_slow(const struct recipe *r, const char *source) _must_check_;
/* Splits a field at white space into a NULL-terminated list in the arena. */
char **recipe_words(struct arena *a, const char *text);
