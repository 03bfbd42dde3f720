#include <string.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/json.h"
#include "../data/lockfile.h"
#include "../data/matrix.h"
#include "plan_int.h"
#include "../data/recipe.h"

/* Calls fn for each wheel that is fetched, once, with what is taken of it. */
static void for_each_fetch(const struct plan *p,
    void (*fn)(struct buf *out, const struct lock_entry *e, const char *what), struct buf *out)
{
	for (const struct lock_entry **e = p->library; *e; e++)
		fn(out, *e, "modules");
	for (size_t i = 0; i < p->n_tritons; i++) {
		const struct plan_triton *t = &p->tritons[i];
		for (size_t k = 0; t->site[k]; k++) {
			bool shared = false;
			for (const struct lock_entry **e = p->library; *e; e++)
				shared |= *e == t->site[k];
			if (!shared && (k == 0 || i == 0))
				fn(out, t->site[k], "environment");
		}
		for (size_t k = 0; k < t->n_pythons; k++)
			if (t->records[k] != t->site[0])
				fn(out, t->records[k], "RECORD");
	}
}

static void put_fetch(struct buf *out, const struct lock_entry *e, const char *what)
{
	buf_printf(out, "fetch      %s (%s)\n", e->file, what);
}

static void put_words(struct buf *out, const char *head, char *const *words)
{
	buf_puts(out, head);
	for (; *words; words++)
		buf_printf(out, " %s", *words);
}

void plan_print_triton(const struct plan *p, struct buf *out)
{
	buf_printf(out, "%s %s for CUDA %s (%s)\n", p->recipe->name, p->recipe->deb_version,
	    p->cuda, p->flavour);
	buf_puts(out, "GPU archs ");
	for (size_t i = 0; i < p->n_archs; i++)
		buf_printf(out, " %s", p->archs[i]->cc);
	put_words(out, "\nprofiles  ", p->profiles);
	buf_puts(out, "\n");
	for (size_t i = 0; i < p->n_tritons; i++) {
		const struct plan_triton *t = &p->tritons[i];
		buf_printf(out, "kernels    Triton %s", t->version);
		put_words(out, ", torch", t->torches);
		buf_puts(out, ", Python");
		for (size_t k = 0; k < t->n_pythons; k++)
			buf_printf(out, " %s", t->pythons[k]->version);
		buf_puts(out, "\n");
	}
	for_each_fetch(p, put_fetch, out);
	plan_print_apt(p, out);
	for (char **v = p->unknown_tritons; *v; v++)
		buf_printf(out, "left out   Triton %s: the recipe builds no kernels for it\n", *v);
	plan_print_tail(p, out);
}

static void json_fetch(struct buf *out, const struct lock_entry *e, const char *what)
{
	buf_puts(out, out->len && out->data[out->len - 1] == '}' ? ",\n" : "");
	plan_json_wheel(out, e, what);
}

static void json_tritons(const struct plan *p, struct buf *out)
{
	buf_puts(out, "  \"tritons\": [\n");
	for (size_t i = 0; i < p->n_tritons; i++) {
		const struct plan_triton *t = &p->tritons[i];
		buf_puts(out, "    {");
		plan_json_pair(out, "triton", t->version, false);
		plan_json_words(out, "torches", t->torches);
		buf_puts(out, ", \"pythons\": [");
		for (size_t k = 0; k < t->n_pythons; k++) {
			json_string(out, t->pythons[k]->version);
			buf_puts(out, k + 1 < t->n_pythons ? ", " : "], ");
		}
		plan_json_pair(out, "out", t->out, true);
		buf_printf(out, "}%s\n", plan_json_comma(i, p->n_tritons));
	}
	buf_puts(out, "  ],\n  ");
}

void plan_print_triton_json(const struct plan *p, struct buf *out)
{
	plan_json_head(p, out);
	plan_json_archs(p, out);
	json_tritons(p, out);
	plan_json_words(out, "profiles", p->profiles);
	buf_puts(out, ",\n  ");
	plan_json_words(out, "unknown_tritons", p->unknown_tritons);
	buf_puts(out, ",\n  ");
	plan_json_words(out, "missing_pythons", p->missing_pythons);
	buf_puts(out, ",\n  \"fetch\": [\n");
	for_each_fetch(p, json_fetch, out);
	plan_json_apt(p, out);
	plan_json_tail(p, out);
}
