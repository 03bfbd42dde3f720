#include "plan_steps.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "plan_command.h"
#include "../data/recipe.h"

/* "csrc/causal_conv1d_bwd.cu" to "causal_conv1d_bwd" */
static char *stem(struct arena *a, const char *source)
{
	const char *base = path_base(source);
	return arena_strndup(a, base, strcspn(base, "."));
}

static void add_include_paths(struct command *c, const struct plan *p)
{
	strv_add(&c->argv, "-Isupport/device");
	strv_addf(&c->argv, "-Isrc/%s", p->recipe->include);
	strv_add(&c->argv, "-isystem");
	strv_add(&c->argv, "sdk/device/torch/include");
	strv_add(&c->argv, "-isystem");
	strv_add(&c->argv, "sdk/device/torch/include/torch/csrc/api/include");
}

/* The toolkit wheels of which this member is taken (NULL: any). */
static void add_parts_id(struct command *c, const struct plan *p, const char *member)
{
	for (size_t i = 0; i < p->toolkit->n_parts; i++) {
		bool taken = false;
		for (char **m = p->part_members[i]; *m; m++)
			taken |= !member || !strcmp(*m, member);
		if (taken)
			strv_addf(&c->id, "part %s", p->parts[i]->sha256);
	}
}

/* What all device steps depend on. The torch headers are no part of it: the objects are the
 * same from the headers of every torch, which tests prove. */
static void add_device_id(struct command *c, const struct plan *p)
{
	strv_addf(&c->id, "sdist %s", p->sdist->sha256);
	strv_addf(&c->id, "compiler %s", p->host->compiler);
	strv_addf(&c->id, "support %s", p->host->kernels_id);
	if (p->host->route == ROUTE_NVRTC)
		strv_addf(&c->id, "nvrtc headers %s", p->host->nvrtc_id);
	if (!p->host->toolkit_root)
		add_parts_id(c, p, NULL);
}

static void clang_command(struct command *c, const struct plan *p, const char *source)
{
	strv_add(&c->argv, p->host->clang);
	static const char *const fixed[] = {"-x", "cuda", "--cuda-path=tk", "-std=c++17", "-O3",
	    "-fPIC", "-DNDEBUG", "-Wno-unknown-cuda-version", "-Wno-pass-failed",
	    "-Wno-unused-command-line-argument", "-ffile-compilation-dir=."};
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_add(&c->argv, fixed[i]);
	command_words(c, p->recipe->clang_flags);
	add_include_paths(c, p);
	add_device_id(c, p);
	strv_addf(&c->argv, "src/%s", source);
}

static char *device_file(struct arena *a, const struct plan *p, const char *source,
    const struct gpu_arch *g, const char *suffix)
{
	return arena_printf(a, "%s/%s.sm_%s.%s", p->flavour, stem(a, source), g->sm, suffix);
}

static char *device_name(
    struct arena *a, const char *what, const char *source, const struct gpu_arch *g)
{
	return arena_printf(a, "%s %s sm_%s", what, path_base(source), g->sm);
}

/* What a file between the compilers of a source is named, "cu128/causal_conv1d_fwd.kernels". */
static char *source_file(
    struct arena *a, const struct plan *p, const char *source, const char *suffix)
{
	return arena_printf(a, "%s/%s.%s", p->flavour, stem(a, source), suffix);
}

/* Ends a command that makes PTX, whichever compiler it is. */
static void ptx_step(struct plan *p, struct command *c, const char *source,
    const struct gpu_arch *g, const char *out)
{
	struct plan_step *s =
	    command_step(p, c, STEP_PTX, device_name(c->a, "device code", source, g), out);
	s->heavy = recipe_is_slow(p->recipe, source);
	s->cpu_s = s->heavy ? 125 : 5;
}

static void add_ptx(struct arena *a, struct plan *p, const char *source, const struct gpu_arch *g)
{
	struct command c = {.a = a};
	const char *out = device_file(a, p, source, g, "ptx");
	clang_command(&c, p, source);
	strv_add(&c.argv, "--cuda-device-only");
	strv_addf(&c.argv, "--offload-arch=sm_%s", g->sm);
	strv_add(&c.argv, "-S");
	strv_add(&c.argv, "-o");
	strv_add(&c.argv, out);
	ptx_step(p, &c, source, g, out);
}

