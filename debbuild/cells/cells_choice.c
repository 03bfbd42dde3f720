/* The matrix as data for a chooser on a web page. */
#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "built.h"
#include "cells.h"
#include "../../lib/base/json.h"
#include "../data/matrix.h"
#include "../data/recipe.h"

/* The oldest driver that runs programs of a CUDA, by its major (CUDA's release notes, "CUDA
 * Toolkit and Minimum Required Driver Version for CUDA Minor Version Compatibility"). */
static const struct {
	const char *major, *driver;
} floors[] = {{"12", "525.60.13"}, {"13", "580.65.06"}};

/* The reason as a visitor of a repository needs it, not as who builds one does. */
static const char *reason(struct arena *a, const struct cell *c, const struct matrix *m)
{
	const char *near;
	switch (c->why) {
	case CELL_THERE:
		return "";
	case CELL_NO_PAIR:
		near = cells_nearest(a, m, c->torch, c->cuda);
		return arena_printf(a, "there is no torch @T for CUDA @C here%s%s",
		    *near ? "; nearest: " : "", near);
	case CELL_NO_PYTHON:
		return "torch @T has no wheel for Python @P";
	default:
		return "this repository has no build for torch @T, CUDA @C and Python @P";
	}
}

/* "python3-causal-conv1d-cu128": what apt installs. */
static const char *package_name(struct arena *a, const struct built_package *p)
{
	const char *base = path_base(p->path);
	return arena_strndup(a, base, strcspn(base, "_"));
}

static bool has_arch(const char *archs, const char *cc, const char *suffix)
{
	_cleanup_(strv_done) struct strv v = STRV_INIT;
	_cleanup_(buf_done) struct buf want = BUF_INIT(64);
	buf_printf(&want, "%s%s", cc, suffix);
	strv_split(&v, archs, " ");
	return strv_has(&v, buf_str(&want));
}

static bool runs_on(const struct gpu_arch *cubin, const char *cc)
{
	for (char **p = cubin->runs_on; p && *p; p++)
		if (!strcmp(*p, cc))
			return true;
	return !strcmp(cubin->cc, cc);
}

static const char *gpu_verdict(
    struct arena *a, const struct matrix *m, const struct built_package *p, const char *cc)
{
	bool ptx = false;
	for (size_t i = 0; i < m->n_archs; i++) {
		const struct gpu_arch *have = &m->archs[i];
		if (has_arch(p->archs, have->cc, "") && runs_on(have, cc))
			return "";
		ptx |= has_arch(p->archs, have->cc, "+PTX") && matrix_compare(have->cc, cc) <= 0;
	}
	if (ptx)
		return "ptx";
	return arena_printf(
	    a, "the package has device code for %s, and none that runs on %s", p->archs, cc);
}

static const char *flavour_name(struct arena *a, const char *name, const char *cuda)
{
	const char *dot = strchrnul(cuda, '.');
	return arena_printf(
	    a, "python3-%s-cu%.*s%s", name, (int)(dot - cuda), cuda, *dot ? dot + 1 : dot);
}

/* The packages of a choice, and for those that another suite has than the usual one, which. */
static void put_packages(struct arena *a, const struct cells *c, struct buf *out)
{
	for (int suites = 0; suites < 2; suites++) {
		bool some = false;
		buf_puts(out, suites ? "},\n\"suites\":{" : "\"packages\":{");
		for (char **cuda = c->cudas; *cuda; cuda++) {
			const struct built_package *p = cells_package(c, *cuda);
			if (!p || (suites && !p->suite))
				continue;
			buf_printf(out, "%s\"%s\":", some ? "," : "", *cuda);
			json_string(out, suites ? p->suite : package_name(a, p));
			some = true;
		}
	}
	buf_puts(out, "},\n");
}

