#include "matrix.h"

#include <string.h>

#include "../base/arena.h"
#include "../base/err.h"
#include "../base/path.h"
#include "../base/strv.h"
#include "../deb/stanza.h"
#include "../deb/version.h"
#include "recipe.h"

int matrix_compare(const char *a, const char *b)
{
	return version_compare(a, b);
}

static bool is_dotted(const char *s)
{
	size_t digits = strspn(s, "0123456789.");
	return digits == strlen(s) && s[0] >= '0' && s[0] <= '9' && strchr(s, '.') &&
	       !str_ends(s, ".") && !strstr(s, "..");
}

/* The value of a field that must be there and be a dotted version. */
static const char *need(
    const struct stanza *s, const char *name, const char *source, bool dotted, struct err *err)
{
	const char *v = stanza_get(s, name);
	if (!v) {
		err_set(err, ERR_FORMAT, "%s:%u: field '%s' is missing", source, s->line, name);
		return NULL;
	}
	if (dotted && !is_dotted(v)) {
		err_set(err, ERR_FORMAT, "%s:%u: %s is '%s', expected a version such as 12.8",
		    source, stanza_find(s, name)->line, name, v);
		return NULL;
	}
	return v;
}

static int check_list(
    char **v, const struct stanza *s, const char *name, const char *source, struct err *err)
{
	for (; *v; v++)
		if (!is_dotted(*v))
			return err_set(err, ERR_FORMAT,
			    "%s:%u: %s has '%s', expected versions such as 3.11", source,
			    stanza_find(s, name)->line, name, *v);
	return 0;
}

static int parse_torch(struct arena *a, const struct stanza *s, const char *source,
    struct torch_release *t, struct err *err)
{
	static const char *const fields[] = {
	    "Torch", "Cuda", "Triton", "Cxx", "Python", "Index", NULL};
	if (stanza_check_fields(s, fields, source, err) < 0 ||
	    !(t->version = need(s, "Torch", source, true, err)) ||
	    !(t->cuda = need(s, "Cuda", source, true, err)) ||
	    !(t->triton = need(s, "Triton", source, true, err)) ||
	    !(t->cxx = need(s, "Cxx", source, false, err)) ||
	    !need(s, "Python", source, false, err))
		return -1;
	t->index = stanza_get(s, "Index");
	t->pythons = recipe_words(a, stanza_get(s, "Python"));
	const char *dot = strchr(t->version, '.');
	t->minor = arena_strndup(
	    a, t->version, (size_t)(dot - t->version) + 1 + strspn(dot + 1, "0123456789"));
	if (strcmp(t->cxx, "17") && strcmp(t->cxx, "20"))
		return err_set(err, ERR_FORMAT, "%s:%u: Cxx is '%s', expected 17 or 20", source,
		    stanza_find(s, "Cxx")->line, t->cxx);
	return check_list(t->pythons, s, "Python", source, err);
}

