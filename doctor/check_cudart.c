/* The CUDA runtime: which copies there are, and which one a program would get. */
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "probe.h"

/* Where wheels and conda put it, for one major version of CUDA. */
static const char *bundled(struct machine *m, const struct pyenv *e, const char *soname)
{
	static const char *const dirs[] = {
	    "nvidia/cuda_runtime/lib", "nvidia/cu13/lib", "torch/lib"};
	for (size_t i = 0; i < e->n_sites; i++)
		for (size_t k = 0; k < ARRAY_SIZE(dirs); k++) {
			const char *name =
			    arena_printf(m->p->a, "%s/%s/%s", e->sites[i], dirs[k], soname);
			if (probe_is_file(m->p, name))
				return name;
		}
	const char *conda = arena_printf(m->p->a, "%s/lib/%s", e->dir, soname);
	return !strcmp(e->kind, "conda") && probe_is_file(m->p, conda) ? conda : NULL;
}

static bool is_empty(struct machine *m, const char *name)
{
	struct stat st;
	return probe_stat(m->p, name, &st) && st.st_size == 0;
}

/* "12.8.90" of "libcudart.so.12.8.90"; NULL if the name does not tell. */
static const char *version_of(const char *real)
{
	static const char mark[] = "libcudart.so.";
	const char *at = strstr(real, mark);
	return at && strchr(at + strlen(mark), '.') ? at + strlen(mark) : NULL;
}

/* A folder in LD_LIBRARY_PATH is searched before all but the RPATH of torch's wheels. */
static void check_poison(
    struct machine *m, const struct pyenv *e, const char *soname, struct findings *out)
{
	static const char *const others[] = {"libc10.so", "libtorch.so", "libstdc++.so.6"};
	struct loader_hits hits;
	loader_search(m->p, soname, &hits);
	const char *version = hits.n ? version_of(hits.v[0].real) : NULL;
	if (hits.n && hits.v[0].via == LOADER_ENV && version &&
	    probe_compare(probe_minor(m->p->a, version), e->torch.cuda) < 0) {
		finding_add(out, FINDING_WARNING, "cudart.path", "LD_LIBRARY_PATH",
		    "LD_LIBRARY_PATH puts '%s' of CUDA %s before the runtime of CUDA %s",
		    hits.v[0].path, version, e->torch.cuda);
		finding_type(out, FINDING_HERE, "unset LD_LIBRARY_PATH");
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		loader_search(m->p, others[i], &hits);
		if (!hits.n || hits.v[0].via != LOADER_ENV)
			continue;
		finding_add(out, FINDING_WARNING, "cudart.path", "LD_LIBRARY_PATH",
		    "LD_LIBRARY_PATH puts '%s' before the one that torch and the system bring",
		    hits.v[0].path);
		finding_type(out, FINDING_HERE, "unset LD_LIBRARY_PATH");
	}
}

static const char *other_major(struct machine *m, const char *soname)
{
	static const char *const all[] = {
	    "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"};
	struct loader_hits hits;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (!strcmp(all[i], soname))
			continue;
		loader_search(m->p, all[i], &hits);
		if (hits.n)
			return hits.v[0].path;
	}
	return NULL;
}

void check_cudart(struct machine *m, const struct pyenv *e, struct findings *out)
{
	static const char own_dir[] = "/usr/lib/" PROBE_TRIPLET "/debkit";
	const char *cuda = e->torch.cuda;
	const char *soname =
	    arena_printf(m->p->a, "libcudart.so.%.*s", (int)strcspn(cuda, "."), cuda);
	const char *pip = bundled(m, e, soname);
	const char *own = arena_printf(m->p->a, "%s/%s", own_dir, soname);
	const char *name = machine_runtime(m, cuda);
	struct loader_hits hits;
	loader_search(m->p, soname, &hits);
	own = probe_is_file(m->p, own) ? own : NULL;
	const char *first = pip ? pip : own ? own : hits.n ? hits.v[0].path : NULL;
	const char *second = own && first != own		 ? own
			     : hits.n && hits.v[0].path != first ? hits.v[0].path
								 : NULL;
	if (first && is_empty(m, first)) {
		finding_add(out, FINDING_BAD, "cudart.empty", first,
		    "'%s' has no bytes: a bind mount of a file that is not there", first);
	} else if (first) {
		finding_add(out, FINDING_GOOD, "cudart.found", first, "%s: '%s'%s%s%s", soname,
		    first, second ? ", and for others '" : "", second ? second : "",
		    second ? "'" : "");
	} else if (!m->must_install) {
		const char *other = other_major(m, soname);
		finding_add(out, FINDING_BAD, "cudart.missing", "the loader's folders",
		    "there is no %s for CUDA %s%s%s%s", soname, cuda, other ? ", only '" : "",
		    other ? other : "", other ? "'" : "");
		const struct deb_pkg *have = debs_provider(&m->debs, name, true);
		finding_type(out, FINDING_HERE, "%sapt-get install -y --reinstall %s", m->sudo,
		    have ? have->name : name);
	}
	check_poison(m, e, soname, out);
}
