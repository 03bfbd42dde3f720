#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "system.h"

#define TEXT_MAX ((size_t)1 << 20)

static const char *find_program(struct probe *p, const char *name)
{
	_cleanup_(strv_done) struct strv dirs = STRV_INIT;
	const char *path = getenv("PATH");
	strv_split(&dirs, path ? path : "/usr/local/bin:/usr/bin:/bin", ":");
	for (size_t i = 0; i < dirs.n; i++) {
		const char *full = arena_printf(p->a, "%s/%s", dirs.v[i], name);
		if (dirs.v[i][0] == '/' && probe_is_file(p, full))
			return full;
	}
	return NULL;
}

/* "cuda-12.8" somewhere in the path, else version.json beside bin. */
static const char *cuda_of(struct probe *p, const char *nvcc)
{
	static const char mark[] = "/cuda-";
	const char *real = probe_real(p, nvcc);
	const char *at = strstr(real ? real : nvcc, mark);
	if (at)
		return arena_strndup(p->a, at + strlen(mark), strcspn(at + strlen(mark), "/"));
	const char *bin = strstr(real ? real : nvcc, "/bin/nvcc");
	if (!bin)
		return NULL;
	const char *text = probe_text(p,
	    arena_printf(
		p->a, "%.*s/version.json", (int)(bin - (real ? real : nvcc)), real ? real : nvcc),
	    TEXT_MAX);
	const char *cuda = text ? strstr(text, "\"nvcc\"") : NULL;
	const char *version = cuda ? strstr(cuda, "\"version\"") : NULL;
	version = version ? strchr(version, ':') : NULL;
	version = version ? strchr(version, '"') : NULL;
	return version
		   ? probe_minor(p->a, arena_strndup(p->a, version + 1, strcspn(version + 1, "\"")))
		   : NULL;
}

/* "x86_64-linux-gnu-gcc-12" is 12. */
static unsigned major_of(const char *real)
{
	const char *dash = strrchr(real, '-');
	char *end;
	unsigned long v = dash ? strtoul(dash + 1, &end, 10) : 0;
	return dash && end != dash + 1 && (!*end || *end == '.') && v < 1000 ? (unsigned)v : 0;
}

void compilers_read(struct probe *p, struct compilers *out)
{
	const char *home = getenv("CUDA_HOME");
	*out = (struct compilers){0};
	if (home && *home == '/') {
		const char *nvcc = arena_printf(p->a, "%s/bin/nvcc", home);
		out->nvcc = probe_is_file(p, nvcc) ? nvcc : NULL;
	}
	if (!out->nvcc)
		out->nvcc = find_program(p, "nvcc");
	if (!out->nvcc && probe_is_file(p, "/usr/local/cuda/bin/nvcc"))
		out->nvcc = "/usr/local/cuda/bin/nvcc";
	if (out->nvcc)
		out->nvcc_cuda = cuda_of(p, out->nvcc);
	out->gcc = find_program(p, "gcc");
	const char *real = out->gcc ? probe_real(p, out->gcc) : NULL;
	out->gcc_major = real ? major_of(real) : 0;
}

/* crt/host_config.h of each release refuses a newer one. */
unsigned compilers_gcc_max(const char *cuda)
{
	static const struct {
		const char *from;
		unsigned max;
	} v[] = {{"13.0", 15}, {"12.8", 14}, {"12.4", 13}, {"12.1", 12}, {"11.4", 11}};
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		if (probe_compare(cuda, v[i].from) >= 0)
			return v[i].max;
	return 0;
}

bool compilers_has_python_h(struct probe *p, const char *prefix, const char *version)
{
	const char *const dirs[] = {prefix, "/usr", "/usr/local"};
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (dirs[i] && probe_is_file(p, arena_printf(p->a, "%s/include/python%s/Python.h",
						    dirs[i], version)))
			return true;
	return false;
}
