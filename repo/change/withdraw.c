#include "withdraw.h"

#include <ctype.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/txn.h"
#include "../../lib/deb/stanza.h"
#include "../../lib/deb/utf8.h"
#include "../../lib/sign/signer.h"
#include "change.h"
#include "../index/phase.h"
#include "../state/state_index.h"

#define TEXT_MAX   ((size_t)16 << 20)
#define REASON_MAX 1000 /* gpg cuts long lines of what it signs in the clear */

struct work {
	const struct withdraw_spec *spec;
	struct withdraw_result *res;
	struct arena arena;
	struct repo repo;
	struct strv live, suites; /* that may change; of these, those that list it */
	struct strv keys;	  /* that sign the list */
	struct stanza_list list;  /* as it will be */
	bool list_is_due;	  /* it is still to be written */
	struct change *change;
	const char *suite; /* that is looked at */
	bool in_pool;
};

static void work_done(struct work *w)
{
	strv_done(&w->live);
	strv_done(&w->suites);
	strv_done(&w->keys);
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

/* The file may have been edited by hand: what is no line of a Release stays out of it. */
static bool is_word(const char *s)
{
	return s && *s && !s[strcspn(s, " \t\r\n")];
}

const char *withdraw_lines(struct arena *a, const struct stanza_list *list)
{
	const char *out = NULL;
	for (size_t i = 0; i < list->n; i++) {
		const struct stanza *s = &list->v[i];
		const char *name = stanza_get(s, "Package"), *version = stanza_get(s, "Version");
		const char *reason = stanza_get(s, "Reason");
		if (!is_word(name) || !is_word(version))
			continue;
		reason = reason ? reason : "no reason given";
		size_t n = strcspn(reason, "\n");
		const char *line = arena_printf(
		    a, "%s %s %.*s", name, version, (int)(n < REASON_MAX ? n : REASON_MAX), reason);
		out = out ? arena_printf(a, "%s\n%s", out, line) : line;
	}
	return out;
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
static int find_suites(struct work *w, struct err *err)
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
		if (!w->keys.n)
			strv_add_all(&w->keys, &s.keys);
		if (s.snapshot_of)
			continue;
		strv_add(&w->live, names.v[i]);
		if (state_each_member(
			w->repo.state, row.id, NULL, w->spec->package, see_member, w, err) < 0)
			return -1;
	}
	return state_each_deb(w->repo.state, see_deb, w, err);
}

/* The list as it will be. */
static void append(struct work *w, const struct stanza_list *before, struct stanza_list *out)
{
	char date[CLOCK_RFC_MAX];
	_free_ char *suites = strv_join(&w->suites, " ");
	out->v = arena_alloc(&w->arena, (before->n + 1) * sizeof *out->v);
	out->n = before->n;
	if (before->n)
		memcpy(out->v, before->v, before->n * sizeof *out->v);
	if (w->res->known)
		return;
	struct stanza *s = &out->v[out->n++];
	clock_format_release(clock_now(), date);
	stanza_set(&w->arena, s, "Package", w->spec->package);
	stanza_set(&w->arena, s, "Version", w->spec->version);
	stanza_set(&w->arena, s, "Date", date);
	if (w->suites.n)
		stanza_set(&w->arena, s, "Suites", suites);
	stanza_set(&w->arena, s, "Reason", w->spec->reason);
}

static int stage_list(struct work *w, struct txn *t, struct err *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(TEXT_MAX), sig = BUF_INIT(TEXT_MAX);
	const struct strv *keys = &w->keys;
	for (size_t i = 0; i < w->list.n; i++) {
		if (i)
			buf_putc(&text, '\n');
		stanza_write(&w->list.v[i], &text);
	}
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

/* One suite: without the package, and its Release tells of it. The first change brings the list. */
static int change_suite(struct work *w, const char *name, struct err *err)
{
	struct change c;
	const char *lines = withdraw_lines(&w->arena, &w->list);
	bool lists = strv_has(&w->suites, name);
	int rc = change_open(&c, &w->repo, &w->arena, name, 0, err);
	w->suite = name;
	w->change = &c;
	c.release_only = !lists;
	c.withdrawn = lines;
	if (rc == 0 && (lists || !str_eq(c.suite.withdrawn, lines))) {
		if (lists)
			rc = state_each_member(
			    w->repo.state, c.row.id, NULL, w->spec->package, remove_member, w, err);
		if (rc == 0 && w->list_is_due)
			rc = stage_list(w, c.txn, err);
		if (rc == 0)
			rc = change_commit(&c, err);
		w->list_is_due = false;
		if (rc == 0)
			rc = state_begin(w->repo.state, err);
	}
	change_done(&c);
	return rc;
}

static int change_all(struct work *w, struct err *err)
{
	for (int lists = 1; lists >= 0; lists--)
		for (size_t i = 0; i < w->live.n; i++)
			if (strv_has(&w->suites, w->live.v[i]) == lists &&
			    change_suite(w, w->live.v[i], err) < 0)
				return -1;
	if (!w->list_is_due)
		return 0;
	struct txn *t = txn_new(w->repo.root);
	int rc = stage_list(w, t, err);
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
	size_t n = strlen(spec->reason);
	if (n > REASON_MAX || utf8_check(spec->reason, n) != n ||
	    isspace((unsigned char)*spec->reason))
		return err_set(err, ERR_USAGE,
		    "a reason is one line of text of at most %d bytes, in UTF-8", REASON_MAX);
	return 0;
}

int withdraw_run(const struct withdraw_spec *spec, struct withdraw_result *res, struct err *err)
{
	_cleanup_(work_done) struct work w = {
	    .spec = spec, .res = res, .arena = ARENA_INIT, .repo = REPO_INIT};
	struct stanza_list before = {0};
	*res = (struct withdraw_result){0};
	if (check_spec(spec, err) < 0 || repo_open(&w.repo, &spec->repo, err) < 0 ||
	    withdraw_load(&w.arena, w.repo.root, &before, err) < 0 || find_suites(&w, err) < 0)
		return -1;
	res->known = withdraw_find(&before, spec->package, spec->version) != NULL;
	if (!w.in_pool && !w.suites.n && !res->known)
		return err_set(err, ERR_USAGE, "'%s' has no package %s of version %s", w.repo.root,
		    spec->package, spec->version);
	append(&w, &before, &w.list);
	w.list_is_due = !res->known;
	return change_all(&w, err);
}
