#include "aptpackages.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/stanza.h"
#include "../../lib/deb/version.h"
#include "../wheel/pyindex_int.h"

#define SIZE_LIMIT (1ULL << 40)

/* What an address may hold without quoting; in a name of several parts also '/'. */
static bool is_plain(const char *file)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-+._~/";
	return file[strspn(file, plain)] == '\0' && path_is_safe_member(file);
}

static const char *field(const struct stanza *s, const char *name)
{
	const char *v = stanza_get(s, name);
	return v ? v : "";
}

/* Continuation lines of a relation field are white space. */
static const char *relations(struct arena *a, const struct stanza *s)
{
	const char *pre = field(s, "Pre-Depends"), *depends = field(s, "Depends");
	char *text = arena_printf(a, "%s%s%s", pre, *pre && *depends ? ", " : "", depends);
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return text;
}

/* Fills p as far as the stanza goes; the first thing that is wrong, or NULL. */
static const char *fill(struct arena *a, const struct stanza *s, struct apt_package *p)
{
	struct err err = {0};
	unsigned long long size = 0, kib = 0;
	p->version = field(s, "Version");
	p->file = field(s, "Filename");
	if (str_starts(p->file, "./"))
		p->file += 2;
	p->depends = relations(a, s);
	if (version_check_package(p->name, &err) < 0 || version_check(p->version, &err) < 0)
		return arena_strdup(a, err.msg);
	if (!is_plain(p->file))
		return arena_printf(
		    a, "its Filename is '%s', which is no name inside the repository", p->file);
	if (str_parse_u64(field(s, "Size"), SIZE_LIMIT, &size) < 0 || size == 0)
		return arena_printf(a, "its Size is '%s'", field(s, "Size"));
	if (!index_take_sha256(field(s, "SHA256"), p->sha256))
		return "it has no SHA256";
	p->size = size;
	if (str_parse_u64(field(s, "Installed-Size"), SIZE_LIMIT >> 10, &kib) == 0)
		p->installed = (uint64_t)kib << 10;
	return NULL;
}

/* "Package: NAME" at the head of a text that does not parse. */
static const char *name_in(struct arena *a, const char *text, size_t len)
{
	static const char prefix[] = "Package: ";
	size_t n = strlen(prefix);
	if (len <= n || strncmp(text, prefix, n) != 0)
		return NULL;
	const char *end = memchr(text + n, '\n', len - n);
	return arena_strndup(a, text + n, end ? (size_t)(end - text) - n : len - n);
}

static void add(struct arena *a, const char *text, size_t len, const char *arch,
    struct apt_packages *out, size_t *cap)
{
	struct stanza_list list = {0};
	struct err err = {0};
	struct apt_package p = {0};
	if (stanza_parse(a, text, len, "Packages", STANZA_ONE, &list, &err) < 0) {
		p.name = name_in(a, text, len);
		p.version = p.arch = p.file = p.depends = "";
		p.fault = arena_strdup(a, err.msg);
	} else {
		p.name = stanza_get(&list.v[0], "Package");
		p.arch = field(&list.v[0], "Architecture");
		if (strcmp(p.arch, arch) != 0 && strcmp(p.arch, "all") != 0)
			return;
		p.fault = p.name ? fill(a, &list.v[0], &p) : NULL;
	}
	if (!p.name)
		return;
	if (out->n == *cap) {
		*cap = *cap ? *cap * 2 : 64;
		struct apt_package *v = arena_alloc(a, *cap * sizeof *v);
		if (out->n)
			memcpy(v, out->v, out->n * sizeof *v);
		out->v = v;
	}
	out->v[out->n++] = p;
}

/* The bytes of the stanza at text, with its last newline. */
static size_t stanza_length(const char *text, size_t len)
{
	size_t at = 0;
	while (at < len) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t next = end ? (size_t)(end - text) + 1 : len;
		size_t blank = strspn(text + at, " \t");
		if (at + blank >= len || text[at + blank] == '\n')
			break;
		at = next;
	}
	return at;
}

void aptpackages_parse(
    struct arena *a, const char *text, size_t len, const char *arch, struct apt_packages *out)
{
	size_t cap = 0;
	*out = (struct apt_packages){0};
	for (size_t at = 0; at < len;) {
		size_t n = stanza_length(text + at, len - at);
		if (n) {
			add(a, text + at, n, arch, out, &cap);
			at += n;
			continue;
		}
		const char *end = memchr(text + at, '\n', len - at);
		at = end ? (size_t)(end - text) + 1 : len;
	}
}
