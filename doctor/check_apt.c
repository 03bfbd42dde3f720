/* apt: our source and its key, NVIDIA's, and whether what is to be installed can be had. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "../lib/base/clock.h"
#include "../lib/base/err.h"
#include "../lib/deb/version.h"
#include "../lib/sign/rotate.h"
#include "machine.h"
#include "probe.h"

#define OWN_FILE	"/etc/apt/sources.list.d/debkit.sources"
#define KEY_MAX		((size_t)1 << 20)
#define KEYRING_PACKAGE "debkit-archive-keyring"
#define NVIDIA_HOST	"developer.download.nvidia.com"

/* The name of the list that apt makes of a source's Release begins so (URItoFileName). */
static const char *list_prefix(struct machine *m, const char *uri)
{
	static const char quoted[] = "\\|{}[]<>\"^~_=!@#$%&*";
	const char *s = strstr(uri, "://");
	_cleanup_(buf_done) struct buf out = BUF_INIT(4096);
	s = s ? s + 3 : uri;
	if (strchr(s, '@') && strchr(s, '@') < strchrnul(s, '/'))
		s = strchr(s, '@') + 1;
	for (; *s; s++) {
		if (*s == '/')
			buf_putc(&out, '_');
		else if (strchr(quoted, *s))
			buf_printf(&out, "%%%02x", (unsigned)(unsigned char)*s);
		else
			buf_putc(&out, *s);
	}
	while (out.len && out.data[out.len - 1] == '_')
		buf_truncate(&out, out.len - 1);
	return arena_strdup(m->p->a, buf_str(&out));
}

/* Behind the prefix comes "_dists_SUITE_...", or of a flat repository "_..." without that. */
static bool is_list_of(const char *list, const char *prefix)
{
	static const char dists[] = "_dists_";
	if (!str_starts(list, prefix))
		return false;
	const char *rest = list + strlen(prefix);
	return str_starts(rest, dists) || (*rest == '_' && !strstr(rest, dists));
}

static const struct deb_release *release_of(struct machine *m, const struct apt_source *s)
{
	const char *prefix = list_prefix(m, s->uri);
	for (size_t i = 0; i < m->debs.n_releases; i++)
		if (is_list_of(m->debs.releases[i].list, prefix))
			return &m->debs.releases[i];
	return NULL;
}

static bool is_own(struct machine *m, const struct apt_source *s)
{
	const struct deb_release *r = release_of(m, s);
	return (r && !strcmp(r->origin, "debkit")) || !strcmp(s->file, OWN_FILE) ||
	       (m->repo_url && aptsrc_same_uri(s->uri, m->repo_url));
}

static void type_fetch_source(struct machine *m, struct findings *out)
{
	if (m->repo_url)
		finding_type(out, FINDING_HERE,
		    "%s/usr/lib/apt/apt-helper download-file %s/debkit.sources " OWN_FILE
		    " && %sapt-get update",
		    m->sudo, machine_quote(m, m->repo_url), m->sudo);
}

/* Apt reads nothing from a source that is out of the way. */
static void type_disable(struct machine *m, const struct apt_source *s, struct findings *out)
{
	const char *file = machine_quote(m, s->file);
	if (str_ends(s->file, ".sources"))
		finding_type(out, FINDING_HERE, "%smv %s %s.off && %sapt-get update", m->sudo, file,
		    file, m->sudo);
	else
		finding_type(out, FINDING_HERE, "%ssed -i '%us/^/# /' %s && %sapt-get update",
		    m->sudo, s->line, file, m->sudo);
}

/* apt asks sqv, with its stricter policy, since 2.9.19 and where it is installed. */
static bool has_sqv(struct machine *m)
{
	const struct deb_pkg *apt = debs_installed(&m->debs, "apt");
	return apt && version_compare(apt->version, "2.9.19") >= 0 &&
	       probe_is_file(m->p, "/usr/bin/sqv");
}

