#include "withdraw.h"

#include <ctype.h>
#include <string.h>

#include "../debbuild/base/arena.h"
#include "../debbuild/base/buf.h"
#include "../debbuild/base/clock.h"
#include "../debbuild/base/err.h"
#include "../debbuild/base/path.h"
#include "../debbuild/base/strv.h"
#include "../debbuild/base/txn.h"
#include "../debbuild/deb/stanza.h"
#include "../debbuild/sign/signer.h"
#include "change.h"
#include "phase.h"
#include "state_index.h"

#define TEXT_MAX ((size_t)16 << 20)

struct work {
	const struct withdraw_spec *spec;
	struct withdraw_result *res;
	struct arena arena;
	struct repo repo;
	struct strv suites; /* that list it */
	struct change *change;
	const char *suite; /* that is looked at */
	bool in_pool;
};

static void work_done(struct work *w)
{
	strv_done(&w->suites);
	repo_close(&w->repo);
	arena_done(&w->arena);
}

int withdraw_load(struct arena *a, const char *root, struct stanza_list *out, struct err *err)
{
	_free_ char *path = path_join(root, WITHDRAWN_FILE);
	if (!path_exists(path))
		return 0;
	return stanza_parse_file(a, path, 0, out, err);
}

const struct stanza *withdraw_find(
    const struct stanza_list *list, const char *package, const char *version)
{
	for (size_t i = 0; i < list->n; i++)
		if (str_eq(stanza_get(&list->v[i], "Package"), package) &&
		    str_eq(stanza_get(&list->v[i], "Version"), version))
			return &list->v[i];
	return NULL;
}

