#include "publish.h"

#include <string.h>

#include "../debbuild/base/arena.h"
#include "../debbuild/base/buf.h"
#include "../debbuild/base/clock.h"
#include "../debbuild/base/err.h"
#include "../debbuild/base/intr.h"
#include "../debbuild/base/lock.h"
#include "../debbuild/base/outfile.h"
#include "../debbuild/base/path.h"
#include "../debbuild/base/strv.h"
#include "../debbuild/base/txn.h"
#include "../debbuild/base/xalloc.h"
#include "../debbuild/sign/signer.h"
#include "index.h"
#include "site.h"
#include "suite.h"

#define STATE_DIR   ".debkit"
#define RELEASE_MAX ((size_t)4 << 20)
#define KEYRING_MAX ((size_t)4 << 20)
#define SOURCES_MAX ((size_t)4 << 20)

struct work {
	const struct publish_spec *spec;
	struct arena arena;
	struct suite suite;
	struct index *indexes; /* one for each component of the suite */
	struct buf keyring;    /* public keys that sign, binary */
	const char *keyring_file;
	struct txn *txn;
};

static void work_done(struct work *w)
{
	for (size_t i = 0; w->indexes && i < w->suite.components.n; i++)
		index_done(&w->indexes[i]);
	free(w->indexes);
	suite_done(&w->suite);
	buf_done(&w->keyring);
	txn_free(w->txn);
	arena_done(&w->arena);
}

static int check_spec(const struct publish_spec *spec, struct err *err)
{
	if (suite_check_name("suite", spec->suite, err) < 0 ||
	    suite_check_name("component", spec->component, err) < 0)
		return -1;
	if (!spec->no_sign && !spec->sign_keys->n)
		return err_set(err, ERR_USAGE,
		    "no key to sign with: give --sign-key FINGERPRINT, or --unsigned for a test");
	if (spec->no_sign && spec->sign_keys->n)
		return err_set(err, ERR_USAGE, "--sign-key and --unsigned exclude each other");
	return 0;
}

/* The public keys as a file, which the check of the .debs' signatures reads. */
static int write_keyring(struct work *w, struct err *err)
{
	const struct publish_spec *spec = w->spec;
	if (spec->no_sign)
		return 0;
	if (site_keyring(spec->sign_keys, &w->keyring, err) < 0)
		return -1;
	w->keyring_file = arena_printf(&w->arena, "%s/" STATE_DIR "/" SITE_KEYRING, spec->root);
	return outfile_put_if_changed(
	    w->keyring_file, 0644, buf_str(&w->keyring), w->keyring.len, err);
}

static int load_suite(struct work *w, struct err *err)
{
	const struct publish_spec *spec = w->spec;
	struct suite *s = &w->suite;
	if (suite_load(&w->arena, spec->root, spec->suite, s, err) < 0)
		return -1;
	if (spec->no_sign && s->keys.n)
		return err_set(err, ERR_TRUST,
		    "suite '%s' is signed and its clients insist on that: give --sign-key %s",
		    s->name, s->keys.v[0]);
	if (!strv_has(&s->components, spec->component))
		strv_add(&s->components, spec->component);
	strv_sort(&s->components);
	w->indexes = xcalloc(s->components.n, sizeof *w->indexes);
	for (size_t i = 0; i < s->components.n; i++)
		if (index_load(&w->arena, spec->root, s, s->components.v[i], &w->indexes[i], err) <
		    0)
			return -1;
	return 0;
}

static int admit_one(
    struct work *w, struct index *x, const char *file, struct publish_result *res, struct err *err)
{
	const struct publish_spec *spec = w->spec;
	struct pkg p;
	const char *keyring = spec->unsigned_ok ? NULL : w->keyring_file;
	if (pool_admit(&w->arena, file, spec->component, keyring, &p, err) < 0)
		return -1;
	int added = index_add(x, &p, err);
	if (added < 0)
		return -1;
	res->added += added == 1;
	res->present += added == 0;
	if (added && strcmp(p.arch, "all") && !strv_has(&w->suite.archs, p.arch))
		strv_add(&w->suite.archs, p.arch);
	return added ? txn_copy(w->txn, PHASE_POOL, p.path, file, err) : 0;
}

static int admit_all(struct work *w, struct publish_result *res, struct err *err)
{
	const struct publish_spec *spec = w->spec;
	struct index *x = w->indexes;
	while (strcmp(x->component, spec->component))
		x++;
	size_t refused = 0;
	for (size_t i = 0; i < spec->files->n; i++) {
		struct err why = {0};
		if (intr_check(err) < 0)
			return -1;
		if (admit_one(w, x, spec->files->v[i], res, &why) == 0)
			continue;
		refused++;
		*err = why;
		if (spec->refused)
			spec->refused(spec->files->v[i], &why);
	}
	if (!refused)
		return 0;
	enum err_code code = err->code;
	err_clear(err);
	return err_set(
	    err, code, "%zu of %zu files refused; nothing was published", refused, spec->files->n);
}

