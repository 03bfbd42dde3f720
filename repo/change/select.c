#include "select.h"

#include <fnmatch.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"

struct selector {
	const char *text, *name, *arch, *version; /* arch, version: NULL for any */
	bool matched;
};

int select_parse(struct arena *a, const struct strv *names, struct selection *out, struct err *err)
{
	*out = (struct selection){.v = arena_alloc(a, (names->n + 1) * sizeof *out->v)};
	for (size_t i = 0; i < names->n; i++) {
		char *name = arena_strdup(a, names->v[i]), *version = strchr(name, '=');
		if (version)
			*version++ = '\0';
		char *arch = strchr(name, ':');
		if (arch)
			*arch++ = '\0';
		if (!*name || (arch && !*arch) || (version && !*version))
			return err_set(
			    err, ERR_USAGE, "'%s': expected NAME[:ARCH][=VERSION]", names->v[i]);
		out->v[out->n++] = (struct selector){
		    .text = names->v[i], .name = name, .arch = arch, .version = version};
	}
	return 0;
}

bool select_names(const struct selection *s, struct strv *names)
{
	for (size_t i = 0; i < s->n; i++)
		if (strpbrk(s->v[i].name, "*?[\\"))
			return false;
	for (size_t i = 0; i < s->n; i++)
		if (!strv_has(names, s->v[i].name))
			strv_add(names, s->v[i].name);
	return s->n > 0;
}

bool select_matches(struct selection *s, const char *name, const char *version, const char *arch)
{
	bool any = s->n == 0;
	for (size_t i = 0; i < s->n; i++) {
		struct selector *x = &s->v[i];
		if (fnmatch(x->name, name, 0) || (x->arch && strcmp(x->arch, arch)) ||
		    (x->version && strcmp(x->version, version)))
			continue;
		x->matched = true;
		any = true;
	}
	return any;
}

int select_check_all_matched(const struct selection *s, const char *where, struct err *err)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->v[i].matched)
			return err_set(err, ERR_USAGE,
			    "suite '%s' lists no package '%s'; nothing was changed", where,
			    s->v[i].text);
	return 0;
}
