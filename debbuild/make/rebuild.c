#include "rebuild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/deb.h"
#include "../../lib/deb/stanza.h"
#include "../../lib/deb/unsigned.h"
#include "../../lib/sign/cleartext.h"
#include "../../lib/sign/keyring.h"
#include "../../lib/sign/signer.h"
#include "host.h"
#include "pack.h"

#define TEXT_MAX ((size_t)16 << 20)

struct work {
	struct arena *a;
	const struct rebuild_spec *spec;
	struct stanza info;
	struct strv torches, pythons, archs, profiles, next_keys;
	char sha256[SHA256_HEX], unsigned_sha256[SHA256_HEX];
	const char *file; /* name of the .deb */
};

static void work_done(struct work *w)
{
	strv_done(&w->torches);
	strv_done(&w->pythons);
	strv_done(&w->archs);
	strv_done(&w->profiles);
	strv_done(&w->next_keys);
}

/* Checks the clear-signed text by the first key of the file that made its signature. */
static int verify(struct arena *a, const char *path, const struct buf *clear, const char *keyring,
    struct buf *out, struct err *err)
{
	struct key_verdict *v;
	size_t n;
	if (keyring_check_file(keyring, a, &v, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct signer_pin pin = {.keyring_file = keyring, .fpr = v[i].key.fpr};
		err_clear(err);
		buf_truncate(out, 0);
		if (!v[i].reason &&
		    signer_verify_pinned(buf_str(clear), clear->len, NULL, 0, &pin, out, err) == 0)
			return 0;
	}
	return err_set(
	    err, ERR_TRUST, "'%s' has no good signature of a key in '%s'", path, keyring);
}

/* The key that the text names, from GNUPGHOME, as a keyring file. */
static const char *own_keyring(struct work *w, const struct buf *text, struct err *err)
{
	_cleanup_(buf_done) struct buf key = BUF_INIT(TEXT_MAX);
	const char *path = arena_printf(w->a, "%s/keyring.gpg", w->spec->work);
	struct stanza_list list = {0};
	if (stanza_parse(
		w->a, buf_str(text), text->len, w->spec->buildinfo, STANZA_ONE, &list, err) < 0)
		return NULL;
	const char *fpr = stanza_get(&list.v[0], "Debkit-Signing-Key");
	if (!fpr) {
		err_set(
		    err, ERR_TRUST, "'%s' names no key: give --keyring FILE", w->spec->buildinfo);
		return NULL;
	}
	if (keyring_export(fpr, false, &key, err) < 0 ||
	    outfile_put(path, 0600, key.data, key.len, err) < 0)
		return NULL;
	return path;
}

static int read_info(struct work *w, struct err *err)
{
	const struct rebuild_spec *spec = w->spec;
	_cleanup_(buf_done) struct buf clear = BUF_INIT(TEXT_MAX), text = BUF_INIT(TEXT_MAX);
	struct stanza_list list = {0};
	if (path_read(spec->buildinfo, &clear, err) < 0)
		return -1;
	if (cleartext_is(&clear)) {
		const char *keyring = spec->keyring;
		if (cleartext_unwrap(&clear, spec->buildinfo, &text, err) < 0 ||
		    (!keyring && !(keyring = own_keyring(w, &text, err))) ||
		    verify(w->a, spec->buildinfo, &clear, keyring, &text, err) < 0)
			return -1;
	} else if (!spec->unsigned_ok) {
		return err_set(err, ERR_TRUST,
		    "'%s' is not signed; --unsigned-ok takes it all the same", spec->buildinfo);
	} else {
		buf_append(&text, buf_str(&clear), clear.len);
	}
	if (stanza_parse(w->a, buf_str(&text), text.len, spec->buildinfo, STANZA_ONE, &list, err) <
	    0)
		return -1;
	w->info = list.v[0];
	return 0;
}

/* A field that must be there. */
static const char *need(struct work *w, const char *field, struct err *err)
{
	const char *value = stanza_get(&w->info, field);
	if (!value || !*value)
		err_set(err, ERR_FORMAT, "'%s' has no field %s: was it written by debkit build?",
		    w->spec->buildinfo, field);
	return value && *value ? value : NULL;
}

/* "SHA256 SIZE NAME" of the one package, and the digest without its signature. */
static int read_sums(struct work *w, struct err *err)
{
	const char *sums = need(w, "Checksums-Sha256", err);
	const char *own = sums ? need(w, "Debkit-Unsigned-Sha256", err) : NULL;
	char name[300];
	unsigned long long size;
	int end = 0;
	if (!own)
		return -1;
	if (sscanf(sums, " %64[0-9a-f] %llu %299s%n", w->sha256, &size, name, &end) != 3 ||
	    sums[end] || strlen(w->sha256) != SHA256_HEX - 1 || !path_is_safe_member(name) ||
	    strchr(name, '/') || sscanf(own, "%64[0-9a-f]", w->unsigned_sha256) != 1 ||
	    strlen(w->unsigned_sha256) != SHA256_HEX - 1)
		return err_set(err, ERR_FORMAT,
		    "'%s': Checksums-Sha256 and Debkit-Unsigned-Sha256 do not name one package",
		    w->spec->buildinfo);
	w->file = arena_strdup(w->a, name);
	return 0;
}

/* The package that was described, or NULL where it is not at hand: then its digest is all. */
static int find_deb(struct work *w, struct rebuild_result *res, struct err *err)
{
	_free_ char *dir = path_dir(w->spec->buildinfo);
	char hex[DIGEST_HEX_MAX];
	res->deb = w->spec->deb ? w->spec->deb : arena_printf(w->a, "%s/%s", dir, w->file);
	if (!w->spec->deb && !path_exists(res->deb)) {
		res->deb = NULL;
		return 0;
	}
	if (digest_file_hex(DIGEST_SHA256, res->deb, hex, NULL, err) < 0)
		return -1;
	if (strcmp(hex, w->sha256))
		return err_set(err, ERR_TRUST, "'%s' is not the package of '%s': its SHA-256 is %s",
		    res->deb, w->spec->buildinfo, hex);
	return 0;
}

static void split(struct work *w, const char *field, struct strv *out)
{
	const char *value = stanza_get(&w->info, field);
	if (value)
		strv_split(out, value, " \n");
}

static int make_request(
    struct work *w, struct rebuild_result *res, struct pipeline_request *r, struct err *err)
{
	const char *toolchain, *date;
	if (!(res->package = need(w, "Binary", err)) || !(res->version = need(w, "Version", err)) ||
	    !(res->arch = need(w, "Architecture", err)) ||
	    !(res->recipe = need(w, "Debkit-Recipe", err)) ||
	    !(res->cuda = need(w, "Debkit-Cuda", err)) ||
	    !(toolchain = need(w, "Debkit-Toolchain", err)) ||
	    !(date = need(w, "Debkit-Source-Date-Epoch", err)))
		return -1;
	split(w, "Debkit-Torch", &w->torches);
	split(w, "Debkit-Python", &w->pythons);
	split(w, "Debkit-Cuda-Archs", &w->archs);
	split(w, "Debkit-Profiles", &w->profiles);
	split(w, "Debkit-Next-Keys", &w->next_keys);
	*r = (struct pipeline_request){.recipe = res->recipe,
	    .selection = {.cuda = res->cuda,
		.torches = &w->torches,
		.pythons = &w->pythons,
		.archs = &w->archs,
		.profiles = &w->profiles},
	    .out = w->spec->work,
	    .sign_key = stanza_get(&w->info, "Debkit-Signing-Key"),
	    .repo_url = stanza_get(&w->info, "Debkit-Repository-Url"),
	    .next_keys = &w->next_keys,
	    .keyring_only = str_eq(res->package, "debkit-archive-keyring"),
	    .no_sign = true};
	_free_ char *objects = path_absolute(arena_printf(w->a, "%s/object", w->spec->work), err);
	if (!objects)
		return -1;
	if (!w->spec->cached)
		r->objects = arena_strdup(w->a, objects);
	setenv("SOURCE_DATE_EPOCH", date, 1);
	return host_parse_toolchain(toolchain, &r->toolchain, err);
}

/* Other tools than those of the first build are named: they are the likely reason of a change. */
static int compare_tools(struct work *w, const struct pipeline_request *r, struct err *err)
{
	const struct pipeline_events *ev = w->spec->events;
	_cleanup_(pipeline_plan_done) struct pipeline_plan pp = {0};
	if (pipeline_plan(w->a, r, &pp, err) < 0)
		return -1;
	const struct {
		const char *field, *now;
	} v[] = {{"Debkit-Version", DEBKIT_VERSION}, {"Debkit-Compiler", pp.host.compiler},
	    {"Debkit-Host-Compiler", pp.host.cxx_id}};
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		const char *then = stanza_get(&w->info, v[i].field);
		_free_ char *text = xasprintf("%s was '%s' and is now '%s': the bytes may differ",
		    v[i].field, then ? then : "", v[i].now);
		if (!str_eq(then, v[i].now))
			ev->warn(ev->arg, text);
	}
	return 0;
}

