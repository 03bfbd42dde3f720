/* The matrix for a terminal, for programs, and in sentences. */
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/strv.h"
#include "built.h"
#include "cells.h"
#include "cells_words.h"
#include "../../lib/base/json.h"
#include "../data/matrix.h"
#include "../data/recipe.h"
#include "../data/states.h"

const char *cell_word(const struct cell *c)
{
	static const char *const words[] = {[CELL_NO_PAIR] = "no pair",
	    [CELL_NO_PYTHON] = "no wheel",
	    [CELL_NO_PIN] = "no pin",
	    [CELL_NO_INDEX] = "no index",
	    [CELL_NOT_BUILT] = "not built"};
	return c->facts ? cell_state(c) : words[c->why];
}

const struct cell_meaning cell_meanings[] = {
    {"gpu", "its kernels ran on a GPU"},
    {"imported", "a real torch imported it"},
    {"proved", "every symbol was found in the real libraries of that torch"},
    {"built", "the package has kernels for the Triton of that torch"},
    {"not built", "no package here holds it; debkit build makes it"},
    {"no wheel", "PyTorch ships no wheel for that Python"},
    {"no pin", "its wheel is not in the lock; debkit lock writes it"},
    {"no index", "its wheel is on an index that could not be reached for the lock"},
    {"no pair", "no such torch for that CUDA, or none that debkit lists"},
    {NULL, NULL},
};

bool cells_use(const struct cells *c, const char *word)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(cell_word(&c->v[i]), word))
			return true;
	return false;
}

bool cells_row(const struct cells *c, const char *cuda, const char *torch, const struct cell **row)
{
	for (size_t i = 0; i < c->n; i++) {
		*row = &c->v[i];
		if (!strcmp(c->v[i].cuda, cuda) && !strcmp(c->v[i].torch, torch))
			return c->v[i].release != NULL;
	}
	return false;
}

static void print_cuda(const struct cells *c, const char *cuda, struct buf *out)
{
	const struct built_package *p = cells_package(c, cuda);
	const struct cell *row;
	buf_printf(out, "\nCUDA %s", cuda);
	if (p)
		buf_printf(out, "   %s (GPU archs %s)", p->path, p->archs);
	buf_puts(out, "\n  torch     ");
	for (char **py = c->pythons; *py; py++)
		buf_printf(out, py[1] ? "%-11s" : "%s\n", *py);
	for (char **t = c->torches; *t; t++) {
		if (!cells_row(c, cuda, *t, &row))
			continue;
		buf_printf(out, "  %-10s", row->release->version);
		for (char **py = c->pythons; *py; py++, row++) {
			bool other = row->facts && !(row->facts & CELL_BUILT);
			_cleanup_(buf_done) struct buf word = BUF_INIT(64);
			buf_printf(&word, "%s%s%s", cell_word(row), other ? "*" : "",
			    row->facts & CELL_REBUILT ? "=" : "");
			buf_printf(out, py[1] ? "%-11s" : "%s\n", buf_str(&word));
		}
	}
	buf_puts(out, "  no pair  ");
	for (char **t = c->torches; *t; t++)
		if (!cells_row(c, cuda, *t, &row))
			buf_printf(out, " %s", *t);
	buf_putc(out, '\n');
}

void cells_print(const struct cells *c, struct buf *out)
{
	buf_printf(out, "%s %s\n", c->recipe->name, c->recipe->deb_version);
	for (char **cuda = c->cudas; *cuda; cuda++)
		print_cuda(c, *cuda, out);
	buf_putc(out, '\n');
	bool other = false, rebuilt = false;
	for (const struct cell_meaning *m = cell_meanings; m->word; m++)
		if (cells_use(c, m->word))
			buf_printf(out, "%-10s  %s\n", m->word, m->meaning);
	for (size_t i = 0; i < c->n; i++) {
		other |= c->v[i].facts && !(c->v[i].facts & CELL_BUILT);
		rebuilt |= c->v[i].facts & CELL_REBUILT;
	}
	if (other)
		buf_puts(out, "*           by a binding that was compiled for another torch\n");
	if (rebuilt)
		buf_puts(out, "=           its package was made again, byte for byte\n");
	buf_puts(out, "\n`debkit why --torch V --cuda X.Y` tells why a cell is empty.\n");
}

static void put_pair(struct buf *out, const char *name, const char *value)
{
	json_pair(out, name, value ? value : "");
	buf_puts(out, ", ");
}

