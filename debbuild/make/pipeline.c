#include "pipeline.h"

#include <string.h>
#include <time.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/clock.h"
#include "../../lib/base/digest.h"
#include "../../lib/base/err.h"
#include "../../lib/base/intr.h"
#include "../../lib/base/lock.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/sign/keyring.h"
#include "../../lib/deb/stanza.h"
#include "../abi/abi_prove.h"
#include "buildenv.h"
#include "../plan/cost.h"
#include "inputs.h"
#include "../data/lockfile.h"
#include "ninja.h"
#include "pack.h"
#include "papers.h"
#include "slurm.h"
#include "stage.h"

/* Room that work needs before it starts: the inputs, and the outputs for each GPU arch. */
#define SPACE_INPUTS	((uint64_t)500 << 20)
#define SPACE_EACH_ARCH ((uint64_t)150 << 20)
/* Of a triton recipe: torch and the rest, and each Triton's environment. */
#define SPACE_TORCH	  ((uint64_t)1000 << 20)
#define SPACE_EACH_TRITON ((uint64_t)1000 << 20)

/*
 * Grows with the keys: by the newest subkey's time, then by the time to which it lives. While the
 * next keys are only shipped, it is less than it will be when they alone are left.
 */
static const char *keyring_version(struct arena *a, time_t made, time_t expires, bool overlap)
{
	struct tm tm, ends;
	gmtime_r(&made, &tm);
	const char *text = arena_printf(a, "%d.%02d.%02d.%02d%02d%02d", tm.tm_year + 1900,
	    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (expires) {
		gmtime_r(&expires, &ends);
		text = arena_printf(
		    a, "%s+%d.%02d.%02d", text, ends.tm_year + 1900, ends.tm_mon + 1, ends.tm_mday);
	}
	return arena_printf(a, "%s%s-1", text, overlap ? "~overlap" : "");
}

/* Finds a key that is fit to sign, and adds it to those of the keyring package. */
static int take_key(struct arena *a, const char *fpr, struct pipeline_plan *out, struct key_info *k,
    struct err *err)
{
	if (keyring_find(fpr, k, a, err) < 0 || keyring_check(fpr, err) < 0)
		return -1;
	if (!strv_has(&out->keys, k->fpr))
		strv_add(&out->keys, k->fpr);
	return 0;
}

static int find_key(struct arena *a, const struct pipeline_request *r, struct pipeline_plan *out,
    struct selection *sel, struct err *err)
{
	struct key_info k, next;
	if (take_key(a, r->sign_key, out, &k, err) < 0)
		return -1;
	if (!k.secret && !r->no_sign)
		return err_set(
		    err, ERR_TRUST, "the secret key of %s is not in this GNUPGHOME", k.fpr);
	out->sign_key = arena_strdup(a, k.fpr);
	time_t made = k.created, expires = k.expires;
	for (size_t i = 0; r->next_keys && i < r->next_keys->n; i++) {
		if (take_key(a, r->next_keys->v[i], out, &next, err) < 0)
			return -1;
		if (next.created > made) {
			made = next.created;
			expires = next.expires;
		}
	}
	sel->keyring_version = keyring_version(a, made, expires, out->keys.n > 1);
	return 0;
}

/* Leaves the keyring package alone in the plan. */
static int keep_keyring(struct plan *p, struct err *err)
{
	size_t kept = 0;
	for (size_t i = 0; i < p->n_packages; i++)
		if (!strcmp(p->packages[i].kind, "keyring"))
			p->packages[kept++] = p->packages[i];
	p->n_packages = kept;
	return kept ? 0 : err_set(err, ERR_USAGE, "without a key there is no keyring package");
}

int pipeline_plan(
    struct arena *a, const struct pipeline_request *r, struct pipeline_plan *out, struct err *err)
{
	_free_ char *templates = path_templates_dir(err);
	if (!templates)
		return -1;
	_free_ char *lock_path = path_join(templates, "lock");
	struct selection sel = r->selection;
	*out = (struct pipeline_plan){.templates = arena_strdup(a, templates)};
	if (matrix_load(a, templates, &out->matrix, err) < 0 ||
	    recipe_load(a, templates, r->recipe, &out->recipe, err) < 0 ||
	    lockfile_load(a, lock_path, &out->lock, err) < 0 ||
	    (r->sign_key && find_key(a, r, out, &sel, err) < 0) ||
	    host_gather(a, &out->recipe, &out->matrix, &sel, r->toolchain, &out->host, err) < 0)
		return -1;
	if (plan_make(
		a, &out->recipe, &out->matrix, &out->lock, &out->host, &sel, &out->plan, err) < 0)
		return -1;
	return r->keyring_only ? keep_keyring(&out->plan, err) : 0;
}

void pipeline_plan_done(struct pipeline_plan *p)
{
	strv_done(&p->keys);
}

/* All packages stand there, made from what the plan says. */
static bool all_current(
    struct arena *a, const struct stage_context *c, const char *out, struct pack_result *results)
{
	for (size_t i = 0; i < c->plan->n_packages; i++)
		if (!pack_is_current(a, c, &c->plan->packages[i], out, &results[i]) ||
		    (!c->no_sign && !papers_are_current(c, &results[i])))
			return false;
	return true;
}

static int check_space(const struct plan *p, const char *where, struct err *err)
{
	uint64_t have, need = SPACE_INPUTS + SPACE_EACH_ARCH * p->n_archs;
	if (p->n_tritons)
		need += SPACE_TORCH + SPACE_EACH_TRITON * p->n_tritons;
	if (path_free_bytes(where, &have, err) < 0)
		return -1;
	if (have >= need)
		return 0;
	return err_set(err, ERR_SYSTEM,
	    "about %llu MB are needed in '%s', %llu are free: make room, or choose another place "
	    "with "
	    "--out and DEBKIT_CACHE",
	    (unsigned long long)(need >> 20), where, (unsigned long long)(have >> 20));
}

/* Says to each costly step how its job is to be. */
static int prepare_slurm(struct arena *a, const struct stage_context *c,
    const struct slurm_cluster *cluster, const char *objects, struct ninja_launch *out,
    struct err *err)
{
	struct step_estimate *e;
	*out = (struct ninja_launch){
	    .jobs = SLURM_JOBS, .slots = cluster->cores, .heavy_slots = cluster->heavy};
	return cost_estimate(a, c->plan, objects, &e, err) < 0
		   ? -1
		   : slurm_prepare(c->plan, e, cluster, c->work, err);
}

static int compile(struct arena *a, const struct pipeline_request *r, const struct stage_context *c,
    const struct slurm_cluster *cluster, const struct pipeline_events *events, struct partial *out,
    struct err *err)
{
	_cleanup_(ninja_result_done) struct ninja_result res = NINJA_RESULT_INIT;
	_free_ char *objects = path_join(c->cache, r->objects ? r->objects : "object");
	_free_ char *graph = path_join(c->work, "build.ninja");
	_cleanup_(buf_done) struct buf text = BUF_INIT(PATH_READ_MAX);
	char program[4096];
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
	if (n < 0)
		return err_sys(err, "cannot tell where debkit itself lies");
	program[n] = '\0';
	if ((r->objects || access(c->cache, W_OK) == 0) && path_mkdirs(objects, err) < 0)
		return -1;
	struct ninja_launch launch = {.words = r->launcher};
	if (r->slurm && prepare_slurm(a, c, cluster, objects, &launch, err) < 0)
		return -1;
	ninja_write(c->plan, program, objects, &launch, &text);
	if (buf_check(&text, "build.ninja", err) < 0 ||
	    outfile_put_if_changed(graph, 0644, text.data, text.len, err) < 0)
		return -1;
	struct ninja_progress progress = {.progress = events->progress, .arg = events->arg};
	int rc = ninja_run(c->plan, &launch, c->work, &progress, &res, err);
	if (r->slurm)
		slurm_cancel_all(c->work);
	if (rc < 0)
		return -1;
	return partial_make(a, c->plan, &res, events->warn, events->arg, out, err);
}

static void warn_of_missing(const struct plan *p, const struct pipeline_events *events)
{
	for (char **v = p->unknown_tritons; v && *v; v++) {
		_free_ char *text =
		    xasprintf("left out: Triton %s (the recipe builds no kernels for it)", *v);
		events->warn(events->arg, text);
	}
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	for (char **v = p->missing_pythons; *v; v++)
		strv_add(&names, *v);
	_free_ char *list = strv_join(&names, ", ");
	_free_ char *text = xasprintf("left out: Python %s (no headers on this machine, and apt "
				      "offers no libpython3.X-dev of it)",
	    list);
	if (names.n)
		events->warn(events->arg, text);
}

/* All that decides what abi_prove finds, beside the bindings themselves. */
static const char *proof_id(struct arena *a, const struct pipeline_plan *pp)
{
	struct digest *d = digest_new(DIGEST_SHA256);
	for (size_t i = 0; i < pp->matrix.n_torches; i++) {
		const struct torch_release *t = &pp->matrix.torches[i];
		if (!strcmp(t->cuda, pp->plan.cuda))
			digest_update(d, t->version, strlen(t->version) + 1);
	}
	for (size_t i = 0; i < pp->lock.n; i++) {
		const char *hash = pp->lock.v[i].exports_sha256;
		if (hash)
			digest_update(d, hash, strlen(hash) + 1);
	}
	char hex[DIGEST_HEX_MAX];
	digest_finish_hex(d, hex);
	return arena_strdup(a, hex);
}

static int prove(struct arena *a, const struct pipeline_plan *pp, struct stage_context *c,
    const struct pipeline_events *events, struct err *err)
{
	struct abi_paths paths = {.templates = c->templates,
	    .cache = c->cache,
	    .work = c->work,
	    .note = events->note,
	    .arg = events->arg};
	struct abi_proof *proofs;
	if (abi_prove(a, c->plan, &pp->matrix, &pp->lock, &paths, &proofs, err) < 0)
		return -1;
	c->proofs = proofs;
	return 0;
}

/* One fetcher at a time fills the cache; another build waits, and then finds what it needs. */
static int fetch(
    const struct plan *p, const char *cache, const struct pipeline_events *events, struct err *err)
{
	_free_ char *path = path_join(cache, ".debkit.lock");
	_close_ int lock = -1;
	struct inputs_report report = {
	    .note = events->note, .progress = events->bytes, .arg = events->arg};
	if (path_mkdirs(cache, err) < 0)
		return -1;
	/* A cache that others fill, and that holds all, need not be writable. */
	if (access(cache, W_OK) < 0)
		return inputs_fetch(p, cache, &report, err);
	if (lock_take(path, false, NULL, &lock, err) < 0) {
		if (err->code != ERR_CONFLICT)
			return -1;
		events->note(events->arg, "another build fills the cache; waiting for it");
		if (lock_take(path, true, NULL, &lock, err) < 0)
			return -1;
	}
	return inputs_fetch(p, cache, &report, err);
}

/* Papers for the packages that lack them; this machine is described once for all. */
static int write_papers(struct arena *a, const struct stage_context *c,
    const struct pack_result *results, struct err *err)
{
	struct stanza env = {0};
	for (size_t i = 0; i < c->plan->n_packages && !c->no_sign; i++) {
		if (papers_are_current(c, &results[i]))
			continue;
		if ((!env.n && buildenv_read(a, c->plan, c->work, &env, err) < 0) ||
		    papers_write(a, c, &c->plan->packages[i], &results[i], &env, err) < 0)
			return -1;
	}
	return 0;
}

static int pack(struct arena *a, const struct stage_context *c, const char *dir,
    const struct pipeline_events *events, struct pack_result *results, struct err *err)
{
	for (size_t i = 0; i < c->plan->n_packages; i++) {
		const struct plan_package *pkg = &c->plan->packages[i];
		if (intr_check(err) < 0)
			return -1;
		events->progress(events->arg, i, c->plan->n_packages, pkg->name, -1);
		if (pack_package(a, c, pkg, dir, &results[i], err) < 0)
			return -1;
	}
	return write_papers(a, c, results, err);
}

/* Names that go into build.ninja and into lists of files, one on each line. */
static int check_names(const char *dir, const char *cache, const char *launcher, struct err *err)
{
	const struct {
		const char *what, *name;
	} v[] = {{"--out", dir}, {"the cache's folder", cache}, {"--launcher", launcher}};
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		if (v[i].name && strpbrk(v[i].name, "\n\r"))
			return err_set(err, ERR_USAGE, "%s '%s' holds a line end: choose another",
			    v[i].what, v[i].name);
	return 0;
}

/* Found now, and not after a long compilation. */
static int check_places(const struct plan *p, const char *dir, const char *cache, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	if (tmp && *tmp && !(path_is_dir(tmp) && access(tmp, W_OK | X_OK) == 0))
		return err_set(err, ERR_SYSTEM,
		    "TMPDIR '%s' is no folder that can be written: set it to one, or unset it",
		    tmp);
	for (size_t i = 0; i < p->n_packages; i++)
		if (pack_check_target(&p->packages[i], dir, err) < 0)
			return -1;
	return check_space(p, dir, err) < 0 ? -1 : check_space(p, cache, err);
}

static void note_compiler(const struct plan *p, const struct pipeline_events *events)
{
	const struct host *h = p->host;
	_cleanup_(strv_done) struct strv tritons = STRV_INIT;
	for (size_t i = 0; i < p->n_tritons; i++)
		strv_add(&tritons, p->tritons[i].version);
	_free_ char *list = strv_join(&tritons, ", ");
	_free_ char *text =
	    xasprintf("compiling with %s%s%s%s%s", h->compiler, tritons.n ? " " : "", list,
		h->toolkit_root ? " in " : "", h->toolkit_root ? h->toolkit_root : "");
	events->note(events->arg, text);
}

static int look_at_slurm(struct arena *a, const struct pipeline_request *r, const struct plan *p,
    const struct pipeline_events *events, struct slurm_cluster *out, struct err *err)
{
	if (slurm_look(a, r->partition, r->nodes, p->heavy_bytes, out, err) < 0)
		return -1;
	_free_ char *text = xasprintf("on Slurm's partition %s: nodes %u, cores %u, large steps "
				      "at once %u",
	    out->partition, out->nodes, out->cores, out->heavy);
	events->note(events->arg, text);
	return 0;
}

static int build(struct arena *a, const struct pipeline_request *r, const struct pipeline_plan *pp,
    struct stage_context *c, const char *dir, const struct pipeline_events *events,
    struct pipeline_result *out, struct err *err)
{
	if (check_places(c->plan, dir, c->cache, err) < 0)
		return -1;
	if (r->keyring_only)
		return path_mkdirs(c->work, err) < 0 ? -1
						     : pack(a, c, dir, events, out->packages, err);
	bool steps = c->plan->n_steps > 0;
	struct slurm_cluster cluster = {0};
	out->partial.plan = *c->plan;
	if (steps && r->slurm && look_at_slurm(a, r, c->plan, events, &cluster, err) < 0)
		return -1;
	if (steps)
		note_compiler(c->plan, events);
	if (fetch(c->plan, c->cache, events, err) < 0 ||
	    inputs_link(c->plan, c->cache, c->work, err) < 0 ||
	    (steps && compile(a, r, c, &cluster, events, &out->partial, err) < 0))
		return -1;
	if (r->compile_only)
		return 0;
	c->plan = &out->partial.plan;
	bool bindings = steps && c->plan->recipe->kind == RECIPE_EXTENSION;
	return bindings && prove(a, pp, c, events, err) < 0
		   ? -1
		   : pack(a, c, dir, events, out->packages, err);
}

int pipeline_build(struct arena *a, const struct pipeline_request *r,
    const struct pipeline_events *events, struct pipeline_result *out, struct err *err)
{
	_cleanup_(pipeline_plan_done) struct pipeline_plan pp = {0};
	_close_ int lock = -1;
	_free_ char *dir = path_absolute(r->out, err);
	_free_ char *cache = path_cache_dir(err);
	if (!dir || !cache || check_names(dir, cache, r->launcher, err) < 0 ||
	    pipeline_plan(a, r, &pp, err) < 0 || path_mkdirs(dir, err) < 0)
		return -1;
	_free_ char *lock_path = path_join(dir, ".debkit.lock");
	_free_ char *work = xasprintf("%s/work/%s-%s", dir, pp.recipe.name, pp.plan.flavour);
	struct stage_context c = {.plan = &pp.plan,
	    .templates = pp.templates,
	    .cache = cache,
	    .work = work,
	    .sign_key = pp.sign_key,
	    .no_sign = r->no_sign,
	    .keys = &pp.keys,
	    .repo_url = r->repo_url,
	    .proof_id = proof_id(a, &pp)};
	if (clock_source_date(pp.recipe.date, &c.date, err) < 0 ||
	    lock_take(lock_path, false, NULL, &lock, err) < 0)
		return -1;
	warn_of_missing(&pp.plan, events);
	*out = (struct pipeline_result){.n_packages = r->compile_only ? 0 : pp.plan.n_packages,
	    .n_parts = pp.plan.n_bindings + pp.plan.n_tritons,
	    .packages = arena_alloc(a, (pp.plan.n_packages + 1) * sizeof *out->packages)};
	out->did_work = r->compile_only || !all_current(a, &c, dir, out->packages);
	return out->did_work ? build(a, r, &pp, &c, dir, events, out, err) : 0;
}