/* clang's host half without device code: which kernels it launches. */
static void add_launches(struct arena *a, struct plan *p, const char *source)
{
	struct command c = {.a = a};
	const char *out = source_file(a, p, source, "launches.o");
	clang_command(&c, p, source);
	static const char *const fixed[] = {"--cuda-host-only", "-O0", "-c", "-o"};
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_add(&c.argv, fixed[i]);
	strv_add(&c.argv, out);
	struct plan_step *s = command_step(
	    p, &c, STEP_LAUNCHES, arena_printf(a, "launches of %s", path_base(source)), out);
	s->cpu_s = recipe_is_slow(p->recipe, source) ? 6 : 2;
}

static void add_nvrtc(struct arena *a, struct plan *p, const char *source, const struct gpu_arch *g)
{
	struct command c = {.a = a};
	const char *out = device_file(a, p, source, g, "ptx");
	static const char *const fixed[] = {"debkit", "device", "ptx", "--library"};
	static const char *const options[] = {"--std=c++17", "--device-as-default-execution-space",
	    "-DNDEBUG", "--pre-include=debkit_device.h", "-Invrtc"};
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_add(&c.argv, fixed[i]);
	strv_addf(&c.argv, "tk/lib64/libnvrtc.so.%s", p->cuda_major);
	strv_add(&c.argv, "--host");
	command_input(&c, source_file(a, p, source, "launches.o"));
	strv_add(&c.argv, "--output");
	strv_add(&c.argv, out);
	strv_addf(&c.argv, "src/%s", source);
	strv_add(&c.argv, "--");
	strv_addf(&c.argv, "--gpu-architecture=compute_%s", g->sm);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		strv_add(&c.argv, options[i]);
	command_words(&c, p->recipe->nvrtc_flags);
	strv_add(&c.argv, "-Isupport/device");
	strv_addf(&c.argv, "-Isrc/%s", p->recipe->include);
	strv_add(&c.argv, "-Isdk/device/torch/include");
	strv_add(&c.argv, "-Itk/include");
	add_device_id(&c, p);
	/* The version of what debkit itself does to source and PTX: raise it when that changes. */
	strv_add(&c.id, "nvrtc step 1");
	ptx_step(p, &c, source, g, out);
}

/* The kernels of all cubins are those that the host code launches. */
static void add_match(struct arena *a, struct plan *p, const char *source)
{
	struct command c = {.a = a};
	const char *out = source_file(a, p, source, "kernels");
	static const char *const fixed[] = {"debkit", "device", "match", "--host"};
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_add(&c.argv, fixed[i]);
	command_input(&c, source_file(a, p, source, "launches.o"));
	if (p->recipe->max_stack) {
		strv_add(&c.argv, "--max-stack");
		strv_add(&c.argv, p->recipe->max_stack);
	}
	strv_add(&c.argv, "--output");
	strv_add(&c.argv, out);
	for (size_t i = 0; i < p->n_archs; i++)
		command_input(&c, device_file(a, p, source, p->archs[i], "cubin"));
	strv_add(&c.id, "match step 2");
	struct plan_step *s = command_step(
	    p, &c, STEP_MATCH, arena_printf(a, "kernels of %s", path_base(source)), out);
	s->cpu_s = 0.1;
}

static void add_cubin(struct arena *a, struct plan *p, const char *source, const struct gpu_arch *g)
{
	struct command c = {.a = a};
	const char *in = device_file(a, p, source, g, "ptx");
	const char *out = device_file(a, p, source, g, "cubin");
	static const char *const fixed[] = {"tk/bin/ptxas", "-m64", "-O3", "--gpu-name"};
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_add(&c.argv, fixed[i]);
	strv_addf(&c.argv, "sm_%s", g->sm);
	strv_add(&c.argv, "--output-file");
	strv_add(&c.argv, out);
	strv_add(&c.argv, in);
	strv_add(&c.in, in);
	struct plan_step *s =
	    command_step(p, &c, STEP_CUBIN, device_name(a, "ptxas", source, g), out);
	s->heavy = recipe_is_slow(p->recipe, source);
	s->cpu_s = s->heavy ? 75 : 2;
}