/* Why no key of these can be used, or NULL. */
static const char *judge_keys(struct machine *m, const struct apt_key *v, size_t n)
{
	const char *why = NULL;
	for (size_t i = 0; i < n; i++) {
		if (v[i].revoked)
			why = arena_printf(m->p->a, "key %s is revoked", v[i].fpr);
		else if (v[i].expires && v[i].expires < clock_now())
			why = arena_printf(m->p->a, "key %s expired on %s", v[i].fpr,
			    aptkey_date(m->p->a, v[i].expires));
		else if (v[i].weak && has_sqv(m))
			why = arena_printf(
			    m->p->a, "apt 3 refuses key %s: %s is too weak", v[i].fpr, v[i].weak);
		else if (v[i].sha1 && has_sqv(m))
			why = arena_printf(m->p->a,
			    "apt 3 refuses key %s: its name is bound to it by SHA-1", v[i].fpr);
		else
			return NULL;
	}
	return why;
}

/* The keys of a file, or why there are none, or NULL. */
static const char *read_file(struct machine *m, const char *name, struct apt_key **keys, size_t *n)
{
	_cleanup_(buf_done) struct buf bytes = BUF_INIT(KEY_MAX);
	struct err err = {0};
	*n = 0;
	if (*name != '/')
		return NULL; /* a fingerprint: in which of the trusted keyrings is apt's matter */
	if (probe_read(m->p, name, &bytes) < 0)
		return arena_printf(
		    m->p->a, "its key file '%s' cannot be read: %s", name, strerror(errno));
	if (aptkey_parse(m->p->a, buf_str(&bytes), bytes.len, keys, n, &err) < 0)
		return arena_printf(m->p->a, "its key file '%s' holds no key: %s", name, err.msg);
	return NULL;
}

/* The next of a source's keys: each call gives those of one file, or all that stand in the source.
 * NULL and no keys at the end. */
static const char *next_keys(struct machine *m, const struct apt_source *s, size_t *at,
    struct apt_key **keys, size_t *n, bool *more)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	*n = 0;
	*more = false;
	if (!s->signed_by)
		return NULL;
	if (strstr(s->signed_by, "-----BEGIN")) {
		*more = (*at)++ == 0;
		return *more && aptkey_parse(
				    m->p->a, s->signed_by, strlen(s->signed_by), keys, n, NULL) < 0
			   ? "the key in its Signed-By cannot be read"
			   : NULL;
	}
	strv_split(&names, s->signed_by, ", \t\n");
	*more = *at < names.n;
	return *more ? read_file(m, arena_strdup(m->p->a, names.v[(*at)++]), keys, n) : NULL;
}

/* Why Signed-By of a source makes apt refuse it, or NULL. */
static const char *judge_source(struct machine *m, const struct apt_source *s)
{
	struct apt_key *keys;
	const char *why = NULL;
	bool more = true;
	for (size_t at = 0, n; more && !s->trusted;) {
		const char *one = next_keys(m, s, &at, &keys, &n, &more);
		if (more && !one)
			one = judge_keys(m, keys, n);
		if (more && !one)
			return NULL;
		why = more ? one : why;
	}
	return why;
}

static void type_fetch_key(struct machine *m, struct findings *out)
{
	if (debs_installed(&m->debs, KEYRING_PACKAGE))
		finding_type(out, FINDING_HERE,
		    "%sapt-get update && %sapt-get install -y --only-upgrade " KEYRING_PACKAGE,
		    m->sudo, m->sudo);
	else
		type_fetch_source(m, out);
}

