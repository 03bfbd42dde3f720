#include "nvrtc.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/kernels.h"
#include "../abi/demangle.h"
#include "ptx.h"

#define SOURCE_MAX ((size_t)64 << 20)
#define PTX_MAX	   ((size_t)1 << 30)

/* nvrtc.h of CUDA: a program is a handle, a result is 0 or an error. */
struct nvrtc {
	void *handle;
	const char *(*error)(int);
	int (*create)(
	    void **, const char *, const char *, int, const char *const *, const char *const *);
	int (*destroy)(void **);
	int (*compile)(void *, int, const char *const *);
	int (*log_size)(void *, size_t *);
	int (*log)(void *, char *);
	int (*ptx_size)(void *, size_t *);
	int (*ptx)(void *, char *);
};

static int load(struct nvrtc *n, const char *library, struct err *err)
{
	const struct {
		const char *name;
		void *to;
	} symbols[] = {{"nvrtcGetErrorString", &n->error}, {"nvrtcCreateProgram", &n->create},
	    {"nvrtcDestroyProgram", &n->destroy}, {"nvrtcCompileProgram", &n->compile},
	    {"nvrtcGetProgramLogSize", &n->log_size}, {"nvrtcGetProgramLog", &n->log},
	    {"nvrtcGetPTXSize", &n->ptx_size}, {"nvrtcGetPTX", &n->ptx}};
	n->handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!n->handle)
		return err_set(err, ERR_TOOL, "cannot load NVRTC: %s", dlerror());
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *f = dlsym(n->handle, symbols[i].name);
		if (!f)
			return err_set(err, ERR_TOOL, "'%s' is no NVRTC: it lacks %s", library,
			    symbols[i].name);
		memcpy(symbols[i].to, &f, sizeof f);
	}
	return 0;
}

/* Explicit instantiations of host functions, "template void f<...>(...);", would be compiled for
 * the device. Each begins a line and ends with the first ';'. */
static void put_device_part(const char *text, struct buf *out)
{
	static const char host[] = "template void ";
	for (const char *line = text; *line;) {
		const char *end = strchr(line, '\n');
		end = end ? end + 1 : line + strlen(line);
		const char *semicolon =
		    str_starts(line + strspn(line, " \t"), host) ? strchr(line, ';') : NULL;
		if (semicolon) {
			/* Lines keep their numbers, for messages. */
			for (; line <= semicolon; line++)
				if (*line == '\n')
					buf_putc(out, '\n');
			continue;
		}
		buf_append(out, line, (size_t)(end - line));
		line = end;
	}
}

/* "template __global__ void kernel<...>(...);" for each kernel that is an instance of a template;
 * others are compiled as they stand. */
static int put_instances(const char *host, struct buf *out, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(strv_done) struct strv kernels = STRV_INIT;
	if (stubs_read(host, &kernels, err) < 0)
		return -1;
	const char **names = arena_alloc(&a, (kernels.n + 1) * sizeof *names);
	demangle(&a, (const char *const *)kernels.v, kernels.n, names);
	for (size_t i = 0; i < kernels.n; i++) {
		if (!strchr(names[i], '('))
			return err_set(err, ERR_TOOL,
			    "cannot demangle '%s': look which c++filt is in PATH (apt-get install "
			    "binutils)",
			    kernels.v[i]);
		if (strstr(names[i], "(anonymous namespace)"))
			return err_set(err, ERR_FORMAT,
			    "kernel '%s' is in an unnamed namespace: its name would be another in "
			    "each build; give the namespace a name, or use --toolchain clang",
			    names[i]);
		if (str_starts(names[i], "void "))
			buf_printf(out, "template __global__ %s;\n", names[i]);
	}
	return 0;
}

static char *take_log(const struct nvrtc *n, void *program)
{
	size_t size = 0;
	if (n->log_size(program, &size) || size <= 1)
		return NULL;
	char *text = xcalloc(size + 1, 1);
	if (!n->log(program, text))
		return text;
	free(text);
	return NULL;
}

static int take_ptx(
    const struct nvrtc *n, void *program, const struct nvrtc_job *job, struct err *err)
{
	size_t size = 0;
	int rc = n->ptx_size(program, &size);
	if (rc || size <= 1 || size > PTX_MAX)
		return err_set(err, ERR_TOOL, "NVRTC made no PTX of '%s': %s", job->source,
		    rc ? n->error(rc) : "the size is out of bounds");
	_free_ char *text = xcalloc(size + 1, 1);
	_cleanup_(buf_done) struct buf out = BUF_INIT(PTX_MAX);
	if ((rc = n->ptx(program, text)))
		return err_set(err, ERR_TOOL, "NVRTC: %s", n->error(rc));
	ptx_drop_unused(text, size - 1, &out);
	if (buf_check(&out, job->out, err) < 0)
		return -1;
	return outfile_put(job->out, 0644, buf_str(&out), out.len, err);
}

