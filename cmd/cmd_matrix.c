/* debkit matrix: every cell and its state. */
#include <stdio.h>

#include "../lib/base/arena.h"
#include "../lib/base/buf.h"
#include "../lib/base/err.h"
#include "../lib/base/path.h"
#include "../debbuild/data/states.h"
#include "cells_opts.h"
#include "cmd.h"

#define TEXT_MAX ((size_t)64 << 20)

static struct cells_opts o;
static const char *record, *torch, *python, *note;
static bool json, html;
static const struct opt opts[] = {{"cuda", 0, OPT_STRING, "X.Y", "only that CUDA", &o.cuda},
    {"out", 'o', OPT_STRING, "DIR", "the folder of the built packages; default: out", &o.out},
    {"json", 0, OPT_FLAG, NULL, "print JSON", &json},
    {"html", 0, OPT_FLAG, NULL, "print a static web page", &html},
    {"record", 0, OPT_STRING, "rebuilt|imported|gpu",
	"note in templates/states that a real torch imported the cell named by --torch, --cuda "
	"and --python, that its kernels ran on a GPU, or that its package was rebuilt",
	&record},
    {"torch", 0, OPT_STRING, "V", "with --record", &torch},
    {"python", 0, OPT_STRING, "X.Y", "with --record", &python},
    {"note", 0, OPT_STRING, "TEXT", "with --record: what ran, and where", &note},
    {NULL, 0, OPT_END, NULL, NULL, NULL}};

static int do_record(const struct cells_source *s, struct err *err)
{
	if (!torch || !o.cuda || !python)
		return err_set(err, ERR_USAGE, "--record needs --torch, --cuda and --python");
	const struct torch_release *t = matrix_torch(&s->matrix, torch, o.cuda);
	if (!t)
		return err_set(err, ERR_USAGE, "templates/matrix has no torch '%s' for CUDA %s",
		    torch, o.cuda);
	for (char **py = t->pythons; *py; py++)
		if (str_eq(*py, python))
			return states_record(s->states_path,
			    &(struct state_fact){.state = record,
				.recipe = s->recipe.name,
				.version = s->recipe.deb_version,
				.torch = t->minor,
				.cuda = t->cuda,
				.python = python,
				.note = note},
			    err);
	return err_set(err, ERR_USAGE, "torch %s for CUDA %s has no wheel for Python '%s'",
	    t->version, t->cuda, python);
}

static int run(const struct strv *operands, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf out = BUF_INIT(TEXT_MAX);
	struct cells_source s;
	struct cells cells;
	if (json && html)
		return err_set(err, ERR_USAGE, "--json and --html exclude each other");
	if (!record && (torch || python || note))
		return err_set(err, ERR_USAGE,
		    "--torch, --python and --note go with --record; `debkit why` asks of one cell");
	if (cells_opts_load(&a, &o, &s, err) < 0 ||
	    (o.cuda && matrix_check_cuda(&s.matrix, o.cuda, err) < 0))
		return -1;
	if (record)
		return do_record(&s, err);
	cells_make(&a, &s.data, o.cuda, &cells);
	(json ? cells_print_json : html ? cells_print_html : cells_print)(&cells, &out);
	if (buf_check(&out, "the matrix", err) < 0)
		return -1;
	fputs(buf_str(&out), stdout);
	return 0;
}

const struct cmd cmd_matrix = {"matrix", "show every torch, CUDA and Python with its state", "",
    "Prints a table for each CUDA: which cells are proved by a package in --out, which a real "
    "torch "
    "imported and which ran on a GPU (templates/states), and which are empty. Reads the "
    "templates "
    "and the packages; asks no network.",
    opts, 0, 0, run};