int withdraw_check(const char *root, const struct pkg_list *packages, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	struct stanza_list list = {0};
	if (withdraw_load(&a, root, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < packages->n && list.n; i++) {
		const struct pkg *p = &packages->v[i];
		const struct stanza *s = withdraw_find(&list, p->name, p->version);
		const char *reason = s ? stanza_get(s, "Reason") : NULL;
		if (s)
			return err_set(err, ERR_CONFLICT,
			    "%s %s was withdrawn (%s) and cannot come back: publish a newer "
			    "version",
			    p->name, p->version, reason ? reason : "no reason given");
	}
	return 0;
}

static int see_member(void *arg, const char *component, const struct deb_row *d, struct err *err)
{
	struct work *w = arg;
	if (!strcmp(d->version, w->spec->version) && !strv_has(&w->suites, w->suite))
		strv_add(&w->suites, w->suite);
	return 0;
}

static int see_deb(void *arg, const struct deb_row *d, bool listed, struct err *err)
{
	struct work *w = arg;
	w->in_pool |= !strcmp(d->name, w->spec->package) && !strcmp(d->version, w->spec->version);
	return 0;
}

static int remove_member(void *arg, const char *component, const struct deb_row *d, struct err *err)
{
	struct work *w = arg;
	if (strcmp(d->version, w->spec->version))
		return 0;
	change_remove(w->change, component, d);
	w->res->packages++;
	if (w->spec->report)
		w->spec->report(w->suite, d->name, d->version, d->arch);
	return 0;
}

/* Which suites that may change list it; and the keys of a signed one, for the list alone. */
static int find_suites(struct work *w, struct strv *keys, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (state_suites(w->repo.state, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_(suite_done) struct suite s = {0};
		struct suite_row row;
		w->suite = names.v[i];
		if (repo_suite(&w->repo, &w->arena, names.v[i], &s, &row, err) < 0)
			return -1;
		if (!keys->n)
			strv_add_all(keys, &s.keys);
		if (!s.snapshot_of && state_each_member(w->repo.state, row.id, NULL,
					  w->spec->package, see_member, w, err) < 0)
			return -1;
	}
	return state_each_deb(w->repo.state, see_deb, w, err);
}

static int stage_list(struct work *w, struct txn *t, const struct stanza_list *before,
    const struct strv *keys, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX), sig = BUF_INIT(TEXT_MAX);
	struct stanza s = {0};
	char date[CLOCK_RFC_MAX];
	_free_ char *suites = strv_join(&w->suites, " ");
	clock_format_release(clock_now(), date);
	for (size_t i = 0; i < before->n; i++) {
		stanza_write(&before->v[i], &text);
		buf_putc(&text, '\n');
	}
	stanza_set(&w->arena, &s, "Package", w->spec->package);
	stanza_set(&w->arena, &s, "Version", w->spec->version);
	stanza_set(&w->arena, &s, "Date", date);
	if (w->suites.n)
		stanza_set(&w->arena, &s, "Suites", suites);
	stanza_set(&w->arena, &s, "Reason", w->spec->reason);
	stanza_write(&s, &text);
	if (buf_check(&text, WITHDRAWN_FILE, err) < 0 ||
	    txn_put(t, PHASE_INDEX, WITHDRAWN_FILE, text.data, text.len, err) < 0)
		return -1;
	if (!keys->n)
		return 0;
	if (signer_sign(text.data, text.len, (const char *const *)keys->v, keys->n,
		SIGNER_DETACHED_ARMOR, &sig, err) < 0)
		return err_wrap(err, "cannot sign the list of withdrawn packages");
	return txn_put(t, PHASE_INDEX, WITHDRAWN_SIGNATURE, sig.data, sig.len, err);
}

/* One suite without the package; the first change brings the list too. */
static int change_suite(struct work *w, const char *name, const struct stanza_list *before,
    const struct strv *keys, struct err *err)
{
	struct change c;
	int rc = change_open(&c, &w->repo, &w->arena, name, 0, err);
	w->suite = name;
	w->change = &c;
	if (rc == 0)
		rc = state_each_member(
		    w->repo.state, c.row.id, NULL, w->spec->package, remove_member, w, err);
	if (rc == 0 && before)
		rc = stage_list(w, c.txn, before, keys, err);
	if (rc == 0)
		rc = change_commit(&c, err);
	change_done(&c);
	return rc;
}

static int change_all(
    struct work *w, const struct stanza_list *before, const struct strv *keys, struct err *err)
{
	bool wanted = !w->res->known;
	for (size_t i = 0; i < w->suites.n; i++) {
		if ((i && state_begin(w->repo.state, err) < 0) ||
		    change_suite(w, w->suites.v[i], wanted && !i ? before : NULL, keys, err) < 0)
			return -1;
	}
	if (w->suites.n || !wanted)
		return 0;
	struct txn *t = txn_new(w->repo.root);
	int rc = stage_list(w, t, before, keys, err);
	if (rc == 0)
		rc = txn_commit(t, err);
	txn_free(t);
	return rc;
}

static int check_spec(const struct withdraw_spec *spec, struct err *err)
{
	if (!spec->reason || !*spec->reason)
		return err_set(err, ERR_USAGE, "why? give --reason \"one line of text\"");
	for (const char *p = spec->reason; *p; p++)
		if (iscntrl((unsigned char)*p))
			return err_set(err, ERR_USAGE, "a reason is one line of text");
	return 0;
}

int withdraw_run(const struct withdraw_spec *spec, struct withdraw_result *res, struct err *err)
{
	_cleanup_(work_done) struct work w = {
	    .spec = spec, .res = res, .arena = ARENA_INIT, .repo = REPO_INIT};
	_cleanup_(strv_done) struct strv keys = STRV_INIT;
	struct stanza_list before = {0};
	*res = (struct withdraw_result){0};
	if (check_spec(spec, err) < 0 || repo_open(&w.repo, &spec->repo, err) < 0 ||
	    withdraw_load(&w.arena, w.repo.root, &before, err) < 0 ||
	    find_suites(&w, &keys, err) < 0)
		return -1;
	res->known = withdraw_find(&before, spec->package, spec->version) != NULL;
	if (!w.in_pool && !w.suites.n && !res->known)
		return err_set(err, ERR_USAGE, "'%s' has no package %s of version %s", w.repo.root,
		    spec->package, spec->version);
	return change_all(&w, &before, &keys, err);
}
