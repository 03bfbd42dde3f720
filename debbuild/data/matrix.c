#include "matrix.h"

#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"
#include "../../lib/deb/stanza.h"
#include "../../lib/deb/version.h"
#include "field.h"
#include "recipe.h"

int matrix_compare(const char *a, const char *b)
{
	return version_compare(a, b);
}

/* One of the files of data, read into stanzas of which there is at least one. */
static int load(
    struct arena *a, const struct field_source *f, const char *expected, struct stanza_list *list)
{
	if (stanza_parse_file(a, f->path, STANZA_COMMENTS, list, f->err) < 0)
		return -1;
	return field_check_some(f, list, expected);
}

static int parse_torch(
    struct arena *a, const struct stanza *s, const struct field_source *f, struct torch_release *t)
{
	static const char *const fields[] = {
	    "Torch", "Cuda", "Triton", "Cxx", "Python", "Index", NULL};
	if (stanza_check_fields(s, fields, f->path, f->err) < 0 ||
	    !(t->version = field_version(f, s, "Torch", 3)) ||
	    !(t->cuda = field_version(f, s, "Cuda", 2)) ||
	    !(t->triton = field_version(f, s, "Triton", 3)) ||
	    !(t->cxx = field_need(f, s, "Cxx")) || !field_need(f, s, "Python") ||
	    !(t->pythons = field_versions(a, f, s, "Python")))
		return -1;
	t->index = stanza_get(s, "Index");
	t->line = s->line;
	t->minor = arena_strndup(a, t->version, (size_t)(strrchr(t->version, '.') - t->version));
	if (strcmp(t->cxx, "17") && strcmp(t->cxx, "20"))
		return field_fail(f, s, "Cxx", "is '%s', expected 17 or 20", t->cxx);
	return 0;
}

/* A bound of a gap, which may be absent. */
static int parse_bound(
    const struct stanza *s, const struct field_source *f, const char *name, const char **out)
{
	*out = NULL;
	return stanza_get(s, name) && !(*out = field_version(f, s, name, 2)) ? -1 : 0;
}

static int parse_gap(const struct stanza *s, const struct field_source *f, struct torch_gap *g)
{
	static const char *const fields[] = {"Gap", "Torch-From", "Torch-To", "Reason", NULL};
	if (stanza_check_fields(s, fields, f->path, f->err) < 0 ||
	    !(g->cuda = field_version(f, s, "Gap", 2)) ||
	    parse_bound(s, f, "Torch-From", &g->torch_from) < 0 ||
	    parse_bound(s, f, "Torch-To", &g->torch_to) < 0 ||
	    !(g->reason = field_need(f, s, "Reason")))
		return -1;
	return 0;
}

/* No torch may stand in a gap. */
static int check_gaps(
    const struct matrix *m, const struct stanza_list *list, const struct field_source *f)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct stanza *s = &list->v[i];
		const char *torch = stanza_get(s, "Torch");
		const struct torch_release *t =
		    torch ? matrix_torch(m, torch, stanza_get(s, "Cuda")) : NULL;
		if (t && matrix_gap(m, t->minor, t->cuda))
			return field_fail(f, s, "Torch",
			    "is %s, which a stanza 'Gap: %s' says does not exist", torch, t->cuda);
	}
	return 0;
}

static int load_torches(struct arena *a, const struct field_source *f, struct matrix *m)
{
	struct stanza_list list = {0};
	if (load(a, f, "Torch: VERSION", &list) < 0)
		return -1;
	m->torches = arena_alloc(a, list.n * sizeof *m->torches);
	m->gaps = arena_alloc(a, list.n * sizeof *m->gaps);
	for (size_t i = 0; i < list.n; i++) {
		if (stanza_get(&list.v[i], "Gap")) {
			if (parse_gap(&list.v[i], f, &m->gaps[m->n_gaps++]) < 0)
				return -1;
			continue;
		}
		struct torch_release *t = &m->torches[m->n_torches];
		if (parse_torch(a, &list.v[i], f, t) < 0)
			return -1;
		if (matrix_torch(m, t->minor, t->cuda))
			return field_fail(f, &list.v[i], "Torch",
			    "is %s for CUDA %s again, expected each pair once", t->minor, t->cuda);
		m->n_torches++;
	}
	return check_gaps(m, &list, f);
}