/* "speed" is LZ4, which every driver of CUDA 12 reads; "size" is zstd, which those of 13 do. */
static const char *compress_mode(const struct plan *p)
{
	return matrix_compare(p->cuda, "13.0") < 0 ? "--compress-mode=speed"
						   : "--compress-mode=size";
}

static void add_fatbin(struct arena *a, struct plan *p, const char *source)
{
	struct command c = {.a = a};
	const char *out = source_file(a, p, source, "fatbin");
	static const char *const fixed[] = {"tk/bin/fatbinary", "-64", "--compress-all"};
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_add(&c.argv, fixed[i]);
	strv_add(&c.argv, compress_mode(p));
	strv_addf(&c.argv, "--create=%s", out);
	for (size_t i = 0; i < p->n_archs; i++) {
		const struct gpu_arch *g = p->archs[i];
		const char *cubin = device_file(a, p, source, g, "cubin");
		strv_addf(&c.argv, "--image3=kind=elf,sm=%s,file=%s", g->sm, cubin);
		strv_add(&c.in, cubin);
		if (i + 1 < p->n_archs)
			continue;
		const char *ptx = device_file(a, p, source, g, "ptx");
		strv_addf(&c.argv, "--image3=kind=ptx,sm=%s,file=%s", g->sm, ptx);
		strv_add(&c.in, ptx);
	}
	struct plan_step *s =
	    command_step(p, &c, STEP_FATBIN, arena_printf(a, "fatbin %s", path_base(source)), out);
	s->cpu_s = 1;
}

static void add_host(struct arena *a, struct plan *p, const char *source)
{
	struct command c = {.a = a};
	const char *fatbin = source_file(a, p, source, "fatbin");
	const char *out = source_file(a, p, source, "o");
	clang_command(&c, p, source);
	static const char *const fixed[] = {"--cuda-host-only", "-fstack-protector-strong",
	    "-Xclang", "-fcuda-include-gpubinary", "-Xclang"};
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_add(&c.argv, fixed[i]);
	strv_add(&c.argv, fatbin);
	strv_add(&c.argv, "-c");
	strv_add(&c.argv, "-o");
	strv_add(&c.argv, out);
	strv_add(&c.in, fatbin);
	if (p->host->route == ROUTE_NVRTC)
		strv_add(&c.in, source_file(a, p, source, "kernels"));
	struct plan_step *s =
	    command_step(p, &c, STEP_HOST, arena_printf(a, "host code %s", path_base(source)), out);
	s->cpu_s = recipe_is_slow(p->recipe, source) ? 9 : 2;
}

static void add_nvcc(struct arena *a, struct plan *p, const char *source)
{
	struct command c = {.a = a};
	const char *out = source_file(a, p, source, "o");
	strv_add(&c.argv, "tk/bin/nvcc");
	strv_addf(&c.argv, "-ccbin=%s", p->host->cxx);
	static const char *const fixed[] = {
	    "-std=c++17", "-O3", "-DNDEBUG", "-Xcompiler", "-fPIC,-fstack-protector-strong"};
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_add(&c.argv, fixed[i]);
	/* Before 12.8 LZ4, "speed", was the one kind of compression. */
	strv_add(&c.argv,
	    matrix_compare(p->cuda, "12.8") < 0 ? "-Xfatbin=-compress-all" : compress_mode(p));
	/* Else names in the object hold the number of a process, and the hash of an absolute path.
	 * Releases before 13.0 do not all know the first. */
	if (matrix_compare(p->cuda, "13.0") >= 0)
		strv_addf(&c.argv, "--frandom-seed=%s", out);
	strv_addf(&c.argv, "-Xcudafe=--orig_src_path_name=src/%s", source);
	command_words(&c, p->recipe->nvcc_flags);
	for (size_t i = 0; i < p->n_archs; i++)
		strv_addf(&c.argv, "-gencode=arch=compute_%s,code=[sm_%s%s%s]", p->archs[i]->sm,
		    p->archs[i]->sm, i + 1 < p->n_archs ? "" : ",compute_",
		    i + 1 < p->n_archs ? "" : p->archs[i]->sm);
	add_include_paths(&c, p);
	/* Before the folders in nvcc's own profile: the pinned headers, whichever nvcc it is. */
	strv_add(&c.argv, "-Icuda/include");
	if (matrix_compare(p->cuda, "13.0") >= 0)
		strv_add(&c.argv, "-Icuda/include/cccl");
	add_device_id(&c, p);
	strv_addf(&c.id, "host compiler %s", p->host->cxx_id);
	strv_add(&c.argv, "-c");
	strv_addf(&c.argv, "src/%s", source);
	strv_add(&c.argv, "-o");
	strv_add(&c.argv, out);
	struct plan_step *s =
	    command_step(p, &c, STEP_NVCC, arena_printf(a, "nvcc %s", path_base(source)), out);
	s->heavy = recipe_is_slow(p->recipe, source);
	s->cpu_s = (s->heavy ? 236 : 10) * (double)p->n_archs;
}