static int stage_signed(struct work *w, const struct buf *release, struct err *err)
{
	const struct suite *s = &w->suite;
	_cleanup_(buf_done) struct buf sig = BUF_INIT(RELEASE_MAX);
	_cleanup_(buf_done) struct buf clear = BUF_INIT(2 * RELEASE_MAX);
	const char *const *keys = (const char *const *)s->keys.v;
	if (signer_sign(release->data, release->len, keys, s->keys.n, SIGNER_DETACHED_ARMOR, &sig,
		err) < 0 ||
	    signer_sign(release->data, release->len, keys, s->keys.n, SIGNER_CLEAR, &clear, err) <
		0)
		return err_wrap(err, "cannot sign suite '%s'", s->name);
	const char *dir = arena_printf(&w->arena, "dists/%s", s->name);
	if (txn_put(w->txn, PHASE_RELEASE, arena_printf(&w->arena, "%s/Release.gpg", dir), sig.data,
		sig.len, err) < 0)
		return -1;
	return txn_put(w->txn, PHASE_INRELEASE, arena_printf(&w->arena, "%s/InRelease", dir),
	    clear.data, clear.len, err);
}

static int stage_release(struct work *w, struct err *err)
{
	struct suite *s = &w->suite;
	size_t n = 0, max = s->components.n * s->archs.n * INDEX_FILES;
	_free_ struct release_file *files = xcalloc(max, sizeof *files);
	for (size_t c = 0; c < s->components.n; c++)
		for (size_t i = 0; i < s->archs.n; i++, n += INDEX_FILES)
			if (index_stage(&w->arena, s, &w->indexes[c], s->archs.v[i], w->txn,
				&files[n], err) < 0)
				return -1;
	_cleanup_(buf_done) struct buf release = BUF_INIT(RELEASE_MAX);
	release_write(s, files, n, clock_now(), &release);
	if (buf_check(&release, "Release", err) < 0 ||
	    txn_put(w->txn, PHASE_RELEASE, arena_printf(&w->arena, "dists/%s/Release", s->name),
		release.data, release.len, err) < 0)
		return -1;
	return s->keys.n ? stage_signed(w, &release, err) : 0;
}

static int stage_site(struct work *w, struct err *err)
{
	const struct publish_spec *spec = w->spec;
	if (!spec->no_sign && txn_put(w->txn, PHASE_RELEASE, SITE_KEYRING, buf_str(&w->keyring),
				  w->keyring.len, err) < 0)
		return -1;
	if (!spec->url)
		return 0;
	_cleanup_(buf_done) struct buf sources = BUF_INIT(SOURCES_MAX);
	if (site_sources(&w->suite, spec->url, &sources, err) < 0)
		return -1;
	return txn_put(w->txn, PHASE_RELEASE, SITE_SOURCES, sources.data, sources.len, err);
}

/* The keys of this call replace those of the last; true if that alone asks for a new Release. */
static bool set_keys(struct suite *s, const struct strv *keys)
{
	_free_ char *before = strv_join(&s->keys, " ");
	strv_done(&s->keys);
	strv_add_all(&s->keys, keys);
	_free_ char *after = strv_join(&s->keys, " ");
	return strcmp(before, after) != 0;
}

static int publish_locked(struct work *w, struct publish_result *res, struct err *err)
{
	const struct publish_spec *spec = w->spec;
	if (txn_sweep(spec->root, err) < 0 || load_suite(w, err) < 0 || write_keyring(w, err) < 0)
		return -1;
	bool new_keys = set_keys(&w->suite, spec->sign_keys);
	w->txn = txn_new(spec->root);
	if (admit_all(w, res, err) < 0)
		return -1;
	if (!w->suite.archs.n)
		strv_add(&w->suite.archs, "amd64");
	strv_sort(&w->suite.archs);
	res->changed = res->added || new_keys || !w->suite.date || spec->url;
	if (!res->changed)
		return 0;
	if (stage_site(w, err) < 0 || stage_release(w, err) < 0)
		return -1;
	return txn_commit(w->txn, err);
}

int publish_run(const struct publish_spec *spec, struct publish_result *res, struct err *err)
{
	_cleanup_(work_done) struct work w = {
	    .spec = spec, .arena = ARENA_INIT, .keyring = BUF_INIT(KEYRING_MAX)};
	*res = (struct publish_result){0};
	if (check_spec(spec, err) < 0)
		return -1;
	const char *lock = arena_printf(&w.arena, "%s/" STATE_DIR "/lock", spec->root);
	_close_ int fd = -1;
	if (path_mkdirs_for(lock, err) < 0 ||
	    lock_take(lock, spec->wait, spec->waiting, &fd, err) < 0)
		return -1;
	return publish_locked(&w, res, err);
}
