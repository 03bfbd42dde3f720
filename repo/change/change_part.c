/* One index of a changing suite: what it lists afterwards. */
#include "change_part.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/xalloc.h"
#include "../index/index.h"
#include "../index/listing.h"

static bool belongs(const char *deb_arch, const char *index_arch)
{
	return !strcmp(deb_arch, "all") || !strcmp(deb_arch, index_arch);
}

/* What goes into one index. */
struct part {
	struct index_spec spec;
	struct index_row row;
	struct pkg_list adds;
	struct piece_removal *removals;
	size_t n_removals;
};

static void part_done(struct part *p)
{
	pkg_list_done(&p->adds);
	free(p->removals);
}

static bool is_removed(const struct change *c, const char *component, const struct pkg *p)
{
	for (size_t i = 0; i < c->n_removals; i++) {
		const struct change_removal *r = &c->removals[i];
		if (!strcmp(r->component, component) && !strcmp(r->deb.name, p->name) &&
		    !strcmp(r->deb.version, p->version) && !strcmp(r->deb.arch, p->arch))
			return true;
	}
	return false;
}

/* The stanza of a package in the pool, from the .deb itself. */
static int read_again(struct change *c, const char *component, struct pkg *p, struct err *err)
{
	_cleanup_(arena_done) struct arena scratch = ARENA_INIT;
	struct admit_spec spec = {.component = component, .all_hashes = c->suite.compat};
	const char *file = arena_printf(&scratch, "%s/%s", c->repo->root, p->path);
	struct pkg got;
	if (pool_admit(&scratch, file, &spec, &got, err) < 0)
		return -1;
	if (strcmp(got.sha256, p->sha256) || strcmp(got.name, p->name) ||
	    strcmp(got.version, p->version) || strcmp(got.arch, p->arch))
		return err_set(err, ERR_CONFLICT,
		    "'%s' is not what the index lists: %s %s %s, SHA256 %s in the index, %s in the "
		    "pool; bring the file back, or remove the package",
		    file, p->name, p->version, p->arch, p->sha256, got.sha256);
	pkg_set_path(&scratch, &got, p->path);
	p->text = arena_strndup(c->arena, got.text, got.text_len);
	p->text_len = got.text_len;
	return 0;
}

/* Takes what the index lists now, but for removals, as if all of it were new. */
static int part_take_listing(struct change *c, struct part *p, struct err *err)
{
	struct pkg_list list = {0};
	const struct index_spec *x = &p->spec;
	int rc = 0;
	bool known = release_list_find(&c->suite.files,
	    arena_printf(c->arena, "%s/binary-%s/Packages", x->component, x->arch));
	if (known)
		rc = listing_read(
		    c->arena, c->repo->root, &c->suite, x->component, x->arch, &list, err);
	/* A new architecture: packages for all are listed under the others. */
	for (size_t i = 0; !known && !list.n && i < c->suite.archs.n && rc == 0; i++)
		rc = listing_read(c->arena, c->repo->root, &c->suite, x->component,
		    c->suite.archs.v[i], &list, err);
	for (size_t i = 0; i < list.n && rc == 0; i++) {
		struct pkg *q = &list.v[i];
		struct deb_row row;
		if (!belongs(q->arch, x->arch) || is_removed(c, x->component, q))
			continue;
		rc = state_find_deb(
		    c->repo->state, c->arena, q->name, q->version, q->arch, &row, err);
		q->deb = rc == 1 ? row.id : 0;
		rc = rc == 0 ? state_put_deb(c->repo->state, q, &q->deb, err) : rc < 0 ? -1 : 0;
		if (rc == 0 && c->anew)
			rc = read_again(c, x->component, q, err);
		if (rc == 0)
			pkg_list_add(&p->adds, q);
	}
	pkg_list_done(&list);
	if (rc == 0)
		rc = state_drop_members(c->repo->state, p->row.id, err);
	return rc;
}

static int part_take_removals(struct change *c, struct part *p, struct err *err)
{
	p->removals = xcalloc(c->n_removals + 1, sizeof *p->removals);
	for (size_t i = 0; i < c->n_removals; i++) {
		const struct change_removal *r = &c->removals[i];
		struct piece_removal *out = &p->removals[p->n_removals];
		if (strcmp(r->component, p->spec.component) || !belongs(r->deb.arch, p->spec.arch))
			continue;
		*out = (struct piece_removal){.deb = r->deb.id,
		    .name = r->deb.name,
		    .version = r->deb.version,
		    .arch = r->deb.arch};
		int found = state_find_member(c->repo->state, p->row.id, out->deb, &out->seq, err);
		if (found < 0)
			return -1;
		p->n_removals += found == 1;
	}
	return 0;
}

/* The entries of an index that stays as it is, from the last Release. */
static void carry_over(struct change *c, const struct index_spec *x, struct release_list *files)
{
	for (int kind = 0; kind < INDEX_FILES; kind++) {
		const struct release_file *f = release_list_find(
		    &c->suite.files, arena_printf(c->arena, "%s/binary-%s/Packages%s", x->component,
					 x->arch, index_suffix[kind]));
		if (f)
			release_list_add(files, f);
	}
}

static int fill_part(struct change *c, struct part *p, struct err *err)
{
	const struct index_spec *x = &p->spec;
	int found = state_find_index(
	    c->repo->state, c->arena, c->row.id, x->component, x->arch, &p->row, err);
	if (found == 0) {
		p->row.stale = true;
		if (state_add_index(
			c->repo->state, c->row.id, x->component, x->arch, &p->row.id, err) < 0)
			return -1;
	}
	if (found < 0)
		return -1;
	if (c->anew || !index_intact(x, &p->row))
		p->row.stale = true;
	if ((p->row.stale ? part_take_listing(c, p, err) : part_take_removals(c, p, err)) < 0)
		return -1;
	for (size_t i = 0; i < c->adds.n; i++)
		if (!strcmp(c->adds.v[i].component, x->component) &&
		    belongs(c->adds.v[i].arch, x->arch))
			pkg_list_add(&p->adds, &c->adds.v[i]);
	pkg_list_sort(&p->adds);
	return 0;
}

int change_write_part(struct change *c, const char *component, const char *arch,
    struct release_list *files, struct err *err)
{
	_cleanup_(part_done) struct part p = {.spec = {.root = c->repo->root,
						  .suite = c->suite.name,
						  .component = component,
						  .arch = arch,
						  .compat = c->suite.compat,
						  .no_gz = c->suite.no_gz}};
	if (fill_part(c, &p, err) < 0)
		return -1;
	if (!p.row.stale && !p.adds.n && !p.n_removals) {
		carry_over(c, &p.spec, files);
		return 0;
	}
	struct index_change change = {.adds = p.adds.v,
	    .n_adds = p.adds.n,
	    .removals = p.removals,
	    .n_removals = p.n_removals};
	return index_write(c->arena, c->repo->state, c->txn, &p.spec, &p.row, &change, files, err);
}
