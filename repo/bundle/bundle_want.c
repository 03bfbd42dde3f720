/* For which machine a bundle is, and what runs there. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/stanza.h"
#include "bundle.h"

#define FORM "ubuntu24.04,torch2.10,py3.12,sm_120"

static bool is_version(const char *s)
{
	return isdigit((unsigned char)*s) && !s[strspn(s, "0123456789.")];
}

/* "120" to "12.0" */
static const char *cc_of(struct arena *a, const char *sm)
{
	size_t n = strlen(sm);
	if (n < 2 || n > 3 || sm[strspn(sm, "0123456789")])
		return NULL;
	return arena_printf(a, "%.*s.%c", (int)n - 1, sm, sm[n - 1]);
}

static bool take_word(struct arena *a, const char *w, struct bundle_want *out)
{
	static const struct {
		const char *prefix, *name;
	} systems[] = {{"ubuntu", "Ubuntu"}, {"debian", "Debian"}};
	for (size_t i = 0; i < ARRAY_SIZE(systems); i++) {
		const char *version = w + strlen(systems[i].prefix);
		if (!str_starts(w, systems[i].prefix) || !is_version(version))
			continue;
		out->system = arena_printf(a, "%s %s", systems[i].name, version);
		return true;
	}
	if (str_starts(w, "torch") && is_version(w + 5) && strchr(w, '.'))
		out->torch = arena_strdup(a, w + 5);
	else if (str_starts(w, "py") && is_version(w + 2) && strchr(w, '.'))
		out->python = arena_strdup(a, w + 2);
	else if (str_starts(w, "sm_"))
		return (out->cc = cc_of(a, w + 3)) != NULL;
	else
		return false;
	return true;
}

int bundle_parse(struct arena *a, const char *text, struct bundle_want *out, struct err *err)
{
	_cleanup_(strv_done) struct strv words = STRV_INIT;
	*out = (struct bundle_want){0};
	strv_split(&words, text, ", ");
	for (size_t i = 0; i < words.n; i++)
		if (!take_word(a, words.v[i], out))
			return err_set(err, ERR_USAGE,
			    "'%s' is no system, torch, Python or GPU; the form is " FORM,
			    words.v[i]);
	if (!out->system || !out->torch || !out->python || !out->cc)
		return err_set(err, ERR_USAGE,
		    "'%s' does not name a system, a torch, a Python and a GPU; the form is " FORM,
		    text);
	return 0;
}

/* "cu128" of "12.8" */
static const char *flavour_of(struct arena *a, const char *cuda)
{
	const char *dot = strchrnul(cuda, '.');
	return arena_printf(a, "cu%.*s%s", (int)(dot - cuda), cuda, *dot ? dot + 1 : dot);
}

int bundle_read_tritons(
    struct arena *a, const char *templates, struct bundle_want *w, struct err *err)
{
	const char *path = arena_printf(a, "%s/matrix", templates);
	const char *prefix = arena_printf(a, "%s.", w->torch);
	struct stanza_list list = {0};
	if (stanza_parse_file(a, path, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	w->tritons = arena_alloc(a, (list.n + 1) * sizeof *w->tritons);
	for (size_t i = 0; i < list.n; i++) {
		const char *torch = stanza_get(&list.v[i], "Torch");
		const char *cuda = stanza_get(&list.v[i], "Cuda");
		const char *triton = stanza_get(&list.v[i], "Triton");
		if (torch && cuda && triton && str_starts(torch, prefix))
			w->tritons[w->n_tritons++] =
			    (struct bundle_triton){flavour_of(a, cuda), triton};
	}
	return 0;
}

bool bundle_runs_on(const char *archs, const char *cc)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	unsigned major, minor, have_major, have_minor;
	char rest[8] = "";
	if (sscanf(cc, "%u.%u", &major, &minor) != 2)
		return false;
	strv_split(&v, archs, " ");
	for (size_t i = 0; i < v.n; i++) {
		*rest = '\0';
		if (sscanf(v.v[i], "%u.%u%7s", &have_major, &have_minor, rest) < 2)
			continue;
		bool older = have_major < major || (have_major == major && have_minor <= minor);
		if (older && (have_major == major || !strcmp(rest, "+PTX")) &&
		    (!*rest || !strcmp(rest, "+PTX")))
			return true;
	}
	return false;
}
