#include <string.h>

#include "../../lib/base/buf.h"
#include "abi_objects.h"
#include "abi_report.h"
#include "../../lib/base/json.h"
#include "../data/matrix.h"

static void print_cell(const struct abi_cell *c, struct buf *out)
{
	if (c->torch)
		buf_printf(out, "  torch %-8s CUDA %-5s Python %-5s ", c->torch->version,
		    c->torch->cuda, c->python);
	else
		buf_puts(out, "  needs nothing of torch: ");
	if (c->verdict.n_missing)
		buf_printf(out, "%zu missing\n", c->verdict.n_missing);
	else
		buf_puts(
		    out, c->verdict.n_unjudged ? "nothing known to be missing\n" : "complete\n");
}

static void print_gap(const struct abi_report *r, const struct abi_gap *g, struct buf *out)
{
	buf_printf(out, "  missing: %s\n    of %s", g->shown, g->library);
	buf_puts(out, r->cells[0].torch ? "; on torch" : "");
	for (size_t i = 0; i < r->n_cells; i++)
		if (r->cells[i].torch && abi_cell_lacks(&r->cells[i], g->name))
			buf_printf(out, " %s", r->cells[i].torch->version);
	buf_putc(out, '\n');
}

void abi_report_print(const struct abi_report *r, struct buf *out)
{
	const struct abi_verdict *v = &r->cells[0].verdict;
	buf_printf(out, "%s: %zu undefined symbols\n", r->object->path, v->n_undefined);
	for (size_t i = 0; i < r->n_cells; i++)
		print_cell(&r->cells[i], out);
	for (size_t i = 0; i < r->n_gaps; i++)
		print_gap(r, &r->gaps[i], out);
	if (v->n_unjudged) {
		buf_printf(out, "  not judged: %zu symbols, which may be of", v->n_unjudged);
		for (size_t i = 0; i < v->n_outside; i++)
			buf_printf(out, " %s", v->outside[i]);
		buf_putc(out, '\n');
	}
	buf_puts(out, "  needs:");
	for (size_t i = 0; i < ARRAY_SIZE(r->floors); i++)
		if (r->floors[i])
			buf_printf(out, " %s %s", abi_floor_names[i], r->floors[i]);
	if (r->object->cudart)
		buf_printf(out, " libcudart.so.%s", r->object->cudart);
	buf_puts(out, "\n  loads on:");
	for (size_t i = 0; i < r->n_suites; i++)
		buf_printf(out, "%s %s", i ? "," : "", r->suites[i]->name);
	buf_puts(out, r->n_suites ? "\n" : " none of the suites\n");
}

static const char *comma(size_t i)
{
	return i ? ", " : "";
}

static void json_cell(const struct abi_cell *c, struct buf *out)
{
	buf_puts(out, "{");
	json_pair(out, "torch", c->torch ? c->torch->version : NULL);
	buf_puts(out, ", ");
	json_pair(out, "cuda", c->torch ? c->torch->cuda : NULL);
	buf_puts(out, ", ");
	json_pair(out, "python", c->python);
	buf_printf(out, ", \"missing\": %zu, \"unjudged\": %zu, \"complete\": %s}",
	    c->verdict.n_missing, c->verdict.n_unjudged,
	    c->verdict.n_missing || c->verdict.n_unjudged ? "false" : "true");
}

static void json_gap(const struct abi_report *r, const struct abi_gap *g, struct buf *out)
{
	size_t n = 0;
	buf_puts(out, "{");
	json_pair(out, "symbol", g->name);
	buf_puts(out, ", ");
	json_pair(out, "name", g->shown);
	buf_puts(out, ", ");
	json_pair(out, "library", g->library);
	buf_puts(out, ", \"torches\": [");
	for (size_t i = 0; i < r->n_cells; i++)
		if (r->cells[i].torch && abi_cell_lacks(&r->cells[i], g->name)) {
			buf_puts(out, comma(n++));
			json_string(out, r->cells[i].torch->version);
		}
	buf_puts(out, "]}");
}

void abi_report_json(const struct abi_report *r, struct buf *out)
{
	const struct abi_verdict *v = &r->cells[0].verdict;
	buf_puts(out, "{");
	json_pair(out, "file", r->object->path);
	buf_puts(out, ", ");
	json_pair(out, "cudart", r->object->cudart);
	buf_printf(out, ", \"undefined\": %zu,\n \"torches\": [", v->n_undefined);
	for (size_t i = 0; i < r->n_cells; i++) {
		buf_puts(out, i ? ",\n  " : "\n  ");
		json_cell(&r->cells[i], out);
	}
	buf_puts(out, "],\n \"missing\": [");
	for (size_t i = 0; i < r->n_gaps; i++) {
		buf_puts(out, i ? ",\n  " : "\n  ");
		json_gap(r, &r->gaps[i], out);
	}
	buf_puts(out, "],\n \"outside\": [");
	for (size_t i = 0; i < v->n_outside; i++) {
		buf_puts(out, comma(i));
		json_string(out, v->outside[i]);
	}
	buf_puts(out, "],\n \"needs\": {");
	for (size_t i = 0; i < ARRAY_SIZE(r->floors); i++) {
		buf_puts(out, comma(i));
		json_pair(out, abi_floor_names[i], r->floors[i]);
	}
	buf_puts(out, "},\n \"suites\": [");
	for (size_t i = 0; i < r->n_suites; i++) {
		buf_puts(out, comma(i));
		json_string(out, r->suites[i]->name);
	}
	buf_puts(out, "]}");
}