/* The toolkits from Cuda-From to Cuda-To, which may be NULL. */
static int parse_range(
    const struct stanza *s, const struct field_source *f, const char **from, const char **to)
{
	if (!(*from = field_version(f, s, "Cuda-From", 2)))
		return -1;
	*to = NULL;
	if (!stanza_get(s, "Cuda-To"))
		return 0;
	if (!(*to = field_version(f, s, "Cuda-To", 2)))
		return -1;
	if (matrix_compare(*from, *to) > 0)
		return field_fail(
		    f, s, "Cuda-To", "is '%s', expected %s or a later CUDA", *to, *from);
	return 0;
}

static int parse_arch(
    struct arena *a, const struct stanza *s, const struct field_source *f, struct gpu_arch *g)
{
	static const char *const fields[] = {
	    "Arch", "Name", "Cuda-From", "Cuda-To", "Runs-On", "Default", "Torch", NULL};
	if (stanza_check_fields(s, fields, f->path, f->err) < 0 ||
	    !(g->cc = field_version(f, s, "Arch", 2)) || !(g->name = field_need(f, s, "Name")) ||
	    parse_range(s, f, &g->cuda_from, &g->cuda_to) < 0 ||
	    !(g->defaults = field_versions(a, f, s, "Default")) ||
	    !(g->runs_on = field_versions(a, f, s, "Runs-On")) ||
	    !(g->torches = field_versions(a, f, s, "Torch")))
		return -1;
	size_t whole = strcspn(g->cc, ".");
	g->sm = arena_printf(a, "%.*s%s", (int)whole, g->cc, g->cc + whole + 1);
	return 0;
}

static int parse_denial(const struct stanza *s, const struct field_source *f, struct arch_denial *d)
{
	static const char *const fields[] = {"Deny", "Cuda-From", "Cuda-To", "Reason", NULL};
	if (stanza_check_fields(s, fields, f->path, f->err) < 0 ||
	    !(d->cc = field_version(f, s, "Deny", 2)) || !field_need(f, s, "Cuda-To") ||
	    parse_range(s, f, &d->cuda_from, &d->cuda_to) < 0 ||
	    !(d->reason = field_need(f, s, "Reason")))
		return -1;
	return 0;
}

static const struct gpu_arch *find_arch(const struct matrix *m, const char *cc)
{
	for (size_t i = 0; i < m->n_archs; i++)
		if (!strcmp(m->archs[i].cc, cc))
			return &m->archs[i];
	return NULL;
}

/* A denial must hit an arch, and no arch may be the default of a CUDA that cannot build it. */
static int check_archs(
    const struct matrix *m, const struct stanza_list *list, const struct field_source *f)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct stanza *s = &list->v[i];
		const char *denied = stanza_get(s, "Deny");
		if (denied && !find_arch(m, denied))
			return field_fail(
			    f, s, "Deny", "is '%s', expected an arch of this file", denied);
		const struct gpu_arch *g = denied ? NULL : find_arch(m, stanza_get(s, "Arch"));
		for (char **cuda = g ? g->defaults : NULL; cuda && *cuda; cuda++) {
			const struct gpu_arch *found;
			if (matrix_arch(m, g->cc, *cuda, &found, f->err) == 0)
				continue;
			_free_ char *why = xstrdup(f->err ? f->err->msg : "");
			return field_fail(
			    f, s, "Default", "has '%s', but that cannot be: %s", *cuda, why);
		}
	}
	return 0;
}

