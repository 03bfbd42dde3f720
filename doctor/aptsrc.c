#include "aptsrc.h"

#include <errno.h>
#include <string.h>

#include "../lib/base/err.h"
#include "../lib/deb/stanza.h"
#include "probe.h"

#define FILE_MAX    ((size_t)1 << 20)
#define DAMAGED_MAX 16

static void add(struct arena *a, struct apt_sources *out, const struct apt_source *s)
{
	if (out->n == out->cap) {
		struct apt_source *old = out->v;
		out->cap = out->cap ? 2 * out->cap : 16;
		out->v = arena_alloc(a, out->cap * sizeof *out->v);
		if (out->n)
			memcpy(out->v, old, out->n * sizeof *out->v);
	}
	out->v[out->n++] = *s;
}

static void set_option(struct arena *a, const char *option, struct apt_source *s)
{
	if (str_starts(option, "signed-by="))
		s->signed_by = arena_strdup(a, option + strlen("signed-by="));
	else if (!strcmp(option, "trusted=yes"))
		s->trusted = true;
}

/* "deb [option...] URI SUITE COMPONENT..." after the type. */
static int parse_entry(struct arena *a, char *s, struct apt_source *out)
{
	_cleanup_(strv_done) struct strv words = STRV_INIT;
	s += strspn(s, " \t");
	if (*s == '[') {
		char *end = strchr(s, ']');
		if (!end)
			return -1;
		*end = '\0';
		_cleanup_(strv_done) struct strv options = STRV_INIT;
		strv_split(&options, s + 1, " \t");
		for (size_t i = 0; i < options.n; i++)
			set_option(a, options.v[i], out);
		s = end + 1;
	}
	strv_split(&words, s, " \t");
	if (words.n < 2)
		return -1;
	out->uri = arena_strdup(a, words.v[0]);
	out->suite = arena_strdup(a, words.v[1]);
	return 0;
}

static int parse_lines(
    struct arena *a, const char *text, const char *file, struct apt_sources *out, struct err *err)
{
	char *copy = arena_strdup(a, text);
	unsigned n = 0;
	for (char *line; (line = probe_line(&copy));) {
		n++;
		line[strcspn(line, "#")] = '\0';
		line += strspn(line, " \t");
		struct apt_source s = {.file = file, .line = n};
		if (!*line || str_starts(line, "deb-src"))
			continue;
		if (!str_starts(line, "deb") || !strchr(" \t[", line[3]) || !line[3] ||
		    parse_entry(a, line + 3, &s) < 0)
			return err_set(err, ERR_FORMAT,
			    "%s:%u: expected 'deb [options] URI SUITE COMPONENT'", file, n);
		add(a, out, &s);
	}
	return 0;
}

static bool has_word(const char *list, const char *word)
{
	_cleanup_(strv_done) struct strv words = STRV_INIT;
	strv_split(&words, list, " \t\n");
	return strv_has(&words, word);
}

static void add_stanza(
    struct arena *a, const struct stanza *s, const char *file, struct apt_sources *out)
{
	const char *types = stanza_get(s, "Types"), *enabled = stanza_get(s, "Enabled");
	const char *uris = stanza_get(s, "URIs"), *suites = stanza_get(s, "Suites");
	const char *trusted = stanza_get(s, "Trusted");
	_cleanup_(strv_done) struct strv u = STRV_INIT, v = STRV_INIT;
	if (!types || !uris || !suites || !has_word(types, "deb") ||
	    (enabled && (!strcasecmp(enabled, "no") || !strcasecmp(enabled, "false"))))
		return;
	strv_split(&u, uris, " \t\n");
	strv_split(&v, suites, " \t\n");
	for (size_t i = 0; i < u.n; i++)
		for (size_t k = 0; k < v.n && out->n < 1024; k++)
			add(a, out,
			    &(struct apt_source){.file = file,
				.line = s->line,
				.uri = arena_strdup(a, u.v[i]),
				.suite = arena_strdup(a, v.v[k]),
				.signed_by = stanza_get(s, "Signed-By"),
				.trusted = trusted && !strcasecmp(trusted, "yes")});
}

int aptsrc_parse(struct arena *a, const char *text, const char *file, bool deb822,
    struct apt_sources *out, struct err *err)
{
	struct stanza_list list = {0};
	if (!deb822)
		return parse_lines(a, text, file, out, err);
	if (stanza_parse(a, text, strlen(text), file, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++)
		add_stanza(a, &list.v[i], file, out);
	return 0;
}

static void damaged(struct probe *p, struct apt_sources *out, const char *sentence)
{
	if (!out->damaged)
		out->damaged = arena_alloc(p->a, DAMAGED_MAX * sizeof *out->damaged);
	if (out->n_damaged < DAMAGED_MAX)
		out->damaged[out->n_damaged++] = sentence;
}

static void read_file(struct probe *p, const char *name, bool deb822, struct apt_sources *out)
{
	struct err err = {0};
	const char *text = probe_text(p, name, FILE_MAX);
	if (text && aptsrc_parse(p->a, text, name, deb822, out, &err) < 0)
		damaged(p, out, arena_strdup(p->a, err.msg));
	else if (!text && errno != ENOENT)
		damaged(p, out, arena_printf(p->a, "'%s': %s", name, strerror(errno)));
}

void aptsrc_read(struct probe *p, struct apt_sources *out)
{
	static const char dir[] = "/etc/apt/sources.list.d";
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	*out = (struct apt_sources){0};
	read_file(p, "/etc/apt/sources.list", false, out);
	if (probe_list(p, dir, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		bool deb822 = str_ends(names.v[i], ".sources");
		if (deb822 || str_ends(names.v[i], ".list"))
			read_file(p, arena_printf(p->a, "%s/%s", dir, names.v[i]), deb822, out);
	}
}

bool aptsrc_same_uri(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	while (n && a[n - 1] == '/')
		n--;
	while (m && b[m - 1] == '/')
		m--;
	return n == m && !memcmp(a, b, n);
}
