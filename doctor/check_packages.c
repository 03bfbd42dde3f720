/* Our packages for one Python: what is chosen, what is missing, what to install. */
#include <string.h>

#include "machine.h"
#include "probe.h"

#define PACKAGE	     "python3-causal-conv1d-"
#define FLA	     "python3-flash-linear-attention"
#define META	     "python3-gated-deltanet-"
#define DEFAULT_CUDA "12.8"

/* Those that debkit makes a package for. */
static bool is_built(const char *cuda)
{
	return debs_has_word("12.6 12.8 13.0 13.2", cuda);
}

/* Remembers what is to be installed, for the checks of apt and of the disk. */
static void want(struct machine *m, const char *cuda, const char *names)
{
	m->must_install = true;
	m->install = names;
	m->cuda = cuda;
	m->flavour = machine_flavour(m, cuda);
}

static void type_install(struct machine *m, struct findings *out)
{
	finding_type(out, FINDING_HERE, "%sapt-get install -y %s", m->sudo, m->install);
}

/* The package for a CUDA, with that for FLA where both are on offer. */
static const char *names_for(struct machine *m, const char *flavour)
{
	const char *meta = arena_printf(m->p->a, META "%s", flavour);
	return debs_candidate(&m->debs, meta) ? meta : arena_printf(m->p->a, PACKAGE "%s", flavour);
}

/* On offer, or installed: does the package say that it has a binding for this pair? */
static bool claims(struct machine *m, const struct deb_pkg *pkg, const struct pyenv *e)
{
	return debs_has_word(
		   debs_field(pkg, "Debkit-Torch"), probe_minor(m->p->a, e->torch.version)) &&
	       debs_has_word(debs_field(pkg, "Debkit-Python"), e->version);
}

static const char *newest(struct machine *m, const char *words)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	const char *best = NULL;
	strv_split(&v, words, " ");
	for (size_t i = 0; i < v.n; i++)
		if (!best || probe_compare(v.v[i], best) > 0)
			best = arena_strdup(m->p->a, v.v[i]);
	return best;
}

/* The package is there and has nothing for this pair. */
static void no_pair(struct machine *m, const struct pyenv *e, const struct deb_pkg *pkg,
    enum finding_grade missing, struct findings *out)
{
	const char *torches = debs_field(pkg, "Debkit-Torch");
	const char *pythons = debs_field(pkg, "Debkit-Python");
	const char *torch = newest(m, torches), *python = newest(m, pythons);
	finding_add(out, missing, "packages.pair", pkg->name,
	    "%s %s supports torch %s on Python %s, here are torch %s and Python %s", pkg->name,
	    pkg->version, torches, pythons, e->torch.version, e->version);
	if (debs_has_word(pythons, e->version) && torch)
		finding_type(
		    out, FINDING_HERE, "%s", machine_pip_torch(m, e, torch, e->torch.cuda));
	else if (torch && python)
		finding_type(out, FINDING_HERE,
		    "python%s -m venv /opt/venv && /opt/venv/bin/pip install \"torch==%s.*\" "
		    "--index-url https://download.pytorch.org/whl/%s && debkit enable --venv "
		    "/opt/venv",
		    python, torch, machine_flavour(m, e->torch.cuda));
}

/* The same for what is installed, by the tables of the bindings themselves. */
static void no_binding(
    struct machine *m, const struct pyenv *e, enum finding_grade missing, struct findings *out)
{
	const struct binding *b = bindings_nearest(m->p->a, &m->bindings, e->tag, e->torch.cuda);
	const char *python = binding_python(m->p->a, b->python);
	const char *torch = binding_torch(m->p->a, b);
	finding_add(out, missing, "packages.pair", "the tables of the bindings",
	    "torch %s (CUDA %s) on Python %s has no binding: the installed packages support %s",
	    e->torch.version, e->torch.cuda, e->version, bindings_words(m->p->a, &m->bindings));
	if (!strcmp(b->python, e->tag))
		finding_type(out, FINDING_HERE, "%s", machine_pip_torch(m, e, torch, b->cuda));
	else
		finding_type(out, FINDING_HERE,
		    "python%s -m venv /opt/venv && /opt/venv/bin/pip install \"torch==%s.*\" "
		    "--index-url https://download.pytorch.org/whl/%s && debkit enable --venv "
		    "/opt/venv",
		    python, torch, machine_flavour(m, b->cuda));
}

static void forbidden(struct machine *m, const char *name, const char *file,
    enum finding_grade missing, struct findings *out)
{
	finding_add(out, missing, "apt.pin", file,
	    "%s is on offer, but '%s' forbids it by a negative priority", name, file);
	finding_type(out, FINDING_HERE, "%smv %s %s.off", m->sudo, machine_quote(m, file),
	    machine_quote(m, file));
}

static const char *pin_of(struct machine *m, const char *name)
{
	for (size_t i = 0; i < m->debs.n; i++)
		if (m->debs.v[i].pinned && !strcmp(m->debs.v[i].name, name))
			return m->debs.v[i].pinned;
	return NULL;
}

