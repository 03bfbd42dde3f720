#include "debs.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "../lib/base/err.h"
#include "../lib/base/xalloc.h"
#include "../lib/deb/deb_list.h"
#include "../lib/deb/relation.h"
#include "../lib/deb/stanza.h"
#include "../lib/deb/version.h"
#include "probe.h"

#define STATUS	      "/var/lib/dpkg/status"
#define LISTS	      "/var/lib/apt/lists"
#define LIST_MAX      ((size_t)64 << 20)
#define RELEASE_MAX   ((size_t)4 << 20)
#define RELEASES_MAX  256
#define DAMAGED_MAX   16
#define WITHDRAWN_MAX 4096

bool debs_wants(const char *name, size_t len)
{
	static const char *const whole[] = {"libc6", "apt"};
	static const char *const prefixes[] = {"debkit", "python3-causal-conv1d",
	    "python3-flash-linear-attention", "python3-gated-deltanet", "cuda-cudart-"};
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		if (strlen(whole[i]) == len && !memcmp(name, whole[i], len))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (len >= strlen(prefixes[i]) && !memcmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static void add(struct arena *a, const struct stanza *s, struct debs *out)
{
	const char *name = stanza_get(s, "Package"), *version = stanza_get(s, "Version");
	const char *status = stanza_get(s, "Status");
	if (!name || !version || version_check(version, NULL) < 0)
		return;
	if (status && (str_ends(status, " not-installed") || str_ends(status, " config-files")))
		return;
	if (out->n == out->cap) {
		struct deb_pkg *old = out->v;
		out->cap = out->cap ? 2 * out->cap : 16;
		out->v = arena_alloc(a, out->cap * sizeof *out->v);
		if (out->n)
			memcpy(out->v, old, out->n * sizeof *out->v);
	}
	struct stanza *kept = arena_alloc(a, sizeof *kept);
	*kept = *s;
	bool whole = status && str_ends(status, " ok installed");
	out->v[out->n++] = (struct deb_pkg){.name = name,
	    .version = version,
	    .control = kept,
	    .installed = whole,
	    .broken = status && !whole};
}

/* One stanza's text; wanted are those whose Package line says so. */
static bool is_wanted(const char *s, size_t len)
{
	static const char field[] = "Package:";
	for (const char *end = s + len; s < end;) {
		const char *eol = memchr(s, '\n', (size_t)(end - s));
		size_t n = eol ? (size_t)(eol - s) : (size_t)(end - s);
		if (n > strlen(field) && !strncasecmp(s, field, strlen(field))) {
			const char *name = s + strlen(field);
			for (n -= strlen(field); n && *name == ' '; n--)
				name++;
			return debs_wants(name, n);
		}
		s += n + 1;
	}
	return false;
}

size_t debs_parse(struct arena *a, const char *text, size_t len, struct debs *out)
{
	size_t bad = 0;
	for (const char *s = text, *end = text + len; s < end;) {
		const char *gap = memmem(s, (size_t)(end - s), "\n\n", 2);
		size_t n = gap ? (size_t)(gap - s) + 1 : (size_t)(end - s);
		struct stanza_list list = {0};
		if (is_wanted(s, n)) {
			/* A folded name is none, whatever its first line is. */
			const char *name = NULL;
			if (stanza_parse(a, s, n, "package", STANZA_ONE, &list, NULL) == 0)
				name = stanza_get(&list.v[0], "Package");
			if (name && debs_wants(name, strlen(name)))
				add(a, &list.v[0], out);
			else
				bad++;
		}
		s += n;
		while (s < end && *s == '\n')
			s++;
	}
	return bad;
}

static void damaged(struct probe *p, struct debs *out, const char *sentence)
{
	if (!out->damaged)
		out->damaged = arena_alloc(p->a, DAMAGED_MAX * sizeof *out->damaged);
	if (out->n_damaged < DAMAGED_MAX)
		out->damaged[out->n_damaged++] = sentence;
}

static void read_status(struct probe *p, struct debs *out)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(LIST_MAX);
	if (probe_read(p, STATUS, &text) < 0) {
		if (errno != ENOENT)
			damaged(p, out, arena_printf(p->a, "'" STATUS "': %s", strerror(errno)));
		return;
	}
	out->dpkg = true;
	if (debs_parse(p->a, buf_str(&text), text.len, out))
		damaged(p, out, "'" STATUS "': a stanza does not parse");
}

/* "NAME VERSION REASON"; those of packages that matter are kept. */
static void add_withdrawn(struct probe *p, char *line, struct deb_release *r)
{
	struct deb_withdrawn w = {.name = str_trim(line)};
	char *version = strchr(w.name, ' ');
	if (!version || r->n_withdrawn == WITHDRAWN_MAX ||
	    !debs_wants(w.name, (size_t)(version - w.name)))
		return;
	*version++ = '\0';
	char *reason = strchrnul(version, ' ');
	if (*reason)
		*reason++ = '\0';
	w.version = version;
	w.reason = reason;
	if (!r->withdrawn)
		r->withdrawn = arena_alloc(p->a, WITHDRAWN_MAX * sizeof *r->withdrawn);
	r->withdrawn[r->n_withdrawn++] = w;
}

/* The fields of a Release file, or of a clear-signed one. */
static void read_release(struct probe *p, const char *list, struct debs *out)
{
	static const char mark[] = "-----BEGIN PGP SIGNED MESSAGE-----";
	if (out->n_releases == RELEASES_MAX)
		return;
	const char *text = probe_text(p, arena_printf(p->a, LISTS "/%s", list), RELEASE_MAX);
	struct deb_release *r = &out->releases[out->n_releases];
	if (!text)
		return;
	if (str_starts(text, mark)) {
		const char *body = strstr(text, "\n\n");
		text = body ? body + 2 : text;
	}
	char *copy = arena_strdup(p->a, text);
	bool withdrawn = false;
	*r = (struct deb_release){.list = list, .origin = ""};
	for (char *line; (line = probe_line(&copy)) && !str_starts(line, "-----BEGIN");) {
		if (*line != ' ')
			withdrawn = str_starts(line, "X-Debkit-Withdrawn:");
		else if (withdrawn)
			add_withdrawn(p, line, r);
		if (str_starts(line, "Origin:"))
			r->origin = str_trim(line + strlen("Origin:"));
		else if (str_starts(line, "Valid-Until:"))
			r->valid_until = str_trim(line + strlen("Valid-Until:"));
	}
	out->n_releases++;
}

/* The Release that an index belongs to: its name is the index's, up to InRelease. */
static const struct deb_release *release_of(const struct debs *d, const char *list)
{
	const struct deb_release *best = NULL;
	size_t longest = 0;
	for (size_t i = 0; i < d->n_releases; i++) {
		const char *name = d->releases[i].list;
		size_t n =
		    strlen(name) - strlen(str_ends(name, "InRelease") ? "InRelease" : "Release");
		if (!strncmp(list, name, n) && n > longest) {
			longest = n;
			best = &d->releases[i];
		}
	}
	return best;
}

static bool is_distribution(const struct deb_release *r)
{
	return r && (str_starts(r->origin, "Debian") || str_starts(r->origin, "Ubuntu"));
}

static void read_index(struct probe *p, const char *list, struct debs *out)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(LIST_MAX);
	const struct deb_release *r = release_of(out, list);
	const char *name = arena_printf(p->a, LISTS "/%s", list);
	struct err err = {0};
	size_t first = out->n;
	if (is_distribution(r) || !probe_is_file(p, name))
		return;
	probe_note(p, name);
	if (deb_list_read(probe_path(p, name), &text, &err) < 0)
		damaged(p, out, arena_strdup(p->a, err.msg));
	else if (debs_parse(p->a, buf_str(&text), text.len, out))
		damaged(p, out, arena_printf(p->a, "'%s': a stanza does not parse", name));
	for (size_t i = first; i < out->n; i++) {
		out->v[i].origin = r && *r->origin ? r->origin : list;
		out->v[i].host = list;
		out->v[i].installed = out->v[i].broken = false;
	}
}