static const char *find_made(struct work *w, const struct pipeline_result *built,
    const struct rebuild_result *res, struct err *err)
{
	const char *end =
	    arena_printf(w->a, "/%s_%s_%s.deb", res->package, res->version, res->arch);
	for (size_t i = 0; i < built->n_packages; i++)
		if (str_ends(built->packages[i].path, end))
			return built->packages[i].path;
	for (size_t i = 0; i < built->n_packages; i++)
		if (!strcmp(built->packages[i].package, res->package))
			err_set(err, ERR_CONFLICT,
			    "the templates, or the key, now make '%s' where '%s' describes %s: "
			    "take "
			    "the debkit that built it",
			    path_base(built->packages[i].path), w->spec->buildinfo, end + 1);
	if (err->code == ERR_NONE)
		err_set(err, ERR_CONFLICT, "this debkit makes no package %s", res->package);
	return NULL;
}

static int compare(struct work *w, struct rebuild_result *res, struct err *err)
{
	_cleanup_(buf_done) struct buf why = BUF_INIT(TEXT_MAX);
	struct deb_info d;
	char hex[SHA256_HEX];
	int differ;
	if (res->deb) {
		differ = deb_compare(res->deb, res->made, &why, err);
		if (differ < 0)
			return -1;
	} else {
		if (deb_read(w->a, res->made, DEB_READ_SIGNED, NULL, NULL, &d, err) < 0 ||
		    deb_unsigned_digest(&d, hex, err) < 0)
			return -1;
		differ = strcmp(hex, w->unsigned_sha256) != 0;
		buf_printf(&why,
		    "without its signature its SHA-256 is %s, not %s; with the package at hand "
		    "(--deb FILE) the difference can be named",
		    hex, w->unsigned_sha256);
	}
	res->same = !differ;
	res->why = differ ? arena_strdup(w->a, buf_str(&why)) : NULL;
	return 0;
}

int rebuild_run(
    struct arena *a, const struct rebuild_spec *spec, struct rebuild_result *res, struct err *err)
{
	_cleanup_(work_done) struct work w = {.a = a, .spec = spec};
	struct pipeline_request r;
	struct pipeline_result built;
	*res = (struct rebuild_result){0};
	if (path_mkdirs(spec->work, err) < 0 || read_info(&w, err) < 0 || read_sums(&w, err) < 0 ||
	    find_deb(&w, res, err) < 0 || make_request(&w, res, &r, err) < 0 ||
	    compare_tools(&w, &r, err) < 0 || pipeline_build(a, &r, spec->events, &built, err) < 0)
		return -1;
	if (built.partial.n_left_out)
		return err_set(err, ERR_TOOL, "did not compile: %s; see '%s'",
		    built.partial.left_out, built.partial.log);
	res->made = find_made(&w, &built, res, err);
	return res->made ? compare(&w, res, err) : -1;
}