static int load_archs(struct arena *a, const struct field_source *f, struct matrix *m)
{
	struct stanza_list list = {0};
	if (load(a, f, "Arch: CAPABILITY", &list) < 0)
		return -1;
	m->archs = arena_alloc(a, list.n * sizeof *m->archs);
	m->denials = arena_alloc(a, list.n * sizeof *m->denials);
	for (size_t i = 0; i < list.n; i++) {
		const struct stanza *s = &list.v[i];
		if (stanza_get(s, "Deny")) {
			if (parse_denial(s, f, &m->denials[m->n_denials++]) < 0)
				return -1;
			continue;
		}
		struct gpu_arch *g = &m->archs[m->n_archs];
		if (parse_arch(a, s, f, g) < 0)
			return -1;
		if (find_arch(m, g->cc))
			return field_fail(f, s, "Arch", "is %s again, expected it once", g->cc);
		m->n_archs++;
	}
	return check_archs(m, &list, f);
}

static int parse_parts(
    struct arena *a, const struct stanza *s, const struct field_source *f, struct toolkit_recipe *t)
{
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	strv_split(&lines, stanza_get(s, "Parts"), "\n");
	t->parts = arena_alloc(a, lines.n * sizeof *t->parts);
	for (size_t i = 0; i < lines.n; i++) {
		char **words = recipe_words(a, lines.v[i]);
		if (!words[0] || !words[1] || !words[2])
			return field_fail(f, s, "Parts",
			    "has '%s', expected lines of 'PROJECT VERSION MEMBER...'", lines.v[i]);
		t->parts[t->n_parts++] = (struct toolkit_part){
		    .project = words[0], .version = words[1], .members = words + 2};
	}
	return 0;
}

static int parse_toolkit(
    struct arena *a, const struct stanza *s, const struct field_source *f, struct toolkit_recipe *t)
{
	static const char *const fields[] = {"Cuda", "Route", "Runtime", "Parts", NULL};
	if (stanza_check_fields(s, fields, f->path, f->err) < 0 ||
	    !(t->cuda = field_version(f, s, "Cuda", 2)) ||
	    !(t->route = field_need(f, s, "Route")) || !field_need(f, s, "Runtime") ||
	    !field_need(f, s, "Parts"))
		return -1;
	if (strcmp(t->route, "clang") && strcmp(t->route, "nvcc") && strcmp(t->route, "nvrtc"))
		return field_fail(
		    f, s, "Route", "is '%s', expected nvcc, nvrtc or clang", t->route);
	char **runtime = recipe_words(a, stanza_get(s, "Runtime"));
	if (!runtime[0] || !runtime[1] || runtime[2])
		return field_fail(f, s, "Runtime", "is '%s', expected 'PROJECT VERSION'",
		    stanza_get(s, "Runtime"));
	t->runtime_project = runtime[0];
	t->runtime_version = runtime[1];
	return parse_parts(a, s, f, t);
}

static int load_toolkits(struct arena *a, const struct field_source *f, struct matrix *m)
{
	struct stanza_list list = {0};
	if (load(a, f, "Cuda: VERSION", &list) < 0)
		return -1;
	m->toolkits = arena_alloc(a, list.n * sizeof *m->toolkits);
	for (size_t i = 0; i < list.n; i++) {
		struct toolkit_recipe *t = &m->toolkits[m->n_toolkits];
		if (parse_toolkit(a, &list.v[i], f, t) < 0)
			return -1;
		if (matrix_toolkit(m, t->cuda))
			return field_fail(
			    f, &list.v[i], "Cuda", "is %s again, expected it once", t->cuda);
		m->n_toolkits++;
	}
	return 0;
}

int matrix_load(struct arena *a, const char *templates_dir, struct matrix *out, struct err *err)
{
	_free_ char *torches = path_join(templates_dir, "matrix");
	_free_ char *archs = path_join(templates_dir, "archs");
	_free_ char *toolkits = path_join(templates_dir, "toolkits");
	struct matrix m = {0};
	if (load_torches(a, &(struct field_source){torches, err}, &m) < 0 ||
	    load_archs(a, &(struct field_source){archs, err}, &m) < 0 ||
	    load_toolkits(a, &(struct field_source){toolkits, err}, &m) < 0)
		return -1;
	*out = m;
	return 0;
}