static void add_device_steps(struct arena *a, struct plan *p, bool slow)
{
	for (char **s = p->recipe->device_sources; *s; s++) {
		if (recipe_is_slow(p->recipe, *s) != slow)
			continue;
		if (p->host->route == ROUTE_NVCC) {
			add_nvcc(a, p, *s);
			continue;
		}
		bool nvrtc = p->host->route == ROUTE_NVRTC;
		if (nvrtc)
			add_launches(a, p, *s);
		for (size_t i = 0; i < p->n_archs; i++) {
			(nvrtc ? add_nvrtc : add_ptx)(a, p, *s, p->archs[i]);
			add_cubin(a, p, *s, p->archs[i]);
		}
		if (nvrtc)
			add_match(a, p, *s);
		add_fatbin(a, p, *s);
		add_host(a, p, *s);
	}
}

void plan_add_stub(struct arena *a, struct plan *p, const char *soname)
{
	struct command c = {.a = a};
	const char *out = arena_printf(a, "stubs/%s", soname);
	strv_add(&c.argv, p->host->cxx);
	static const char *const fixed[] = {"-shared", "-nostdlib", "-x", "c", "/dev/null"};
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_add(&c.argv, fixed[i]);
	strv_addf(&c.argv, "-Wl,-soname,%s", soname);
	strv_add(&c.argv, "-o");
	strv_add(&c.argv, out);
	strv_addf(&c.id, "host compiler %s", p->host->cxx_id);
	struct plan_step *s =
	    command_step(p, &c, STEP_STUB, arena_printf(a, "stub %s", soname), out);
	s->cpu_s = 0.1;
}

static void add_stubs(struct arena *a, struct plan *p)
{
	for (char **l = p->recipe->torch_libraries; *l; l++)
		plan_add_stub(a, p, *l);
}

static void link_command(struct command *c, const struct plan *p, const char *out)
{
	strv_add(&c->argv, p->host->cxx);
	strv_add(&c->argv, "-shared");
	strv_add(&c->argv, "-s");
	command_words(c, p->host->ld_flags);
	strv_add(&c->argv, "-Wl,--build-id=none");
	strv_add(&c->argv, "-Wl,--enable-new-dtags");
	strv_add(&c->argv, "-Wl,-rpath,$ORIGIN:$ORIGIN/..");
	strv_add(&c->argv, "-o");
	strv_add(&c->argv, out);
	strv_addf(&c->id, "host compiler %s", p->host->cxx_id);
	strv_addf(&c->id, "runtime %s", p->runtime->sha256);
}

static void add_kernel_library(struct arena *a, struct plan *p)
{
	struct command c = {.a = a};
	const char *out = arena_printf(a, "%s/%s", p->flavour, p->kernel_library);
	link_command(&c, p, out);
	strv_addf(&c.argv, "-Wl,-soname,%s", p->kernel_library);
	for (char **s = p->recipe->device_sources; *s; s++)
		command_input(&c, arena_printf(a, "%s/%s.o", p->flavour, stem(a, *s)));
	strv_addf(&c.argv, "cuda/lib64/libcudart.so.%s", p->cuda_major);
	struct plan_step *s = command_step(
	    p, &c, STEP_LINK_KERNELS, arena_printf(a, "link %s", p->kernel_library), out);
	s->cpu_s = 1;
}