/* Keys follow each other: only when the last one ends soon has this machine missed the next. */
static void check_key_end(struct machine *m, const struct apt_source *s, struct findings *out)
{
	const struct apt_key *last = NULL;
	struct apt_key *keys;
	bool more = true;
	time_t now = clock_now();
	for (size_t at = 0, n; more && !s->trusted;) {
		(void)next_keys(m, s, &at, &keys, &n, &more);
		for (size_t i = 0; i < n; i++)
			if (!keys[i].revoked &&
			    (!last || !keys[i].signs_until ||
				(last->signs_until && keys[i].signs_until > last->signs_until)))
				last = &keys[i];
	}
	if (!last || !last->signs_until ||
	    last->signs_until > now + (time_t)ROTATE_WARN_DAYS * 86400)
		return;
	long days = (long)((last->signs_until - now) / 86400);
	const char *date = aptkey_date(m->p->a, last->signs_until);
	if (last->signs_until <= now)
		finding_add(out, FINDING_WARNING, "apt.key-end", s->file,
		    "key %s of the source in '%s' signs no more since %s, and this machine has "
		    "none that follows",
		    last->fpr, s->file, date);
	else
		finding_add(out, FINDING_WARNING, "apt.key-end", s->file,
		    "key %s of the source in '%s' ends on %s, in %ld day%s, and this machine has "
		    "none that follows",
		    last->fpr, s->file, date, days, days == 1 ? "" : "s");
	type_fetch_key(m, out);
}

/* "debian12" of NVIDIA's ".../cuda/repos/debian12/x86_64/", in the arena; NULL for others. */
static const char *nvidia_suite(struct machine *m, const char *uri)
{
	static const char mark[] = "/cuda/repos/";
	const char *at = strstr(uri, NVIDIA_HOST) ? strstr(uri, mark) : NULL;
	return at ? arena_strndup(m->p->a, at + strlen(mark), strcspn(at + strlen(mark), "/"))
		  : NULL;
}

static void check_nvidia_suite(struct machine *m, const struct apt_source *s, struct findings *out)
{
	const char *suite = nvidia_suite(m, s->uri);
	const char *own = arena_printf(m->p->a, "%s%s", m->os.id, m->os.version);
	char *to = arena_strdup(m->p->a, own);
	const char *clean = to;
	for (const char *c = own; *c; c++)
		if (*c != '.')
			*to++ = *c;
	*to = '\0';
	if (!suite || !strcmp(suite, clean) ||
	    (strcmp(m->os.id, "debian") != 0 && strcmp(m->os.id, "ubuntu") != 0))
		return;
	finding_add(out, FINDING_WARNING, "apt.suite", s->file,
	    "NVIDIA's source in '%s' is for %s, and this is %s", s->file, suite, m->os.pretty);
	type_disable(m, s, out);
}

static bool same_key(const struct apt_source *a, const struct apt_source *b)
{
	const char *x = a->signed_by ? a->signed_by : "", *y = b->signed_by ? b->signed_by : "";
	x += strspn(x, " \n");
	y += strspn(y, " \n");
	return !strcmp(x, y);
}

static void check_conflicts(struct machine *m, struct findings *out)
{
	for (size_t i = 0; i < m->sources.n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct apt_source *a = &m->sources.v[k], *b = &m->sources.v[i];
			if (!aptsrc_same_uri(a->uri, b->uri) || strcmp(a->suite, b->suite) != 0 ||
			    same_key(a, b))
				continue;
			/* The one whose key cannot be used goes, else the later one. */
			const struct apt_source *off =
			    judge_source(m, a) && !judge_source(m, b) ? a : b;
			finding_add(out, FINDING_BAD, "apt.conflict", off->file,
			    "'%s' and '%s' name %s with different Signed-By: apt refuses to run",
			    a->file, b->file, a->uri);
			type_disable(m, off, out);
			return;
		}
}

static void check_source(struct machine *m, const struct apt_source *s, struct findings *out)
{
	const char *why = judge_source(m, s);
	bool own = is_own(m, s);
	if (why) {
		finding_add(out, FINDING_BAD, "apt.key", s->file,
		    "apt refuses the source in '%s': %s%s", s->file, why,
		    own ? "" : "; the packages do not need it");
		if (own)
			type_fetch_source(m, out);
		else
			type_disable(m, s, out);
	} else if (own) {
		finding_add(
		    out, FINDING_GOOD, "apt.source", s->file, "'%s' names %s", s->file, s->uri);
		check_key_end(m, s, out);
	}
	check_nvidia_suite(m, s, out);
}