static int load_torches(struct arena *a, const char *path, struct matrix *m, struct err *err)
{
	struct stanza_list list = {0};
	if (stanza_parse_file(a, path, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	m->torches = arena_alloc(a, (list.n + 1) * sizeof *m->torches);
	for (size_t i = 0; i < list.n; i++) {
		struct torch_release *t = &m->torches[m->n_torches];
		if (parse_torch(a, &list.v[i], path, t, err) < 0)
			return -1;
		if (matrix_torch(m, t->minor, t->cuda))
			return err_set(err, ERR_FORMAT,
			    "%s:%u: torch %s for CUDA %s stands here a second time", path,
			    list.v[i].line, t->minor, t->cuda);
		m->n_torches++;
	}
	return 0;
}

static int parse_arch(struct arena *a, const struct stanza *s, const char *source,
    struct gpu_arch *g, struct err *err)
{
	static const char *const fields[] = {
	    "Arch", "Name", "Cuda-From", "Cuda-To", "Runs-On", "Default", NULL};
	if (stanza_check_fields(s, fields, source, err) < 0 ||
	    !(g->cc = need(s, "Arch", source, true, err)) ||
	    !(g->name = need(s, "Name", source, false, err)) ||
	    !(g->cuda_from = need(s, "Cuda-From", source, true, err)))
		return -1;
	g->cuda_to = stanza_get(s, "Cuda-To");
	g->defaults = recipe_words(a, stanza_get(s, "Default"));
	g->runs_on = recipe_words(a, stanza_get(s, "Runs-On"));
	size_t whole = strcspn(g->cc, ".");
	g->sm = arena_printf(a, "%.*s%s", (int)whole, g->cc, g->cc + whole + 1);
	return check_list(g->defaults, s, "Default", source, err);
}

static int parse_denial(
    const struct stanza *s, const char *source, struct arch_denial *d, struct err *err)
{
	static const char *const fields[] = {"Deny", "Cuda-From", "Cuda-To", "Reason", NULL};
	if (stanza_check_fields(s, fields, source, err) < 0 ||
	    !(d->cc = need(s, "Deny", source, true, err)) ||
	    !(d->cuda_from = need(s, "Cuda-From", source, true, err)) ||
	    !(d->cuda_to = need(s, "Cuda-To", source, true, err)) ||
	    !(d->reason = need(s, "Reason", source, false, err)))
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

static int load_archs(struct arena *a, const char *path, struct matrix *m, struct err *err)
{
	struct stanza_list list = {0};
	if (stanza_parse_file(a, path, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	m->archs = arena_alloc(a, (list.n + 1) * sizeof *m->archs);
	m->denials = arena_alloc(a, (list.n + 1) * sizeof *m->denials);
	for (size_t i = 0; i < list.n; i++) {
		const struct stanza *s = &list.v[i];
		if (stanza_get(s, "Deny")) {
			if (parse_denial(s, path, &m->denials[m->n_denials++], err) < 0)
				return -1;
			continue;
		}
		struct gpu_arch *g = &m->archs[m->n_archs];
		if (parse_arch(a, s, path, g, err) < 0)
			return -1;
		if (find_arch(m, g->cc))
			return err_set(err, ERR_FORMAT, "%s:%u: arch %s stands here a second time",
			    path, s->line, g->cc);
		m->n_archs++;
	}
	return 0;
}

static int parse_toolkit(struct arena *a, const struct stanza *s, const char *source,
    struct toolkit_recipe *t, struct err *err)
{
	static const char *const fields[] = {"Cuda", "Route", "Runtime", "Parts", NULL};
	if (stanza_check_fields(s, fields, source, err) < 0 ||
	    !(t->cuda = need(s, "Cuda", source, true, err)) ||
	    !(t->route = need(s, "Route", source, false, err)) ||
	    !need(s, "Runtime", source, false, err) || !need(s, "Parts", source, false, err))
		return -1;
	char **runtime = recipe_words(a, stanza_get(s, "Runtime"));
	_cleanup_(strv_done) struct strv lines = STRV_INIT;
	strv_split(&lines, stanza_get(s, "Parts"), "\n");
	t->parts = arena_alloc(a, (lines.n + 1) * sizeof *t->parts);
	bool ok = runtime[0] && runtime[1] && !runtime[2];
	for (size_t i = 0; i < lines.n && ok; i++) {
		char **words = recipe_words(a, lines.v[i]);
		ok = words[0] && words[1] && words[2];
		if (ok)
			t->parts[t->n_parts++] = (struct toolkit_part){
			    .project = words[0], .version = words[1], .members = words + 2};
	}
	t->runtime_project = runtime[0];
	t->runtime_version = runtime[1];
	if (!ok || (strcmp(t->route, "clang") && strcmp(t->route, "nvcc")))
		return err_set(err, ERR_FORMAT,
		    "%s:%u: expected Route clang or nvcc, Runtime 'PROJECT VERSION' and Parts "
		    "lines "
		    "'PROJECT VERSION MEMBER...'",
		    source, s->line);
	return 0;
}

static int load_toolkits(struct arena *a, const char *path, struct matrix *m, struct err *err)
{
	struct stanza_list list = {0};
	if (stanza_parse_file(a, path, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	m->toolkits = arena_alloc(a, (list.n + 1) * sizeof *m->toolkits);
	for (size_t i = 0; i < list.n; i++) {
		struct toolkit_recipe *t = &m->toolkits[m->n_toolkits];
		if (parse_toolkit(a, &list.v[i], path, t, err) < 0)
			return -1;
		if (matrix_toolkit(m, t->cuda))
			return err_set(err, ERR_FORMAT, "%s:%u: CUDA %s stands here a second time",
			    path, list.v[i].line, t->cuda);
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
	if (load_torches(a, torches, &m, err) < 0 || load_archs(a, archs, &m, err) < 0 ||
	    load_toolkits(a, toolkits, &m, err) < 0)
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

const struct toolkit_recipe *matrix_toolkit(const struct matrix *m, const char *cuda)
{
	for (size_t i = 0; i < m->n_toolkits; i++)
		if (!strcmp(m->toolkits[i].cuda, cuda))
			return &m->toolkits[i];
	return NULL;
}

int matrix_arch(const struct matrix *m, const char *cc, const char *cuda,
    const struct gpu_arch **out, struct err *err)
{
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
