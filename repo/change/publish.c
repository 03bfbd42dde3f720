#include "publish.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/txn.h"
#include "admit.h"
#include "keep.h"
#include "pool_papers.h"
#include "../index/phase.h"
#include "retention.h"
#include "site.h"
#include "snapshot.h"
#include "withdraw.h"

struct work {
	const struct publish_spec *spec;
	struct arena arena;
	struct repo repo;
	struct change change;
	struct admission admission;
	struct strv pool_files; /* what a rebuild of an unknown suite publishes */
	bool touched;		/* settings changed: a new Release is due */
	bool keys_changed;
};

static void work_done(struct work *w)
{
	admission_done(&w->admission);
	change_done(&w->change);
	repo_close(&w->repo);
	strv_done(&w->pool_files);
	arena_done(&w->arena);
}

static void set_text(struct work *w, const char **setting, const char *value)
{
	if (!value || str_eq(*setting, value))
		return;
	*setting = value;
	w->touched = true;
}

static int set_archs(struct work *w, struct err *err)
{
	struct strv *archs = &w->change.suite.archs;
	const struct strv *wanted = w->spec->archs;
	for (size_t i = 0; wanted && i < wanted->n; i++) {
		if (suite_check_name("architecture", wanted->v[i], err) < 0)
			return -1;
		if (!strcmp(wanted->v[i], "all") || strv_has(archs, wanted->v[i]))
			continue;
		strv_add(archs, wanted->v[i]);
		w->touched = true;
	}
	return 0;
}

static int set_keys(struct work *w, struct err *err)
{
	const struct publish_spec *spec = w->spec;
	struct suite *s = &w->change.suite;
	if (spec->no_sign && s->keys.n)
		return err_set(err, ERR_TRUST,
		    "suite '%s' is signed and its clients insist on that: leave --unsigned out",
		    s->name);
	if (!spec->no_sign && !spec->sign_keys->n && !s->keys.n)
		return err_set(err, ERR_USAGE,
		    "no key to sign with: give --sign-key FINGERPRINT, or --unsigned for a test");
	if (spec->sign_keys->n &&
	    site_set_keys(&s->keys, spec->sign_keys, &w->keys_changed, err) < 0)
		return -1;
	return spec->sign_keys->n || spec->url
		   ? site_keys_differ(&w->arena, &w->repo, s, &w->keys_changed, err)
		   : 0;
}

static int set_all(struct work *w, struct err *err)
{
	const struct publish_spec *spec = w->spec;
	struct suite *s = &w->change.suite;
	set_text(w, &s->codename, spec->codename);
	set_text(w, &s->origin, spec->origin);
	set_text(w, &s->label, spec->label);
	set_text(w, &s->description, spec->description);
	if (spec->url)
		set_text(w, &s->snapshots, snapshot_url(&w->arena, spec->url));
	if (spec->valid_days >= 0 && s->valid_days != (unsigned)spec->valid_days) {
		s->valid_days = (unsigned)spec->valid_days;
		w->touched = true;
	}
	if (spec->compat >= 0 && s->compat != (spec->compat == 1)) {
		s->compat = spec->compat == 1;
		w->change.anew = true; /* each stanza gets other digests */
	}
	if (spec->no_gz >= 0 && s->no_gz != (spec->no_gz == 1)) {
		s->no_gz = spec->no_gz == 1;
		w->touched = true;
	}
	w->change.link = spec->link;
	w->change.anew |= spec->rebuild;
	if (!s->date)
		w->touched = true;
	return set_archs(w, err) < 0 ? -1 : set_keys(w, err);
}