static bool is_index(const char *name)
{
	static const char *const ends[] = {"Packages", "Packages.gz", "Packages.xz", "Packages.lz4",
	    "Packages.zst", "Packages.bz2"};
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (str_ends(name, ends[i]))
			return true;
	return false;
}

static void read_lists(struct probe *p, struct debs *out)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (probe_list(p, LISTS, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++)
		if (str_ends(names.v[i], "Release"))
			read_release(p, arena_strdup(p->a, names.v[i]), out);
	for (size_t i = 0; i < names.n; i++)
		if (is_index(names.v[i]))
			read_index(p, arena_strdup(p->a, names.v[i]), out);
}

/*
 * Pin: origin "HOST" (apt_preferences(5)): of that host alone, or all where it is empty. list is
 * the name of a list, which begins with the host, and perhaps a port, up to the first '_'.
 */
static bool pin_is_of_site(const char *origin, const char *list)
{
	_free_ char *word = xstrdup(origin);
	_free_ char *site = xstrndup(list, strcspn(list, "_"));
	char *name = str_trim(word);
	if (*name == '"')
		*strchrnul(++name, '"') = '\0';
	if (!*name || fnmatch(name, site, 0) == 0)
		return true;
	site[strcspn(site, ":")] = '\0';
	return fnmatch(name, site, 0) == 0;
}

