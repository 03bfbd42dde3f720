#include "site.h"

#include <ctype.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/txn.h"
#include "../../lib/deb/stanza.h"
#include "../../lib/sign/keyring.h"
#include "../../lib/sign/sources.h"
#include "../index/phase.h"
#include "../index/repo.h"
#include "../state/suite.h"

#define KEYS_MAX ((size_t)4 << 20)

/* Upper case, without spaces. */
static char *normal(struct arena *a, const char *name)
{
	char *out = arena_strdup(a, name), *to = out;
	for (; *name; name++)
		if (!isspace((unsigned char)*name))
			*to++ = (char)toupper((unsigned char)*name);
	*to = '\0';
	return out;
}

int site_set_keys(struct strv *keys, const struct strv *named, bool *changed, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(strv_done) struct strv now = STRV_INIT;
	for (size_t i = 0; i < named->n; i++) {
		const char *fpr = normal(&a, named->v[i]);
		struct key_info info;
		if (!strv_has(keys, fpr)) {
			if (keyring_find(fpr, &info, &a, err) < 0)
				return -1;
			fpr = arena_strdup(&a, info.fpr);
		}
		if (!strv_has(&now, fpr))
			strv_add(&now, fpr);
	}
	_free_ char *before = strv_join(keys, " ");
	_free_ char *after = strv_join(&now, " ");
	*changed |= strcmp(before ? before : "", after ? after : "") != 0;
	strv_done(keys);
	strv_add_all(keys, &now);
	return 0;
}

static int export_keys(const struct suite *s, struct buf *out, struct err *err)
{
	for (size_t i = 0; i < s->keys.n; i++)
		if (keyring_export(s->keys.v[i], false, out, err) < 0)
			return -1;
	return buf_check(out, "keyring", err);
}

const char *site_keyring(struct arena *a, const struct repo *r, const struct suite *s,
    bool keys_changed, struct err *err)
{
	const char *public = arena_printf(a, "%s/" SITE_KEYRING, r->root);
	const char *private = arena_printf(a, "%s/.debkit/" SITE_KEYRING, r->root);
	_cleanup_(buf_done) struct buf keys = BUF_INIT(KEYS_MAX);
	if (!keys_changed && path_exists(public))
		return public;
	if (export_keys(s, &keys, err) < 0 ||
	    outfile_put_if_changed(private, 0644, keys.data, keys.len, err) < 0)
		return NULL;
	return private;
}

/* True if the file that is there says the same, but perhaps for the keys. */
static bool says_the_same(const char *before, const char *keyless, bool with_keys)
{
	static const char last[] = "Trusted: yes\n";
	size_t head = strlen(keyless) - (sizeof last - 1);
	return !strncmp(before, keyless, head) &&
	       str_starts(before + head, with_keys ? "Signed-By:\n" : last);
}

static int stage_sources(struct arena *a, struct txn *t, const struct repo *r,
    const struct suite *s, bool keys_changed, const char *url, bool *staged, struct err *err)
{
	static const struct strv no_keys = STRV_INIT;
	_cleanup_(buf_done) struct buf now = BUF_INIT(KEYS_MAX), before = BUF_INIT(KEYS_MAX);
	const char *path = arena_printf(a, "%s/" SITE_SOURCES, r->root);
	if (sources_write(url, s->name, &s->components, &no_keys, &now, err) < 0)
		return -1;
	if (!keys_changed && path_read(path, &before, NULL) == 0 &&
	    says_the_same(buf_str(&before), buf_str(&now), s->keys.n))
		return 0;
	buf_truncate(&now, 0);
	*staged = true;
	if (sources_write(url, s->name, &s->components, &s->keys, &now, err) < 0)
		return -1;
	return txn_put(t, PHASE_INDEX, SITE_SOURCES, now.data, now.len, err);
}

int site_keys_differ(
    struct arena *a, const struct repo *r, const struct suite *s, bool *differ, struct err *err)
{
	_cleanup_(buf_done) struct buf now = BUF_INIT(KEYS_MAX), before = BUF_INIT(KEYS_MAX);
	const char *public = arena_printf(a, "%s/" SITE_KEYRING, r->root);
	if (!s->keys.n || !path_exists(public))
		return 0;
	if (export_keys(s, &now, err) < 0 || path_read(public, &before, err) < 0)
		return -1;
	*differ |= now.len != before.len || memcmp(now.data, before.data, now.len);
	return 0;
}

/* The address in the .sources file of the suite that is there; NULL if there is none. */
static const char *known_url(struct arena *a, const struct repo *r, const struct suite *s)
{
	const char *path = arena_printf(a, "%s/" SITE_SOURCES, r->root);
	struct stanza_list list = {0};
	if (!path_exists(path) || stanza_parse_file(a, path, STANZA_ONE, &list, NULL) < 0 ||
	    !str_eq(stanza_get(&list.v[0], "Suites"), s->name))
		return NULL;
	return stanza_get(&list.v[0], "URIs");
}

int site_stage(struct arena *a, struct txn *t, const struct repo *r, const struct suite *s,
    bool keys_changed, const char *url, bool *staged, struct err *err)
{
	_cleanup_(buf_done) struct buf keys = BUF_INIT(KEYS_MAX);
	const char *public = arena_printf(a, "%s/" SITE_KEYRING, r->root);
	if (s->keys.n && (keys_changed || !path_exists(public))) {
		*staged = true;
		if (export_keys(s, &keys, err) < 0 ||
		    txn_put(t, PHASE_INDEX, SITE_KEYRING, keys.data, keys.len, err) < 0)
			return -1;
	}
	if (!url && keys_changed)
		url = known_url(a, r, s);
	return url ? stage_sources(a, t, r, s, keys_changed, url, staged, err) : 0;
}