const struct torch_release *matrix_torch(
    const struct matrix *m, const char *torch, const char *cuda)
{
	for (size_t i = 0; i < m->n_torches; i++) {
		const struct torch_release *t = &m->torches[i];
		if ((!strcmp(t->version, torch) || !strcmp(t->minor, torch)) &&
		    !strcmp(t->cuda, cuda))
			return t;
	}
	return NULL;
}

const struct torch_gap *matrix_gap(const struct matrix *m, const char *minor, const char *cuda)
{
	for (size_t i = 0; i < m->n_gaps; i++) {
		const struct torch_gap *g = &m->gaps[i];
		if (!strcmp(g->cuda, cuda) &&
		    (!g->torch_from || matrix_compare(g->torch_from, minor) <= 0) &&
		    (!g->torch_to || matrix_compare(minor, g->torch_to) <= 0))
			return g;
	}
	return NULL;
}

const struct toolkit_recipe *matrix_toolkit(const struct matrix *m, const char *cuda)
{
	for (size_t i = 0; i < m->n_toolkits; i++)
		if (!strcmp(m->toolkits[i].cuda, cuda))
			return &m->toolkits[i];
	return NULL;
}

const char *toolkit_part_version(const struct toolkit_recipe *t, const char *member)
{
	for (size_t i = 0; i < t->n_parts; i++)
		for (char **m = t->parts[i].members; *m; m++)
			if (!strcmp(*m, member))
				return t->parts[i].version;
	return NULL;
}

/* The compute capability of an arch as compilers name it: "sm_90" is 9.0. NULL if none is so named.
 */
static const char *by_sm_name(const struct matrix *m, const char *word)
{
	static const char *const prefixes[] = {"sm_", "compute_"};
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		for (size_t k = 0; str_starts(word, prefixes[i]) && k < m->n_archs; k++)
			if (!strcmp(m->archs[k].sm, word + strlen(prefixes[i])))
				return m->archs[k].cc;
	return NULL;
}

int matrix_arch(const struct matrix *m, const char *word, const char *cuda,
    const struct gpu_arch **out, struct err *err)
{
	const char *named = by_sm_name(m, word), *cc = named ? named : word;
	for (size_t i = 0; i < m->n_denials; i++) {
		const struct arch_denial *d = &m->denials[i];
		if (!strcmp(d->cc, cc) && matrix_compare(d->cuda_from, cuda) <= 0 &&
		    matrix_compare(cuda, d->cuda_to) <= 0)
			return err_set(err, ERR_USAGE, "arch %s is not built with CUDA %s: %s", cc,
			    cuda, d->reason);
	}
	const struct gpu_arch *g = find_arch(m, cc);
	if (!g) {
		_cleanup_(strv_done) struct strv known = STRV_INIT;
		for (size_t i = 0; i < m->n_archs; i++)
			strv_add(&known, m->archs[i].cc);
		_free_ char *list = strv_join(&known, " ");
		return err_set(err, ERR_USAGE, "unknown GPU arch '%s'; known are: %s", cc, list);
	}
	if (matrix_compare(cuda, g->cuda_from) < 0)
		return err_set(err, ERR_USAGE, "arch %s (%s) needs CUDA %s or newer, not %s", cc,
		    g->name, g->cuda_from, cuda);
	if (g->cuda_to && matrix_compare(cuda, g->cuda_to) > 0)
		return err_set(err, ERR_USAGE, "arch %s (%s) was dropped after CUDA %s", cc,
		    g->name, g->cuda_to);
	*out = g;
	return 0;
}

int matrix_check_cuda(const struct matrix *m, const char *cuda, struct err *err)
{
	_cleanup_(strv_done) struct strv known = STRV_INIT;
	for (size_t i = 0; i < m->n_torches; i++)
		strv_add(&known, m->torches[i].cuda);
	strv_uniq(&known);
	if (strv_has(&known, cuda))
		return 0;
	_free_ char *list = strv_join(&known, " ");
	return err_set(
	    err, ERR_USAGE, "no torch is known for CUDA '%s'; known are: %s", cuda, list);
}