/* A rebuild of a suite that dists/ does not know takes all that lies in its pool. */
static int find_pool_files(struct work *w, const struct strv **files, struct err *err)
{
	const struct publish_spec *spec = w->spec;
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	const char *pool = arena_printf(&w->arena, "%s/pool/%s", spec->repo.root, spec->component);
	if (!spec->rebuild || spec->files->n || w->change.suite.date || !path_is_dir(pool))
		return 0;
	if (path_walk(pool, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++)
		if (str_ends(names.v[i], ".deb"))
			strv_addf(&w->pool_files, "%s/%s", pool, names.v[i]);
	*files = &w->pool_files;
	return 0;
}

static int admit(struct work *w, struct err *err)
{
	const struct publish_spec *spec = w->spec;
	struct admission_spec a = {.files = spec->files,
	    .component = spec->component,
	    .keyring = spec->keyring,
	    .paranoid = spec->paranoid,
	    .dry = spec->check_only,
	    .refused = spec->refused};
	if (find_pool_files(w, &a.files, err) < 0)
		return -1;
	if (spec->unsigned_ok || !a.files->n)
		a.keyring = NULL;
	else if (!a.keyring && !(a.keyring = site_keyring(
				     &w->arena, &w->repo, &w->change.suite, w->keys_changed, err)))
		return -1;
	return admit_files(&w->change, &a, &w->admission, err);
}

/* Most copies were staged while the files were read; some could not be. */
static int stage_debs(struct work *w, struct pkg_list *list, struct err *err)
{
	for (size_t i = 0; i < list->n; i++) {
		struct pkg *p = &list->v[i];
		if ((p->from && !p->staged && admit_stage(&w->change, p, err) < 0) ||
		    papers_stage(w->change.txn, p, err) < 0)
			return -1;
	}
	return 0;
}

/* Only the state, or the pool, is to be brought up to date. */
static int commit_quietly(struct work *w, struct err *err)
{
	if (w->admission.lost.n && txn_commit(w->change.txn, err) < 0)
		return -1;
	return state_commit(w->repo.state, err);
}

static int publish_locked(struct work *w, struct publish_result *res, struct err *err)
{
	const struct publish_spec *spec = w->spec;
	struct change *c = &w->change;
	struct pkg_list *fresh = &w->admission.fresh;
	bool site = false, stale = false;
	if (change_open(c, &w->repo, &w->arena, spec->suite, CHANGE_NEW, err) < 0 ||
	    set_all(w, err) < 0 || admit(w, err) < 0)
		return -1;
	if (!spec->rebuild && withdraw_check(w->repo.root, fresh, err) < 0)
		return -1;
	if (spec->keep && keep_newest(c, spec->component, spec->keep, fresh, err) < 0)
		return -1;
	*res = (struct publish_result){
	    .added = fresh->n, .present = w->admission.present, .removed = c->n_removals};
	if ((fresh->n || c->n_removals) && retention_check(w->repo.root, spec->suite, err) < 0)
		return -1;
	if (spec->check_only)
		return 0;
	for (size_t i = 0; i < fresh->n; i++)
		change_add(c, &fresh->v[i]);
	if (stage_debs(w, fresh, err) < 0 || stage_debs(w, &w->admission.lost, err) < 0 ||
	    site_stage(&w->arena, c->txn, &w->repo, &c->suite, w->keys_changed, spec->url, &site,
		err) < 0 ||
	    change_is_stale(c, &stale, err) < 0)
		return -1;
	res->changed =
	    fresh->n || c->n_removals || w->touched || w->keys_changed || c->anew || site || stale;
	return res->changed ? change_commit(c, err) : commit_quietly(w, err);
}

static int check_spec(const struct publish_spec *spec, struct err *err)
{
	if (suite_check_name("suite", spec->suite, err) < 0 ||
	    suite_check_name("component", spec->component, err) < 0)
		return -1;
	if (spec->no_sign && spec->sign_keys->n)
		return err_set(err, ERR_USAGE, "--sign-key and --unsigned exclude each other");
	return 0;
}

/* Without a repository there is nothing to compare with: the files are only read. */
static int check_files(struct work *w, struct publish_result *res, struct err *err)
{
	struct admission_spec a = {.files = w->spec->files,
	    .component = w->spec->component,
	    .keyring = w->spec->unsigned_ok ? NULL : w->spec->keyring,
	    .refused = w->spec->refused};
	res->added = a.files->n;
	return admit_files(NULL, &a, &w->admission, err);
}

int publish_run(const struct publish_spec *spec, struct publish_result *res, struct err *err)
{
	_cleanup_(work_done) struct work w = {.spec = spec, .arena = ARENA_INIT, .repo = REPO_INIT};
	*res = (struct publish_result){0};
	if (check_spec(spec, err) < 0)
		return -1;
	if (spec->check_only && !repo_exists(spec->repo.root))
		return check_files(&w, res, err);
	if (repo_open(&w.repo, &spec->repo, err) < 0)
		return -1;
	return publish_locked(&w, res, err);
}