/* Compiles one source of a binding from the headers of its torch and Python. */
static const char *add_binding_object(
    struct arena *a, struct plan *p, const struct plan_binding *b, const char *source, size_t torch)
{
	struct command c = {.a = a};
	const char *out = arena_printf(a, "%s/%.*s/%s.o", p->flavour,
	    (int)(strlen(b->file) - strlen(".so")), b->file, stem(a, source));
	strv_add(&c.argv, p->host->cxx);
	strv_addf(&c.argv, "-std=c++%s", b->torch->cxx);
	command_words(&c, p->host->cxx_flags);
	static const char *const fixed[] = {
	    "-O3", "-g0", "-fPIC", "-DNDEBUG", "-DTORCH_API_INCLUDE_EXTENSION_H"};
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_add(&c.argv, fixed[i]);
	strv_addf(&c.argv, "-DTORCH_EXTENSION_NAME=%s", p->recipe->module);
	strv_addf(&c.argv, "-Isrc/%s", p->recipe->include);
	strv_add(&c.argv, "-Isupport/binding");
	const char *systems[] = {arena_printf(a, "sdk/%s/torch/include", b->torch->version),
	    arena_printf(a, "sdk/%s/torch/include/torch/csrc/api/include", b->torch->version),
	    "cuda/include", arena_printf(a, "py/%s", b->python->version)};
	for (size_t i = 0; i < ARRAY_SIZE(systems); i++) {
		strv_add(&c.argv, "-isystem");
		strv_add(&c.argv, systems[i]);
	}
	strv_add(&c.argv, "-c");
	strv_add(&c.argv, source);
	strv_add(&c.argv, "-o");
	strv_add(&c.argv, out);
	strv_addf(&c.id, "sdist %s", p->sdist->sha256);
	strv_addf(&c.id, "host compiler %s", p->host->cxx_id);
	strv_addf(&c.id, "torch %s",
	    p->wheels[torch]->record_sha256 ? p->wheels[torch]->record_sha256
					    : p->wheels[torch]->sha256);
	strv_addf(&c.id, "python %s", b->python->id);
	strv_addf(&c.id, "support %s", p->host->support_id);
	add_parts_id(&c, p, "include");
	struct plan_step *s = command_step(p, &c, STEP_BINDING,
	    arena_printf(a, "binding torch %s Python %s, %s", b->torch->minor, b->python->version,
		path_base(source)),
	    out);
	s->heavy = str_starts(source, "src/");
	s->cpu_s = s->heavy ? 14 : 1;
	return out;
}

static void add_binding(struct arena *a, struct plan *p, const struct plan_binding *b, size_t torch)
{
	const char *objects[] = {
	    add_binding_object(a, p, b, arena_printf(a, "src/%s", p->recipe->host_source), torch),
	    add_binding_object(a, p, b, "support/binding/check.cpp", torch)};
	struct command c = {.a = a};
	link_command(&c, p, b->out);
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		command_input(&c, objects[i]);
	strv_add(&c.argv, "-Wl,--no-as-needed");
	for (char **l = p->recipe->torch_libraries; *l; l++)
		command_input(&c, arena_printf(a, "stubs/%s", *l));
	command_input(&c, arena_printf(a, "%s/%s", p->flavour, p->kernel_library));
	strv_addf(&c.argv, "cuda/lib64/libcudart.so.%s", p->cuda_major);
	struct plan_step *s =
	    command_step(p, &c, STEP_LINK_BINDING, arena_printf(a, "link %s", b->file), b->out);
	s->cpu_s = 0.3;
}

static size_t torch_index(const struct plan *p, const struct torch_release *t)
{
	size_t i = 0;
	while (p->torches[i] != t)
		i++;
	return i;
}

void plan_add_steps(struct arena *a, struct plan *p)
{
	size_t sources = 0, libraries = 0;
	while (p->recipe->device_sources[sources])
		sources++;
	while (p->recipe->torch_libraries[libraries])
		libraries++;
	size_t most = sources * (2 * p->n_archs + 4) + libraries + 1 + 3 * p->n_bindings;
	p->steps = arena_alloc(a, most * sizeof *p->steps);
	add_device_steps(a, p, true);
	add_stubs(a, p);
	add_device_steps(a, p, false);
	add_kernel_library(a, p);
	for (size_t i = 0; i < p->n_bindings; i++)
		add_binding(a, p, &p->bindings[i], torch_index(p, p->bindings[i].torch));
}
