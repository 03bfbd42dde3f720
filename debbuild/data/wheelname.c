#include "wheelname.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/strv.h"

/* "manylinux_2_27_x86_64.manylinux_2_28_x86_64" in its parts. */
static char **tags(struct arena *a, const char *text)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	strv_split(&v, text, ".");
	char **out = arena_alloc(a, (v.n + 1) * sizeof *out);
	for (size_t i = 0; i < v.n; i++)
		out[i] = arena_strdup(a, v.v[i]);
	return out;
}

bool wheel_name_parse(struct arena *a, const char *file, struct wheel_name *out)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	if (!str_ends(file, ".whl"))
		return false;
	strv_split(&v, arena_strndup(a, file, strlen(file) - strlen(".whl")), "-");
	if (v.n < 5 || v.n > 6)
		return false;
	*out = (struct wheel_name){.version = arena_strdup(a, v.v[1]),
	    .build = v.n == 6 ? (unsigned)strtoul(v.v[2], NULL, 10) : 0,
	    .pythons = tags(a, v.v[v.n - 3]),
	    .abis = tags(a, v.v[v.n - 2]),
	    .platforms = tags(a, v.v[v.n - 1])};
	return true;
}

const char *wheel_abi(struct arena *a, const char *python)
{
	size_t major = strcspn(python, ".");
	return arena_printf(
	    a, "cp%.*s%s", (int)major, python, python[major] ? python + major + 1 : "");
}

static bool has_tag(char *const *tags, const char *tag)
{
	for (; *tags; tags++)
		if (!strcmp(*tags, tag))
			return true;
	return false;
}

/* "cp311" to 11; 0 for every other Python, a free-threaded one among them. */
static unsigned minor(const char *tag)
{
	unsigned long long n = 0;
	return str_starts(tag, "cp3") && str_parse_u64(tag + strlen("cp3"), 999, &n) == 0
		   ? (unsigned)n
		   : 0;
}

enum wheel_fit wheel_name_fit(const struct wheel_name *n, const char *abi)
{
	if (!abi || has_tag(n->abis, abi))
		return WHEEL_FIT_EXACT;
	for (char **t = n->pythons; has_tag(n->abis, "abi3") && *t; t++)
		if (minor(*t) && minor(*t) <= minor(abi))
			return WHEEL_FIT_STABLE;
	return WHEEL_FIT_NONE;
}

bool wheel_name_is_manylinux(const struct wheel_name *n)
{
	for (char **t = n->platforms; *t; t++)
		if (str_starts(*t, "manylinux") && str_ends(*t, "_x86_64"))
			return true;
	return false;
}

bool wheel_name_is_pure(const struct wheel_name *n)
{
	return has_tag(n->abis, "none") && has_tag(n->platforms, "any");
}
