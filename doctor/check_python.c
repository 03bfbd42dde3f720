/* One Python: is it whole, which torch has it, does it see the packages? */
#include <string.h>

#include "machine.h"
#include "probe.h"
#include "python.h"

#define DEFAULT_CUDA "12.8"

/* A word for the environment that is good in a sentence. */
static const char *name_of(const struct pyenv *e)
{
	return strcmp(e->kind ? e->kind : "", "system") != 0 ? e->dir : e->exe;
}

static bool check_whole(struct machine *m, const struct pyenv *e, bool strict, struct findings *out)
{
	enum finding_grade grade = strict ? FINDING_BAD : FINDING_WARNING;
	if (!e->broken)
		return true;
	finding_add(out, grade, "python.broken", e->dir, "'%s' is no whole environment: %s", e->dir,
	    e->broken);
	if (e->gone && !strcmp(e->kind, "venv") && e->version)
		finding_type(out, FINDING_HERE, "python%s -m venv --upgrade %s", e->version,
		    machine_quote(m, e->dir));
	else if (e->gone && e->version)
		finding_type(out, FINDING_HERE, "rm -r %s && python%s -m venv %s",
		    machine_quote(m, e->dir), e->version, machine_quote(m, e->dir));
	return e->gone && e->torch.version;
}

static void check_record(struct machine *m, const struct pyenv *e, struct findings *out)
{
	const struct torch *t = &e->torch;
	if (t->two) {
		finding_add(out, FINDING_WARNING, "torch.twice", name_of(e),
		    "pip has two versions of torch on record, as an upgrade that broke off leaves "
		    "it");
		finding_type(out, FINDING_HERE, "%s",
		    machine_pip_torch(
			m, e, probe_minor(m->p->a, t->version), t->cuda ? t->cuda : DEFAULT_CUDA));
	}
	for (size_t i = 0; i < e->dists.n; i++)
		if (!e->dists.v[i].whole)
			finding_add(out, FINDING_WARNING, "python.record", e->dists.v[i].site,
			    "'%s/%s' has no METADATA: pip and transformers take %s for absent",
			    e->dists.v[i].site, e->dists.v[i].folder, e->dists.v[i].name);
}

static void check_triton(struct machine *m, const struct pyenv *e, struct findings *out)
{
	const struct torch *t = &e->torch;
	if (t->triton && t->wants_triton && strcmp(t->triton, t->wants_triton) != 0) {
		finding_add(out, FINDING_WARNING, "triton.version", "METADATA of torch and triton",
		    "Triton %s is installed, torch %s pins %s", t->triton, t->version,
		    t->wants_triton);
		finding_type(out, FINDING_HERE, "%s triton==%s", machine_pip(m, e, "install"),
		    t->wants_triton);
	} else if (t->cuda && !t->triton) {
		finding_add(out, FINDING_WARNING, "triton.absent", "dist-info of triton",
		    "there is no Triton: flash-linear-attention and torch.compile need it");
		finding_type(out, FINDING_HERE, "%s triton%s%s", machine_pip(m, e, "install"),
		    t->wants_triton ? "==" : "", t->wants_triton ? t->wants_triton : "");
	}
}

static const char *abi_words(int abi)
{
	return abi < 0 ? "" : abi ? ", new C++ ABI" : ", old C++ ABI";
}

/* True if there is a torch that a binding could fit. */
static bool check_torch(
    struct machine *m, const struct pyenv *e, enum finding_grade missing, struct findings *out)
{
	const struct torch *t = &e->torch;
	const char *minor = t->version ? probe_minor(m->p->a, t->version) : NULL;
	if (!t->version) {
		finding_add(out, missing, "torch.absent", name_of(e),
		    "Python %s of %s has no torch", e->version, name_of(e));
		finding_type(out, FINDING_HERE, "%s", machine_pip_torch(m, e, NULL, DEFAULT_CUDA));
		return false;
	}
	if (!t->dir) {
		finding_add(out, missing, "torch.folder", name_of(e),
		    "pip has torch %s on record, but its folder is missing", t->version);
		finding_type(out, FINDING_HERE, "%s", machine_pip_torch(m, e, minor, DEFAULT_CUDA));
		return false;
	}
	if (t->cuda) {
		const char *archs = machine_torch_archs(m, t->cuda);
		finding_add(out, FINDING_GOOD, "torch.found", t->dir,
		    "torch %s for CUDA %s, Triton %s%s, Python %s%s%s", t->version, t->cuda,
		    t->triton ? t->triton : "absent", abi_words(t->cxx11_abi), e->version,
		    *archs ? ", GPUs " : "", archs);
		return true;
	}
	finding_add(out, missing, t->broken ? "torch.unreadable" : "torch.cuda", t->dir,
	    "torch %s %s%s", t->version,
	    t->broken	    ? "cannot be read: "
	    : t->rocm	    ? "is built for ROCm "
	    : t->names_cuda ? "is built without CUDA"
			    : "names no CUDA version in its version.py",
	    t->broken ? t->broken
	    : t->rocm ? t->rocm
		      : "");
	if (!t->rocm && strcmp(t->version, "of unknown version") != 0)
		finding_type(out, FINDING_HERE, "%s", machine_pip_torch(m, e, minor, DEFAULT_CUDA));
	return false;
}

static void check_enabled(
    struct machine *m, const struct pyenv *e, enum finding_grade missing, struct findings *out)
{
	bool system = !strcmp(e->kind, "system");
	if (e->enabled_by) {
		finding_add(out, FINDING_GOOD, "python.enabled", e->enabled_by,
		    "Python %s sees the packages through %s", e->version, e->enabled_by);
		return;
	}
	if (system && debs_installed(&m->debs, "python3-causal-conv1d")) {
		finding_add(out, missing, "python.enabled", "/usr/lib/python3/dist-packages",
		    "%s does not see the packages: their .pth file is not on its path", e->exe);
		finding_type(out, FINDING_HERE,
		    "python%s -m venv --system-site-packages /opt/venv && debkit enable --venv "
		    "/opt/venv",
		    e->version);
	} else if (!system) {
		finding_add(out, missing, "python.enabled", e->dir,
		    "Python %s does not see the packages: no .pth file names " PYTHON_IMPORT_ROOT,
		    e->version);
		finding_type(
		    out, FINDING_HERE, "debkit enable --venv %s", machine_quote(m, e->dir));
	}
}

/* What pip put beside torch is found before the import root, whose .pth comes later. */
static void check_shadow(struct machine *m, const struct pyenv *e, struct findings *out)
{
	const struct dist *d = dists_find(&e->dists, "causal_conv1d");
	if (!d || !strcmp(d->site, PYTHON_IMPORT_ROOT))
		return;
	finding_add(out, FINDING_WARNING, "packages.shadow", d->site,
	    "causal_conv1d %s from pip in '%s' is imported before the package's; if it was "
	    "compiled for another torch, its import fails with 'undefined symbol'",
	    d->version, d->site);
	finding_type(out, FINDING_HERE, "%s causal-conv1d", machine_pip(m, e, "uninstall -y"));
}

void check_python(struct machine *m, const struct pyenv *e, bool strict, struct findings *out)
{
	enum finding_grade missing = strict ? FINDING_BAD : FINDING_WARNING;
	if (!check_whole(m, e, strict, out))
		return;
	check_record(m, e, out);
	if (!check_torch(m, e, missing, out))
		return;
	check_triton(m, e, out);
	check_packages(m, e, missing, out);
	check_enabled(m, e, missing, out);
	check_shadow(m, e, out);
	check_cudart(m, e, out);
}
