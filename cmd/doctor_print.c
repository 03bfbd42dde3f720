#include "doctor_print.h"

#include <string.h>

#include "../lib/base/buf.h"
#include "../lib/base/strv.h"
#include "../lib/base/json.h"
#include "../doctor/machine.h"
#include "../doctor/probe.h"

/* Names of files and words of strangers must not steer a terminal. */
static void put_clean(struct buf *out, const char *s)
{
	for (; *s; s++)
		buf_putc(out, (unsigned char)*s < ' ' || *s == 127 ? '?' : *s);
}

static const char *colour_of(enum finding_grade grade)
{
	static const char *const codes[] = {[FINDING_GOOD] = "\033[32m",
	    [FINDING_WARNING] = "\033[33m",
	    [FINDING_BAD] = "\033[31m"};
	return codes[grade];
}

static void print_finding(const struct finding *x, bool colour, struct buf *out)
{
	buf_printf(out, "%s%-7s%s  %-8s  ", colour ? colour_of(x->grade) : "",
	    finding_grade_name(x->grade), colour ? "\033[0m" : "", x->subject);
	if (x->env) {
		put_clean(out, x->env);
		buf_puts(out, ": ");
	}
	put_clean(out, x->found);
	buf_putc(out, '\n');
	if (!x->type)
		return;
	buf_printf(out, "         %s%s",
	    x->where == FINDING_HOST ? "on the host: " : "type: ", colour ? "\033[1m" : "");
	put_clean(out, x->type);
	buf_printf(out, "%s\n", colour ? "\033[0m" : "");
}

void doctor_print_findings(const struct findings *f, bool colour, struct buf *out)
{
	for (size_t i = 0; i < f->n; i++)
		print_finding(&f->v[i], colour, out);
	buf_printf(out, "%zu bad, %zu to be looked at, %zu good\n", findings_count(f, FINDING_BAD),
	    findings_count(f, FINDING_WARNING), findings_count(f, FINDING_GOOD));
}

/* The binding that would be loaded, in a word. */
static const char *binding_of(struct machine *m, const struct pyenv *e)
{
	const struct binding *b = bindings_choose(m->p->a, &m->bindings, e->tag, &e->torch);
	return b ? arena_printf(m->p->a, "%s/%s", b->folder, b->file) : NULL;
}

static void put_cell(struct buf *out, const char *text, int width)
{
	size_t before = out->len;
	put_clean(out, text && *text ? text : "-");
	while (out->len - before < (size_t)width)
		buf_putc(out, ' ');
	buf_puts(out, "  ");
}

void doctor_print_table(struct machine *m, struct buf *out)
{
	int width = 6;
	for (size_t i = 0; i < m->envs.n; i++)
		if ((int)strlen(m->envs.v[i].dir) > width)
			width = (int)strlen(m->envs.v[i].dir);
	width = width > 60 ? 60 : width;
	put_cell(out, "Python", width);
	buf_printf(out, "%-10s  %-7s  %-14s  %-5s  %-6s  %-3s  %s\n", "kind", "version", "torch",
	    "CUDA", "Triton", "on", "binding");
	for (size_t i = 0; i < m->envs.n; i++) {
		const struct pyenv *e = &m->envs.v[i];
		put_cell(out, e->dir, width);
		put_cell(out, e->broken ? "broken" : e->kind, 10);
		put_cell(out, e->version, 7);
		put_cell(out, e->torch.version, 14);
		put_cell(out, e->torch.cuda, 5);
		put_cell(out, e->torch.triton, 6);
		put_cell(out, e->enabled_by ? "yes" : "no", 3);
		const char *binding = binding_of(m, e);
		put_clean(out, binding ? binding : "-");
		buf_putc(out, '\n');
	}
}

static void sorted_files(struct machine *m, struct strv *files)
{
	strv_add_all(files, &m->p->seen);
	strv_sort(files);
	strv_uniq(files);
}

void doctor_print_files(struct machine *m, struct buf *out)
{
	_cleanup_(strv_done) struct strv files = STRV_INIT;
	sorted_files(m, &files);
	buf_puts(out, "read:\n");
	for (size_t i = 0; i < files.n; i++) {
		buf_puts(out, "  ");
		put_clean(out, files.v[i]);
		buf_putc(out, '\n');
	}
}

