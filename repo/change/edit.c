#include "edit.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "change.h"
#include "../index/listing.h"
#include "retention.h"
#include "select.h"
#include "site.h"
#include "../state/state_index.h"
#include "withdraw.h"

struct work {
	const struct edit_spec *spec;
	struct arena arena;
	struct repo repo;
	struct change change;
	struct selection selection;
	struct edit_result result;
};

static void work_done(struct work *w)
{
	change_done(&w->change);
	repo_close(&w->repo);
	arena_done(&w->arena);
}
#define WORK_INIT(s)                                                                               \
	{                                                                                          \
		.spec = (s), .arena = ARENA_INIT, .repo = REPO_INIT                                \
	}

static int open_all(struct work *w, unsigned flags, struct err *err)
{
	const struct edit_spec *spec = w->spec;
	if (repo_open(&w->repo, &spec->repo, err) < 0)
		return -1;
	return change_open(&w->change, &w->repo, &w->arena, spec->suite, flags, err);
}

static int commit(struct work *w, struct err *err)
{
	struct suite *s = &w->change.suite;
	bool keys_changed = false, staged;
	if (w->spec->sign_keys->n &&
	    site_set_keys(&s->keys, w->spec->sign_keys, &keys_changed, err) < 0)
		return -1;
	if ((w->change.release_only || keys_changed) &&
	    site_keys_differ(&w->arena, &w->repo, s, &keys_changed, err) < 0)
		return -1;
	if (site_stage(&w->arena, w->change.txn, &w->repo, s, keys_changed, NULL, &staged, err) < 0)
		return -1;
	return change_commit(&w->change, err);
}

int edit_refresh(const struct edit_spec *spec, struct err *err)
{
	_cleanup_(work_done) struct work w = WORK_INIT(spec);
	if (open_all(&w, CHANGE_SNAPSHOT, err) < 0)
		return -1;
	if (spec->valid_days >= 0)
		w.change.suite.valid_days = (unsigned)spec->valid_days;
	w.change.release_only = true;
	return commit(&w, err);
}

static void report(
    struct work *w, const char *component, const char *name, const char *version, const char *arch)
{
	w->result.changed++;
	if (w->spec->report)
		w->spec->report(component, name, version, arch);
}

static int remove_member(void *arg, const char *component, const struct deb_row *d, struct err *err)
{
	struct work *w = arg;
	if (!select_matches(&w->selection, d->name, d->version, d->arch))
		return 0;
	change_remove(&w->change, component, d);
	report(w, component, d->name, d->version, d->arch);
	return 0;
}

/* Few packages that are named are looked up, not searched for among all. */
static int remove_members(struct work *w, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	struct state *state = w->repo.state;
	int64_t suite = w->change.row.id;
	if (!select_names(&w->selection, &names))
		return state_each_member(
		    state, suite, w->spec->component, NULL, remove_member, w, err);
	for (size_t i = 0; i < names.n; i++)
		if (state_each_member(
			state, suite, w->spec->component, names.v[i], remove_member, w, err) < 0)
			return -1;
	return 0;
}

/* What the pool still has was removed before: that is no mistake of the user's. */
static int see_unlisted(void *arg, const struct deb_row *d, bool listed, struct err *err)
{
	struct work *w = arg;
	if (select_matches(&w->selection, d->name, d->version, d->arch))
		w->result.present++;
	return 0;
}

int edit_remove(const struct edit_spec *spec, struct edit_result *res, struct err *err)
{
	_cleanup_(work_done) struct work w = WORK_INIT(spec);
	if (select_parse(&w.arena, spec->packages, &w.selection, err) < 0 ||
	    open_all(&w, 0, err) < 0 || remove_members(&w, err) < 0)
		return -1;
	if (select_check_all_matched(&w.selection, spec->suite, NULL) < 0 &&
	    (state_each_deb(w.repo.state, see_unlisted, &w, err) < 0 ||
		select_check_all_matched(&w.selection, spec->suite, err) < 0))
		return -1;
	*res = w.result;
	if (w.result.changed && retention_check(w.repo.root, spec->suite, err) < 0)
		return -1;
	return spec->dry_run || !w.result.changed ? 0 : commit(&w, err);
}

/* Packages of one index of the other suite; those for all architectures from the first only. */
static int copy_index(
    struct work *w, const struct suite *from, const char *component, size_t arch, struct err *err)
{
	struct change *c = &w->change;
	struct pkg_list list = {0};
	int rc =
	    listing_read(&w->arena, w->repo.root, from, component, from->archs.v[arch], &list, err);
	for (size_t i = 0; i < list.n && rc == 0; i++) {
		struct pkg *p = &list.v[i];
		struct deb_row row;
		if ((arch && !strcmp(p->arch, "all")) ||
		    !select_matches(&w->selection, p->name, p->version, p->arch))
			continue;
		rc = state_find_deb(
		    w->repo.state, &w->arena, p->name, p->version, p->arch, &row, err);
		if (rc <= 0)
			continue;
		p->deb = row.id;
		rc = change_lists(c, component, p->arch, p->deb, err);
		if (rc == 1)
			w->result.present++;
		if (rc == 0) {
			change_add(c, p);
			report(w, component, p->name, p->version, p->arch);
		}
		rc = rc < 0 ? -1 : 0;
	}
	pkg_list_done(&list);
	return rc;
}

static int copy_settings(struct work *w, const struct suite *from, struct err *err)
{
	struct suite *to = &w->change.suite;
	if (to->date) {
		if (to->compat == from->compat)
			return 0;
		return err_set(err, ERR_USAGE,
		    "suites '%s' and '%s' differ in --compat: publish into one of them with "
		    "--compat or --no-compat first",
		    from->name, to->name);
	}
	to->origin = from->origin;
	to->label = from->label;
	to->compat = from->compat;
	to->no_gz = from->no_gz;
	to->snapshots = from->snapshots;
	strv_add_all(&to->keys, &from->keys);
	strv_add_all(&to->archs, &from->archs);
	return 0;
}

int edit_copy(const struct edit_spec *spec, struct edit_result *res, struct err *err)
{
	_cleanup_(work_done) struct work w = WORK_INIT(spec);
	_cleanup_(suite_done) struct suite from = {0};
	struct suite_row row;
	if (select_parse(&w.arena, spec->packages, &w.selection, err) < 0 ||
	    open_all(&w, CHANGE_NEW, err) < 0 ||
	    repo_suite(&w.repo, &w.arena, spec->from, &from, &row, err) < 0 ||
	    copy_settings(&w, &from, err) < 0)
		return -1;
	bool fresh = !w.change.suite.date;
	for (size_t c = 0; c < from.components.n; c++) {
		if (spec->component && strcmp(from.components.v[c], spec->component))
			continue;
		for (size_t i = 0; i < from.archs.n; i++)
			if (copy_index(&w, &from, from.components.v[c], i, err) < 0)
				return -1;
	}
	if (select_check_all_matched(&w.selection, spec->from, err) < 0)
		return -1;
	*res = w.result;
	if (withdraw_check(w.repo.root, &w.change.adds, err) < 0 ||
	    (w.result.changed && retention_check(w.repo.root, spec->suite, err) < 0))
		return -1;
	return spec->dry_run || (!w.result.changed && !fresh) ? 0 : commit(&w, err);
}