/* apt_preferences(5), as far as it can forbid: a negative priority for a package of an origin. */
static bool pin_covers(const struct stanza *s, const struct deb_pkg *pkg)
{
	const char *names = stanza_get(s, "Package"), *pin = stanza_get(s, "Pin");
	_cleanup_(strv_done) struct strv patterns = STRV_INIT;
	bool named = false;
	if (!names || !pin)
		return false;
	strv_split(&patterns, names, " \t\n");
	for (size_t i = 0; i < patterns.n; i++)
		named |= fnmatch(patterns.v[i], pkg->name, 0) == 0;
	if (!named)
		return false;
	if (str_starts(pin, "origin"))
		return pin_is_of_site(pin + strlen("origin"), pkg->host);
	if (str_starts(pin, "version"))
		return fnmatch(pin + strlen("version") + strspn(pin + strlen("version"), " "),
			   pkg->version, 0) == 0;
	const char *o = strstr(pin, "o=");
	return !o || (!strncmp(o + 2, pkg->origin, strcspn(o + 2, ",\n")) &&
			 strlen(pkg->origin) == strcspn(o + 2, ",\n"));
}

static void read_pins(struct probe *p, const char *name, struct debs *out)
{
	struct stanza_list list = {0};
	const char *text = probe_text(p, name, RELEASE_MAX);
	if (!text || stanza_parse(p->a, text, strlen(text), name, STANZA_COMMENTS, &list, NULL) < 0)
		return;
	for (size_t i = 0; i < list.n; i++) {
		const char *priority = stanza_get(&list.v[i], "Pin-Priority");
		for (size_t k = 0; priority && *priority == '-' && k < out->n; k++)
			if (out->v[k].host && pin_covers(&list.v[i], &out->v[k]))
				out->v[k].pinned = arena_strdup(p->a, name);
	}
}

static void read_all_pins(struct probe *p, struct debs *out)
{
	static const char dir[] = "/etc/apt/preferences.d";
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	read_pins(p, "/etc/apt/preferences", out);
	if (probe_list(p, dir, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++)
		if (str_ends(names.v[i], ".pref") || !strchr(names.v[i], '.'))
			read_pins(p, arena_printf(p->a, "%s/%s", dir, names.v[i]), out);
}

void debs_read(struct probe *p, struct debs *out)
{
	*out = (struct debs){0};
	out->releases = arena_alloc(p->a, RELEASES_MAX * sizeof *out->releases);
	read_status(p, out);
	read_lists(p, out);
	read_all_pins(p, out);
}

const struct deb_pkg *debs_installed(const struct debs *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (!d->v[i].host && !strcmp(d->v[i].name, name))
			return &d->v[i];
	return NULL;
}

const struct deb_withdrawn *debs_withdrawn(
    const struct debs *d, const char *name, const char *version, const struct deb_release **release)
{
	for (size_t i = 0; i < d->n_releases; i++)
		for (size_t k = 0; k < d->releases[i].n_withdrawn; k++) {
			const struct deb_withdrawn *w = &d->releases[i].withdrawn[k];
			if (strcmp(w->name, name) || version_compare(w->version, version))
				continue;
			if (release)
				*release = &d->releases[i];
			return w;
		}
	return NULL;
}

const struct deb_pkg *debs_candidate(const struct debs *d, const char *name)
{
	const struct deb_pkg *best = NULL;
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].host && !d->v[i].pinned && !strcmp(d->v[i].name, name) &&
		    !debs_withdrawn(d, name, d->v[i].version, NULL) &&
		    (!best || version_compare(d->v[i].version, best->version) > 0))
			best = &d->v[i];
	return best;
}

static bool provides(const struct deb_pkg *pkg, const char *name)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct relation_list l = {0};
	if (!strcmp(pkg->name, name))
		return true;
	if (relation_parse(&a, debs_field(pkg, "Provides"), &l, NULL) < 0)
		return false;
	for (size_t i = 0; i < l.n; i++)
		if (!strcmp(l.v[i].package, name))
			return true;
	return false;
}

const struct deb_pkg *debs_provider(const struct debs *d, const char *name, bool installed)
{
	for (size_t i = 0; i < d->n; i++)
		if (!d->v[i].host == installed && !d->v[i].pinned &&
		    (!installed || d->v[i].installed) && provides(&d->v[i], name))
			return &d->v[i];
	return NULL;
}

const char *debs_field(const struct deb_pkg *pkg, const char *name)
{
	const char *value = stanza_get(pkg->control, name);
	return value ? value : "";
}

bool debs_has_word(const char *words, const char *word)
{
	size_t n = strlen(word);
	for (const char *s = words; *s; s += strcspn(s, " ")) {
		s += strspn(s, " ");
		if (strcspn(s, " ") == n && !memcmp(s, word, n))
			return true;
	}
	return false;
}