static void put_pairs(struct buf *out, const char *const (*v)[2], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_puts(out, i ? ", " : "{");
		json_pair(out, v[i][0], v[i][1]);
	}
}

static void json_findings(const struct findings *f, struct buf *out)
{
	buf_puts(out, "  \"findings\": [");
	for (size_t i = 0; i < f->n; i++) {
		const struct finding *x = &f->v[i];
		const char *const v[][2] = {{"grade", finding_grade_name(x->grade)}, {"id", x->id},
		    {"subject", x->subject}, {"environment", x->env}, {"looked", x->looked},
		    {"found", x->found}, {"type", x->type},
		    {"where", !x->type			 ? NULL
			      : x->where == FINDING_HOST ? "host"
							 : "here"}};
		buf_puts(out, i ? ",\n    " : "\n    ");
		put_pairs(out, v, ARRAY_SIZE(v));
		buf_putc(out, '}');
	}
	buf_puts(out, "\n  ],\n");
}

static void json_torch(const struct torch *t, struct buf *out)
{
	const char *const v[][2] = {{"version", t->version}, {"cuda", t->cuda}, {"rocm", t->rocm},
	    {"folder", t->dir}, {"triton", t->triton}, {"triton_wanted", t->wants_triton},
	    {"cxx11_abi", t->cxx11_abi < 0 ? NULL
			  : t->cxx11_abi   ? "1"
					   : "0"}};
	if (!t->version) {
		buf_puts(out, "null");
		return;
	}
	put_pairs(out, v, ARRAY_SIZE(v));
	buf_putc(out, '}');
}

static void json_pythons(struct machine *m, struct pyenv *const *targets, size_t n, struct buf *out)
{
	buf_puts(out, "  \"pythons\": [");
	for (size_t i = 0; i < m->envs.n; i++) {
		const struct pyenv *e = &m->envs.v[i];
		bool judged = false;
		for (size_t k = 0; k < n; k++)
			judged |= targets[k] == e;
		const char *const v[][2] = {{"folder", e->dir}, {"kind", e->kind},
		    {"version", e->version}, {"exe", e->exe}, {"broken", e->broken},
		    {"enabled_by", e->enabled_by}, {"binding", binding_of(m, e)}};
		buf_puts(out, i ? ",\n    " : "\n    ");
		put_pairs(out, v, ARRAY_SIZE(v));
		buf_printf(out, ", \"judged\": %s, \"torch\": ", judged ? "true" : "false");
		json_torch(&e->torch, out);
		buf_putc(out, '}');
	}
	buf_puts(out, "\n  ],\n");
}

static void json_gpus(const struct gpu_answer *a, struct buf *out)
{
	buf_puts(out, "  \"gpus\": [");
	for (int i = 0; i < a->n; i++) {
		buf_puts(out, i ? ", {" : "{");
		json_pair(out, "name", a->v[i].name);
		buf_printf(out, ", \"capability\": \"%d.%d\"}", a->v[i].major, a->v[i].minor);
	}
	buf_puts(out, "]");
}

void doctor_print_json(struct machine *m, const struct findings *f, struct pyenv *const *targets,
    size_t n, bool files, struct buf *out)
{
	const char *worst = findings_count(f, FINDING_BAD)	 ? "bad"
			    : findings_count(f, FINDING_WARNING) ? "warning"
								 : "good";
	buf_puts(out, "{\n  ");
	json_pair(out, "debkit", DEBKIT_VERSION);
	buf_puts(out, ",\n  ");
	json_pair(out, "grade", worst);
	buf_puts(out, ",\n");
	json_findings(f, out);
	json_pythons(m, targets, n, out);
	json_gpus(&m->gpu.answer, out);
	if (files) {
		_cleanup_(strv_done) struct strv names = STRV_INIT;
		sorted_files(m, &names);
		buf_puts(out, ",\n  \"files\": [");
		for (size_t i = 0; i < names.n; i++) {
			buf_puts(out, i ? ",\n    " : "\n    ");
			json_string(out, names.v[i]);
		}
		buf_puts(out, "\n  ]");
	}
	buf_puts(out, "\n}\n");
}
