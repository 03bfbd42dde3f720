/* What the container itself allows, and what a compilation in it would have met. */
#include <string.h>

#include "../lib/deb/relation.h"
#include "machine.h"
#include "probe.h"

#define MEMORY_MIN ((uint64_t)512 << 20)

/* "2.34" of "libc6 (>= 2.34)"; NULL if it depends on no version. */
static const char *libc_floor(struct machine *m, const struct deb_pkg *pkg)
{
	struct relation_list l = {0};
	if (relation_parse(m->p->a, debs_field(pkg, "Depends"), &l, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < l.n; i++)
		if (!strcmp(l.v[i].package, "libc6") && str_eq(l.v[i].op, ">="))
			return l.v[i].version;
	return NULL;
}

static const struct deb_pkg *own_package(struct machine *m)
{
	if (!m->cuda)
		return NULL;
	const char *name =
	    arena_printf(m->p->a, "python3-causal-conv1d-%s", machine_flavour(m, m->cuda));
	const struct deb_pkg *offer = debs_candidate(&m->debs, name);
	return offer ? offer : debs_installed(&m->debs, name);
}

static void check_glibc(struct machine *m, struct findings *out)
{
	const struct deb_pkg *pkg = own_package(m);
	const char *floor = pkg ? libc_floor(m, pkg) : NULL;
	const char *in = m->os.container ? m->os.container : "no container";
	if (floor && probe_compare(m->os.glibc, floor) < 0)
		finding_add(out, FINDING_BAD, "system.glibc", "libc.so.6",
		    "%s has glibc %s, and %s needs %s: it is too old for the packages",
		    m->os.pretty, m->os.glibc, pkg->name, floor);
	else
		finding_add(out, FINDING_GOOD, "system.release", "/etc/os-release",
		    "%s, glibc %s%s%s, %s", m->os.pretty, m->os.glibc, floor ? " of at least " : "",
		    floor ? floor : "", in);
}

static uint64_t number(const char *text)
{
	unsigned long long v = 0;
	return str_parse_u64(text, UINT32_MAX, &v) == 0 ? v : 0;
}

/* By apt's own figures: the packages unpacked, and beside them as they are downloaded. */
static void check_disk(struct machine *m, struct findings *out)
{
	const struct deb_pkg *pkg = m->must_install ? own_package(m) : NULL;
	uint64_t need = 0, have;
	if (!pkg || debs_installed(&m->debs, pkg->name))
		return;
	const struct deb_pkg *more[] = {pkg, debs_candidate(&m->debs, "python3-causal-conv1d"),
	    debs_candidate(
		&m->debs, arena_printf(m->p->a, "python3-flash-linear-attention-%s", m->flavour))};
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		if (more[i])
			need += number(debs_field(more[i], "Installed-Size")) * 1024 +
				number(debs_field(more[i], "Size"));
	if (!system_free_bytes(m->p, "/usr/lib", &have))
		return;
	if (have < need) {
		finding_add(out, FINDING_BAD, "system.disk", "/usr/lib",
		    "%llu MB are free, the packages need %llu MB", (unsigned long long)have >> 20,
		    (unsigned long long)(need >> 20) + 1);
		finding_type(out, FINDING_HERE, "%sapt-get clean", m->sudo);
	} else {
		finding_add(out, FINDING_GOOD, "system.disk", "/usr/lib",
		    "%llu MB are free, the packages need %llu MB", (unsigned long long)have >> 20,
		    (unsigned long long)(need >> 20) + 1);
	}
}

static void check_places(struct machine *m, struct findings *out)
{
	const struct os *os = &m->os;
	const char *prebuilt = m->cuda ? arena_printf(m->p->a, "python3-flash-linear-attention-%s",
					     machine_flavour(m, m->cuda))
				       : "";
	if (!os->triton_writable || os->triton_noexec) {
		finding_add(out, FINDING_WARNING, "system.cache", os->triton_cache,
		    "Triton's cache '%s' %s: what it tunes and compiles is lost or fails",
		    os->triton_cache,
		    os->triton_noexec ? "lies on a file system mounted noexec"
				      : "cannot be written");
		finding_type(out, FINDING_HERE, "export TRITON_CACHE_DIR=/var/tmp/triton");
	}
	if (!os->tmp_writable) {
		finding_add(out, FINDING_WARNING, "system.tmp", os->tmp,
		    "'%s' cannot be written: torch and pip need a place for temporary files",
		    os->tmp);
		finding_type(out, FINDING_HERE, "export TMPDIR=/var/tmp");
	} else if (os->tmp_noexec && !debs_installed(&m->debs, prebuilt)) {
		finding_add(out, FINDING_WARNING, "system.tmp", "/proc/self/mountinfo",
		    "'%s' is mounted noexec: what is compiled there cannot be loaded", os->tmp);
		finding_type(out, FINDING_HERE, "export TMPDIR=/var/tmp");
	}
}

void check_system(struct machine *m, struct findings *out)
{
	check_glibc(m, out);
	check_disk(m, out);
	check_places(m, out);
	if (m->os.memory && m->os.memory < MEMORY_MIN)
		finding_add(out, FINDING_WARNING, "system.memory", "/proc/meminfo",
		    "%llu MB of memory are free to this container: importing torch needs more",
		    (unsigned long long)m->os.memory >> 20);
	if (!m->os.can_thread) {
		finding_add(out, FINDING_BAD, "system.seccomp", "clone3(2)",
		    "a seccomp filter answers clone3 with EPERM: no thread can be started, torch "
		    "stops with 'can't start new thread'");
		finding_type(out, FINDING_HOST,
		    "docker run --security-opt seccomp=unconfined --gpus all IMAGE");
	}
}

static const char not_needed[] = "not needed with the debs";

static void check_nvcc(struct machine *m, const char *cuda, struct findings *out)
{
	const struct compilers *c = &m->compilers;
	unsigned max = c->nvcc_cuda ? compilers_gcc_max(c->nvcc_cuda) : 0;
	if (!c->nvcc)
		finding_add(out, FINDING_GOOD, "compiler.nvcc", "PATH, CUDA_HOME",
		    "no nvcc: pip install causal-conv1d would stop with NameError: "
		    "bare_metal_version; %s",
		    not_needed);
	else if (!c->nvcc_cuda || strcmp(c->nvcc_cuda, cuda) != 0)
		finding_add(out, FINDING_GOOD, "compiler.nvcc", c->nvcc,
		    "'%s' is of CUDA %s and torch of %s: pip install causal-conv1d would stop, or "
		    "compile for the wrong one; %s",
		    c->nvcc, c->nvcc_cuda ? c->nvcc_cuda : "unknown", cuda, not_needed);
	if (c->nvcc && c->gcc_major && max && c->gcc_major > max)
		finding_add(out, FINDING_GOOD, "compiler.gcc", c->gcc,
		    "gcc %u is newer than nvcc %s takes (%u): a compilation would stop; %s",
		    c->gcc_major, c->nvcc_cuda, max, not_needed);
}

static void check_headers(struct machine *m, const struct pyenv *e, struct findings *out)
{
	const char *prefix = e->home ? arena_printf(m->p->a, "%s/..", e->home) : e->dir;
	bool header = compilers_has_python_h(m->p, prefix, e->version);
	if (m->compilers.gcc && header)
		return;
	finding_add(out, FINDING_GOOD, "compiler.triton", e->dir,
	    "no %s: Triton's first launch would stop without it; %s",
	    !m->compilers.gcc ? header ? "gcc" : "gcc and no Python.h" : "Python.h", not_needed);
}

void check_compilers(struct machine *m, struct pyenv *const *envs, size_t n, struct findings *out)
{
	for (size_t i = 0; i < n; i++) {
		if (!envs[i]->torch.cuda)
			continue;
		check_nvcc(m, envs[i]->torch.cuda, out);
		check_headers(m, envs[i], out);
		return;
	}
}
