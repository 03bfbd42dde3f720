/* debkit why: one cell in a sentence. */
#include <stdio.h>
#include <string.h>

#include "../lib/base/arena.h"
#include "../lib/base/buf.h"
#include "../lib/base/err.h"
#include "../lib/base/strv.h"
#include "cells_opts.h"
#include "cmd.h"

static struct cells_opts o;
static const char *torch, *python, *arch;
static const struct opt opts[] = {
    {"torch", 0, OPT_STRING, "V", "the torch, such as 2.12 (required)", &torch},
    {"cuda", 0, OPT_STRING, "X.Y", "the CUDA, such as 12.8 (required)", &o.cuda},
    {"python", 0, OPT_STRING, "X.Y", "only that Python; default: all of the matrix", &python},
    {"arch", 0, OPT_STRING, "CC", "ask of that GPU arch too, such as 10.3", &arch},
    {"out", 'o', OPT_STRING, "DIR", "the folder of the built packages; default: out", &o.out},
    {NULL, 0, OPT_END, NULL, NULL, NULL}};

/* "2.10.0" to "2.10" */
static const char *minor_of(struct arena *a, const char *version)
{
	const char *dot = strchr(version, '.');
	return dot ? arena_strndup(a, version, (size_t)(dot - version) + 1 + strcspn(dot + 1, ".+"))
		   : version;
}

/* True if the CUDA that was asked of stands among them. */
static bool lists(char *const *cudas)
{
	for (; *cudas; cudas++)
		if (!strcmp(*cudas, o.cuda))
			return true;
	return false;
}

/* Whether the arch can be built with the CUDA, and whether the package has it. */
static void explain_arch(const struct cells_source *s, struct buf *out)
{
	struct err why = {0};
	const struct gpu_arch *g;
	if (matrix_arch(&s->matrix, arch, o.cuda, &g, &why) < 0) {
		buf_printf(out, "%s.\n", why.msg);
		return;
	}
	buf_printf(out, "GPU arch %s (%s) for CUDA %s is built %s; torch is %sbuilt for it.\n",
	    arch, g->name, o.cuda, lists(g->defaults) ? "by default" : "when --arch names it",
	    lists(g->torches) ? "" : "not ");
	for (size_t i = 0; i < s->matrix.n_archs; i++) {
		const struct gpu_arch *other = &s->matrix.archs[i];
		for (char **cc = other->runs_on; *cc; cc++)
			if (!strcmp(*cc, arch) && lists(other->defaults))
				buf_printf(out,
				    "GPU arch %s runs the code of %s, which is built by default.\n",
				    arch, other->cc);
	}
}

static int run(const struct strv *operands, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf out = BUF_INIT((size_t)1 << 20);
	struct cells_source s;
	struct cells all;
	if (!torch || !o.cuda)
		return err_set(
		    err, ERR_USAGE, "name the pair, such as debkit why --torch 2.12 --cuda 12.8");
	if (cells_opts_load(&a, &o, &s, err) < 0)
		return -1;
	cells_make(&a, &s.data, NULL, &all);
	const char *minor = minor_of(&a, torch);
	struct cell *v = arena_alloc(&a, 64 * sizeof *v);
	size_t n = 0;
	for (char **py = all.pythons; *py && !python; py++)
		v[n++] = cells_one(&a, &s.data, minor, o.cuda, *py);
	if (python)
		v[n++] = cells_one(&a, &s.data, minor, o.cuda, python);
	cells_explain(&a, &s.data, v, n, &out);
	if (arch)
		explain_arch(&s, &out);
	fputs(buf_str(&out), stdout);
	return 0;
}

const struct cmd cmd_why = {"why", "say what is known of one torch and CUDA, or why it is empty",
    "",
    "Answers in a sentence for each group of Pythons: which state the cells of a torch and CUDA "
    "are "
    "in, or why they are empty and which pairs are nearest.",
    opts, 0, 0, run};