static void put_cells(struct arena *a, const struct cells *c, const struct matrix *m,
    struct strv *reasons, struct buf *out)
{
	buf_puts(out, "\"cells\":[");
	for (size_t i = 0; i < c->n; i++) {
		const char *why = reason(a, &c->v[i], m);
		int at = -1;
		for (size_t k = 0; k < reasons->n && at < 0 && *why; k++)
			at = strcmp(reasons->v[k], why) ? -1 : (int)k;
		if (at < 0 && *why) {
			at = (int)reasons->n;
			strv_add(reasons, why);
		}
		buf_printf(out, "%s%d", i ? "," : "", at);
	}
	buf_puts(out, "],\n");
}

/* By CUDA, in the order of the archs. */
static void put_verdicts(
    struct arena *a, const struct cells *c, const struct matrix *m, struct buf *out)
{
	bool some = false;
	buf_puts(out, "\"verdicts\":{");
	for (char **cuda = c->cudas; *cuda; cuda++) {
		const struct built_package *p = cells_package(c, *cuda);
		if (!p)
			continue;
		buf_printf(out, "%s\"%s\":[", some ? ",\n" : "", *cuda);
		for (size_t i = 0; i < m->n_archs; i++) {
			buf_puts(out, i ? "," : "");
			json_string(out, gpu_verdict(a, m, p, m->archs[i].cc));
		}
		buf_puts(out, "]");
		some = true;
	}
	buf_puts(out, "}}");
}

static void put_list(struct buf *out, const char *name, char *const *v, size_t n)
{
	buf_printf(out, "\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		buf_puts(out, i ? "," : "");
		json_string(out, v[i]);
	}
	buf_puts(out, "],\n");
}

static size_t count(char *const *v)
{
	size_t n = 0;
	while (v[n])
		n++;
	return n;
}

static void put_machines(const struct matrix *m, struct buf *out)
{
	buf_puts(out, "{\"drivers\":{");
	for (size_t i = 0; i < ARRAY_SIZE(floors); i++)
		buf_printf(out, "%s\"%s\":\"%s\"", i ? "," : "", floors[i].major, floors[i].driver);
	buf_puts(out, "},\n\"gpus\":[");
	for (size_t i = 0; i < m->n_archs; i++) {
		buf_printf(out, "%s[\"%s\",", i ? "," : "", m->archs[i].cc);
		json_string(out, m->archs[i].name);
		buf_puts(out, "]");
	}
	buf_puts(out, "],\n");
}

static void put_meta(struct arena *a, const struct cells_meta *meta, size_t n, struct buf *out)
{
	buf_puts(out, ",\n{");
	json_pair(out, "name", meta->name);
	buf_puts(out, ",\n\"needs\":[");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s%zu", i ? "," : "", i);
	buf_puts(out, "],\"packages\":{");
	for (size_t i = 0; i < meta->cudas->n; i++) {
		const char *cuda = meta->cudas->v[i];
		buf_printf(out, "%s\"%s\":", i ? "," : "", cuda);
		json_string(out, flavour_name(a, meta->name, cuda));
	}
	buf_puts(out, "}}");
}

void cells_print_choice(struct arena *a, const struct cells *v, size_t n,
    const struct cells_meta *meta, const struct matrix *m, struct buf *out)
{
	_cleanup_(strv_done) struct strv reasons = STRV_INIT;
	put_machines(m, out);
	buf_puts(out, "\"choices\":[");
	for (size_t i = 0; i < n; i++) {
		buf_puts(out, i ? ",\n{" : "{");
		json_pair(out, "name", v[i].recipe->name);
		buf_puts(out, ",\n");
		put_packages(a, &v[i], out);
		put_cells(a, &v[i], m, &reasons, out);
		put_verdicts(a, &v[i], m, out);
	}
	if (meta)
		put_meta(a, meta, n, out);
	buf_puts(out, "],\n");
	put_list(out, "cudas", v[0].cudas, count(v[0].cudas));
	put_list(out, "torches", v[0].torches, count(v[0].torches));
	put_list(out, "pythons", v[0].pythons, count(v[0].pythons));
	put_list(out, "reasons", reasons.v, reasons.n);
	buf_truncate(out, out->len - 2);
	buf_puts(out, "}\n");
}