static void json_facts(const struct cell *c, struct buf *out)
{
	static const struct {
		unsigned bit;
		const char *name;
	} facts[] = {{CELL_BUILT, "built"}, {CELL_PROVED, "proved"}, {CELL_IMPORTED, "imported"},
	    {CELL_GPU, "gpu"}, {CELL_REBUILT, "rebuilt"}};
	bool some = false;
	buf_puts(out, "\"facts\": [");
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		if (!(c->facts & facts[i].bit))
			continue;
		buf_puts(out, some ? ", " : "");
		json_string(out, facts[i].name);
		some = true;
	}
	buf_puts(out, "]");
}

static void json_cell(const struct cells *all, const struct cell *c, struct buf *out)
{
	const struct built_package *p = c->binding ? cells_package(all, c->cuda) : NULL;
	buf_puts(out, "    {");
	put_pair(out, "torch", c->torch);
	put_pair(out, "version", c->release ? c->release->version : NULL);
	put_pair(out, "cuda", c->cuda);
	put_pair(out, "python", c->python);
	put_pair(out, "state", cell_state(c));
	put_pair(out, "why", cell_why_name(c->why));
	put_pair(out, "reason", c->reason);
	put_pair(out, "binding", c->binding);
	put_pair(out, "package", p ? p->path : NULL);
	put_pair(out, "archs", p ? p->archs : NULL);
	put_pair(out, "imported_note", c->imported ? c->imported->note : NULL);
	put_pair(out, "gpu_note", c->gpu ? c->gpu->note : NULL);
	json_facts(c, out);
	buf_puts(out, "}");
}

void cells_print_json(const struct cells *c, struct buf *out)
{
	buf_puts(out, "{\n  ");
	put_pair(out, "recipe", c->recipe->name);
	put_pair(out, "version", c->recipe->deb_version);
	buf_puts(out, "\n  \"cells\": [\n");
	for (size_t i = 0; i < c->n; i++) {
		json_cell(c, &c->v[i], out);
		buf_puts(out, i + 1 < c->n ? ",\n" : "\n");
	}
	buf_puts(out, "  ]\n}\n");
}

static bool same_answer(const struct cell *a, const struct cell *b)
{
	return a->facts == b->facts && a->why == b->why &&
	       (a->why == CELL_NO_PYTHON || !strcmp(a->reason, b->reason));
}

/* What follows "torch 2.10 for CUDA 12.8 with Python 3.11". */
static void explain_cell(
    struct arena *a, const struct cells_data *data, const struct cell *c, struct buf *out)
{
	const struct state_fact *seen = c->gpu ? c->gpu : c->imported;
	if (c->facts) {
		for (const struct cell_meaning *m = cell_meanings; m->word; m++)
			if (!strcmp(m->word, cell_state(c)))
				buf_printf(out, " is there: %s", m->meaning);
		if (!(c->facts & CELL_BUILT) && c->binding)
			buf_puts(out, ", in a binding that was compiled for another torch");
		if (seen && seen->note)
			buf_printf(out, " (%s)", seen->note);
		if (c->facts & CELL_REBUILT)
			buf_puts(out, "; its package was made again, byte for byte");
		return;
	}
	if (c->why == CELL_NO_PYTHON) {
		buf_printf(out, " is empty: torch %s has no wheel for it, it has them for Python",
		    c->release->version);
		for (char **py = c->release->pythons; *py; py++)
			buf_printf(out, " %s", *py);
		return;
	}
	buf_printf(out, " is empty: %s", c->reason);
	const char *near =
	    c->why == CELL_NO_PAIR ? cells_nearest(a, data->matrix, c->torch, c->cuda) : "";
	if (*near)
		buf_printf(out, "; nearest that exist: %s", near);
}

void cells_explain(
    struct arena *a, const struct cells_data *data, const struct cell *v, size_t n, struct buf *out)
{
	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		while (end < n && same_answer(&v[i], &v[end]))
			end++;
		buf_printf(out, "torch %s for CUDA %s", v[i].torch, v[i].cuda);
		for (size_t k = i; k < end && v[i].why != CELL_NO_PAIR; k++)
			buf_printf(out, "%s %s", k == i ? " with Python" : "", v[k].python);
		explain_cell(a, data, &v[i], out);
		buf_puts(out, ".\n");
	}
}