static void check_own_list(struct machine *m, const struct apt_source *s, struct findings *out)
{
	const struct deb_release *r = release_of(m, s);
	time_t until;
	if (!r && m->must_install) {
		finding_add(out, FINDING_BAD, "apt.update", "/var/lib/apt/lists",
		    "apt has not yet read %s", s->uri);
		finding_type(out, FINDING_HERE, "%sapt-get update", m->sudo);
	} else if (r && r->valid_until && clock_parse_release(r->valid_until, &until) == 0 &&
		   until < clock_now()) {
		finding_add(out, FINDING_WARNING, "apt.old", r->list,
		    "what apt knows of %s was valid until %s", s->uri, r->valid_until);
		finding_type(out, FINDING_HERE, "%sapt-get update", m->sudo);
	}
}

static void check_runtime(struct machine *m, struct findings *out)
{
	const char *name = machine_runtime(m, m->cuda);
	const struct deb_pkg *have = debs_provider(&m->debs, name, true);
	const struct deb_pkg *offer = have ? NULL : debs_provider(&m->debs, name, false);
	if (have)
		finding_add(out, FINDING_GOOD, "apt.cudart", "/var/lib/dpkg/status",
		    "%s: %s %s is installed", name, have->name, have->version);
	else if (offer)
		finding_add(out, FINDING_GOOD, "apt.cudart", "/var/lib/apt/lists",
		    "%s: %s %s, on offer from %s", name, offer->name, offer->version,
		    offer->origin);
	else if (m->debs.n_releases && debs_candidate(&m->debs, m->install ? m->install : ""))
		finding_add(out, FINDING_BAD, "apt.cudart", "/var/lib/apt/lists",
		    "no source of apt has %s, nor a package that provides it", name);
}

static void no_source(struct machine *m, struct findings *out)
{
	finding_add(out, FINDING_BAD, "apt.source", "/etc/apt",
	    "no source of apt names the repository%s%s", m->repo_url ? " " : "",
	    m->repo_url ? m->repo_url : " of debkit");
	type_fetch_source(m, out);
}

/* What keeps apt from working comes before what it shall install. */
static void move_up(struct findings *out, size_t first)
{
	for (size_t i = first, to = 0; i < out->n; i++) {
		struct finding x = out->v[i];
		if (x.grade != FINDING_BAD)
			continue;
		memmove(out->v + to + 1, out->v + to, (i - to) * sizeof *out->v);
		out->v[to++] = x;
	}
}

void check_apt(struct machine *m, struct findings *out)
{
	bool own = false;
	size_t before = out->n;
	for (size_t i = 0; i < m->sources.n_damaged; i++)
		finding_add(out, FINDING_BAD, "apt.damaged", "/etc/apt",
		    "a source of apt cannot be read: %s", m->sources.damaged[i]);
	for (size_t i = 0; i < m->debs.n_damaged; i++)
		finding_add(out, FINDING_WARNING, "apt.damaged", "/var/lib",
		    "the state of packages cannot be read wholly: %s", m->debs.damaged[i]);
	check_conflicts(m, out);
	for (size_t i = 0; i < m->sources.n; i++) {
		const struct apt_source *s = &m->sources.v[i];
		bool again = i && !strcmp(s->file, s[-1].file) && s->line == s[-1].line;
		if (again)
			continue;
		check_source(m, s, out);
		if (is_own(m, s)) {
			own = true;
			check_own_list(m, s, out);
		}
	}
	if (m->cuda)
		check_runtime(m, out);
	if (!own && m->must_install && !debs_candidate(&m->debs, m->install))
		no_source(m, out);
	move_up(out, before);
}
