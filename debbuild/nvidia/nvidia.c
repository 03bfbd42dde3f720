#include "nvidia.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/stanza.h"
#include "aptsource.h"

int nvidia_check_fpr(const char *fpr, struct err *err)
{
	if (strlen(fpr) == 40 && strspn(fpr, "0123456789abcdefABCDEF") == 40)
		return 0;
	return err_set(err, ERR_USAGE, "'%s' is no full fingerprint: expected 40 hex digits", fpr);
}

static int parse(const struct stanza *s, const char *path, struct apt_source *out, struct err *err)
{
	static const char *const fields[] = {
	    "Suite", "Url", "Key", "Key-File", "Sha1-Binding", NULL};
	static const char *const needed[] = {"Suite", "Url", "Key"};
	if (stanza_check_fields(s, fields, path, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!stanza_get(s, needed[i]))
			return err_set(err, ERR_FORMAT, "%s:%u: field '%s' is missing", path,
			    s->line, needed[i]);
	const char *weak = stanza_get(s, "Sha1-Binding");
	if (weak && strcmp(weak, "yes") != 0)
		return err_set(err, ERR_FORMAT, "%s:%u: Sha1-Binding is '%s', expected yes", path,
		    stanza_find(s, "Sha1-Binding")->line, weak);
	*out = (struct apt_source){.url = stanza_get(s, "Url"),
	    .fpr = stanza_get(s, "Key"),
	    .key_file = stanza_get(s, "Key-File"),
	    .weak_binding = weak != NULL};
	if (!str_ends(out->url, "/"))
		return err_set(err, ERR_FORMAT, "%s:%u: Url is '%s', expected a '/' at its end",
		    path, stanza_find(s, "Url")->line, out->url);
	struct err why = {0};
	if (nvidia_check_fpr(out->fpr, &why) < 0)
		return err_set(
		    err, ERR_FORMAT, "%s:%u: Key: %s", path, stanza_find(s, "Key")->line, why.msg);
	return 0;
}

int nvidia_source(struct arena *a, const char *templates_dir, const char *suite,
    struct apt_source *out, struct err *err)
{
	_free_ char *path = path_join(templates_dir, "nvidia");
	_cleanup_(strv_done) struct strv known = STRV_INIT;
	struct stanza_list list = {0};
	bool found = false;
	if (stanza_parse_file(a, path, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		struct apt_source s;
		if (parse(&list.v[i], path, &s, err) < 0)
			return -1;
		const char *name = stanza_get(&list.v[i], "Suite");
		if (strv_has(&known, name))
			return err_set(err, ERR_FORMAT, "%s:%u: suite %s stands here a second time",
			    path, list.v[i].line, name);
		strv_add(&known, name);
		if (found || (suite && strcmp(suite, name) != 0))
			continue;
		*out = s;
		found = true;
	}
	if (found)
		return 0;
	_free_ char *names = strv_join(&known, " ");
	return err_set(
	    err, ERR_USAGE, "unknown suite '%s'; known are: %s", suite ? suite : "", names);
}