static int compile(const struct nvrtc *n, const struct nvrtc_job *job, const char *text, char **log,
    struct err *err)
{
	void *program = NULL;
	int rc = n->create(&program, text, job->source, 0, NULL, NULL);
	if (rc)
		return err_set(err, ERR_TOOL, "NVRTC: %s", n->error(rc));
	rc = n->compile(program, (int)job->options->n, (const char *const *)job->options->v);
	*log = take_log(n, program);
	int done = rc ? err_set(err, ERR_TOOL, "NVRTC refuses '%s': %s", job->source, n->error(rc))
		      : take_ptx(n, program, job, err);
	n->destroy(&program);
	return done;
}

int nvrtc_compile(const struct nvrtc_job *job, char **log, struct err *err)
{
	_cleanup_(buf_done) struct buf source = BUF_INIT(SOURCE_MAX), text = BUF_INIT(SOURCE_MAX);
	struct nvrtc n;
	*log = NULL;
	if (path_read(job->source, &source, err) < 0)
		return -1;
	put_device_part(buf_str(&source), &text);
	buf_putc(&text, '\n');
	if (put_instances(job->host, &text, err) < 0 || buf_check(&text, job->source, err) < 0 ||
	    load(&n, job->library, err) < 0)
		return -1;
	return compile(&n, job, buf_str(&text), log, err);
}

static int match(const struct strv *host, const char *path, const struct cubin *c,
    const struct cubin *first, struct err *err)
{
	size_t i = 0;
	for (; i < host->n && i < c->n; i++) {
		if (strcmp(host->v[i], c->v[i].name) ||
		    (first && c->v[i].parameters != first->v[i].parameters))
			break;
	}
	if (i == host->n && i == c->n)
		return 0;
	if (i < host->n && i < c->n && !strcmp(host->v[i], c->v[i].name))
		return err_set(err, ERR_FORMAT,
		    "'%s': kernel '%s' takes %llu bytes of parameters, and %llu for another arch",
		    path, host->v[i], (unsigned long long)c->v[i].parameters,
		    (unsigned long long)first->v[i].parameters);
	bool lacks = i == c->n || (i < host->n && strcmp(host->v[i], c->v[i].name) < 0);
	return err_set(err, ERR_FORMAT, "'%s' %s kernel '%s', which the host code %s", path,
	    lacks ? "lacks" : "has", lacks ? host->v[i] : c->v[i].name,
	    lacks ? "launches" : "does not launch");
}

/* Kernels with much local memory are slow: the compiler did not keep in registers what it could. */
static int check_stack(const char *path, const struct cubin *c, uint32_t max, struct err *err)
{
	const struct cubin_kernel *worst = NULL;
	size_t n = 0;
	for (size_t i = 0; i < c->n; i++) {
		if (c->v[i].stack <= max)
			continue;
		n++;
		if (!worst || c->v[i].stack > worst->stack)
			worst = &c->v[i];
	}
	if (!n)
		return 0;
	return err_set(err, ERR_FORMAT,
	    "'%s': %zu of %zu kernels take more than %u bytes of stack, which the recipe allows "
	    "(Max-Stack); '%s' takes %u",
	    path, n, c->n, (unsigned)max, worst->name, (unsigned)worst->stack);
}

static void list_kernels(const struct cubin *c, struct buf *out)
{
	for (size_t i = 0; i < c->n; i++)
		buf_printf(out, "sm_%u\t%u\t%u\t%llu\t%llu\t%s\n", c->arch,
		    (unsigned)c->v[i].registers, (unsigned)c->v[i].stack,
		    (unsigned long long)c->v[i].shared, (unsigned long long)c->v[i].code,
		    c->v[i].name);
}

int nvrtc_match(const char *host, const struct strv *cubins, uint32_t max_stack, const char *out,
    struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(strv_done) struct strv kernels = STRV_INIT;
	_cleanup_(buf_done) struct buf text = BUF_INIT(SOURCE_MAX);
	if (stubs_read(host, &kernels, err) < 0)
		return -1;
	if (!kernels.n)
		return err_set(err, ERR_FORMAT, "'%s' launches no kernel", host);
	struct cubin *v = arena_alloc(&a, (cubins->n + 1) * sizeof *v);
	for (size_t i = 0; i < cubins->n; i++) {
		if (cubin_read(&a, cubins->v[i], &v[i], err) < 0 ||
		    match(&kernels, cubins->v[i], &v[i], i ? &v[0] : NULL, err) < 0 ||
		    check_stack(cubins->v[i], &v[i], max_stack, err) < 0)
			return -1;
		list_kernels(&v[i], &text);
	}
	if (buf_check(&text, out, err) < 0)
		return -1;
	return outfile_put(out, 0644, buf_str(&text), text.len, err);
}