static void not_installed(struct machine *m, const struct pyenv *e, const char *name,
    enum finding_grade missing, struct findings *out)
{
	const char *cuda = e->torch.cuda, *flavour = machine_flavour(m, cuda);
	const struct deb_pkg *offer = debs_candidate(&m->debs, name);
	const char *pin = offer ? NULL : pin_of(m, name);
	if (!is_built(cuda)) {
		finding_add(out, missing, "packages.cuda", e->torch.dir,
		    "debkit makes no package for CUDA %s, which torch %s is built for", cuda,
		    e->torch.version);
		finding_type(out, FINDING_HERE, "%s",
		    machine_pip_torch(m, e, probe_minor(m->p->a, e->torch.version), DEFAULT_CUDA));
		return;
	}
	if (offer && !claims(m, offer, e)) {
		no_pair(m, e, offer, missing, out);
		return;
	}
	want(m, cuda, names_for(m, flavour));
	if (pin)
		forbidden(m, name, pin, missing, out);
	finding_add(out, missing, "packages.missing", "/var/lib/dpkg/status",
	    "%s is not installed%s%s: transformers runs its slow path without a word", name,
	    offer ? ", version " : "", offer ? offer->version : "");
	type_install(m, out);
}

static void check_conv(
    struct machine *m, const struct pyenv *e, enum finding_grade missing, struct findings *out)
{
	const struct torch *t = &e->torch;
	const char *name = arena_printf(m->p->a, PACKAGE "%s", machine_flavour(m, t->cuda));
	const struct deb_pkg *have = debs_installed(&m->debs, name);
	const struct binding *b = bindings_choose(m->p->a, &m->bindings, e->tag, t);
	if (have && have->broken) {
		want(m, t->cuda, name);
		finding_add(out, FINDING_BAD, "packages.broken", "/var/lib/dpkg/status",
		    "%s %s is not wholly installed: %s", name, have->version,
		    debs_field(have, "Status"));
		finding_type(out, FINDING_HERE, "%sdpkg --configure -a && %sapt-get install -y -f",
		    m->sudo, m->sudo);
	} else if (b) {
		m->cuda = m->cuda ? m->cuda : t->cuda;
		finding_add(out, FINDING_GOOD, "packages.binding", "the tables of the bindings",
		    "%s of %s would be loaded for torch %s", b->file, b->folder, t->version);
	} else if (have && claims(m, have, e)) {
		finding_add(out, FINDING_BAD, "packages.files", "the tables of the bindings",
		    "%s is installed, but its table of bindings is missing or damaged", name);
		finding_type(
		    out, FINDING_HERE, "%sapt-get install -y --reinstall %s", m->sudo, name);
	} else if (have && m->bindings.n) {
		no_binding(m, e, missing, out);
	} else {
		not_installed(m, e, name, missing, out);
	}
}

/* apt has read the repository: what it does not offer there is not to be had from it. */
static bool knows_repository(const struct machine *m)
{
	for (size_t i = 0; i < m->debs.n_releases; i++)
		if (!strcmp(m->debs.releases[i].origin, "debkit"))
			return true;
	return false;
}

/* FLA: from our packages or from pip, and its kernels. */
static void check_fla(
    struct machine *m, const struct pyenv *e, enum finding_grade missing, struct findings *out)
{
	const char *kernels = arena_printf(m->p->a, FLA "-%s", machine_flavour(m, e->torch.cuda));
	const struct dist *pip = dists_find(&e->dists, "flash_linear_attention");
	const struct deb_pkg *deb = debs_installed(&m->debs, FLA);
	const struct deb_pkg *fast = debs_installed(&m->debs, kernels);
	bool offer = debs_candidate(&m->debs, kernels) != NULL;
	pip = pip ? pip : dists_find(&e->dists, "fla_core");
	if (deb && fast && fast->installed && !pip) {
		const char *tritons = debs_field(fast, "Debkit-Triton");
		if (*tritons && e->torch.triton && !debs_has_word(tritons, e->torch.triton)) {
			finding_add(out, FINDING_WARNING, "fla.triton", kernels,
			    "%s has kernels for Triton %s, and Triton %s is installed: the first "
			    "call "
			    "compiles for minutes, with gcc and Python.h",
			    kernels, tritons, e->torch.triton);
			return;
		}
		finding_add(out, FINDING_GOOD, "fla.found", "/var/lib/dpkg/status",
		    "flash-linear-attention %s with prebuilt kernels", deb->version);
		return;
	}
	if (pip && !offer) {
		finding_add(out, FINDING_GOOD, "fla.found", pip->site,
		    "flash-linear-attention %s from pip: its kernels are compiled at the first "
		    "call",
		    pip->version);
		return;
	}
	if (m->must_install && m->install && str_starts(m->install, META))
		return; /* that brings it */
	if (deb && !offer) {
		finding_add(out, FINDING_GOOD, "fla.found", "/var/lib/dpkg/status",
		    "flash-linear-attention %s: its kernels are compiled at the first call",
		    deb->version);
		return;
	}
	finding_add(out, pip || deb || !offer ? FINDING_WARNING : missing, "fla.missing",
	    "/var/lib/dpkg/status",
	    deb || pip ? "flash-linear-attention is here without its prebuilt kernels: the first "
			 "call compiles for minutes, with gcc and Python.h"
		       : "flash-linear-attention is not here, and transformers' fast path for "
			 "gated delta networks needs it too");
	if (offer) {
		want(m, e->torch.cuda, kernels);
		type_install(m, out);
	} else if (knows_repository(m) && strcmp(e->kind, "system") != 0) {
		finding_type(
		    out, FINDING_HERE, "%s flash-linear-attention", machine_pip(m, e, "install"));
	}
}

void check_packages(
    struct machine *m, const struct pyenv *e, enum finding_grade missing, struct findings *out)
{
	check_conv(m, e, missing, out);
	check_fla(m, e, missing, out);
}
