/* Installed versions that their repository took back, by the Release files that apt has. */
#include <string.h>

#include "../lib/deb/version.h"
#include "machine.h"
#include "probe.h"

static const char *source_of(const struct deb_pkg *pkg)
{
	const char *source = debs_field(pkg, "Source");
	return *source ? source : pkg->name;
}

static bool is_offered(struct machine *m, const char *name, const char *version)
{
	for (size_t i = 0; i < m->debs.n; i++)
		if (m->debs.v[i].host && !strcmp(m->debs.v[i].name, name) &&
		    !strcmp(m->debs.v[i].version, version))
			return true;
	return false;
}

/* An older version, with what was built with it: they depend on each other's exact version. */
static const char *older_words(
    struct machine *m, const struct deb_pkg *pkg, const struct deb_pkg *offer)
{
	const char *words = "";
	for (size_t i = 0; i < m->debs.n; i++) {
		const struct deb_pkg *p = &m->debs.v[i];
		if (!p->host && !strcmp(p->version, pkg->version) &&
		    !strcmp(source_of(p), source_of(pkg)) && is_offered(m, p->name, offer->version))
			words = arena_printf(m->p->a, "%s %s=%s", words, p->name, offer->version);
	}
	return words;
}

/* Something better, or else away with it: without the package the slow path is right at least. */
static void type_replace(struct machine *m, const struct deb_pkg *pkg, struct findings *out)
{
	const struct deb_pkg *offer = debs_candidate(&m->debs, pkg->name);
	if (!offer || !version_compare(offer->version, pkg->version))
		finding_type(out, FINDING_HERE, "%sapt-get remove -y %s", m->sudo, pkg->name);
	else if (version_compare(offer->version, pkg->version) > 0)
		finding_type(out, FINDING_HERE, "%sapt-get install -y --only-upgrade %s", m->sudo,
		    pkg->name);
	else
		finding_type(out, FINDING_HERE, "%sapt-get install -y --allow-downgrades%s",
		    m->sudo, older_words(m, pkg, offer));
}

void check_withdrawn(struct machine *m, struct findings *out)
{
	for (size_t i = 0; i < m->debs.n; i++) {
		const struct deb_pkg *pkg = &m->debs.v[i];
		const struct deb_release *r = NULL;
		const struct deb_withdrawn *w =
		    pkg->host ? NULL : debs_withdrawn(&m->debs, pkg->name, pkg->version, &r);
		if (!w)
			continue;
		finding_add(out, FINDING_BAD, "packages.withdrawn", r->list,
		    "%s %s is installed, and its repository withdrew it: %s", pkg->name,
		    pkg->version, *w->reason ? w->reason : "no reason given");
		type_replace(m, pkg, out);
	}
}
