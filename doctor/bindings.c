#include "bindings.h"

#include <ctype.h>
#include <string.h>

#include "debs.h"
#include "probe.h"
#include "torch.h"

#define DIR	  "/usr/lib/" PROBE_TRIPLET "/debkit"
#define PREFIX	  "causal-conv1d-"
#define TABLE_MAX ((size_t)1 << 20)
#define ROWS_MAX  4096

static void add(struct arena *a, struct bindings *out, const struct binding *b)
{
	if (!b->file || !b->python || !b->torch || !b->cuda || out->n == ROWS_MAX)
		return;
	if (out->n == out->cap) {
		struct binding *old = out->v;
		out->cap = out->cap ? 2 * out->cap : 32;
		out->v = arena_alloc(a, out->cap * sizeof *out->v);
		if (out->n)
			memcpy(out->v, old, out->n * sizeof *out->v);
	}
	out->v[out->n++] = *b;
}

static void set(struct arena *a, struct binding *b, const char *name, const char *value)
{
	const struct {
		const char *name;
		const char **to;
	} v[] = {
	    {"file", &b->file}, {"python", &b->python}, {"torch", &b->torch}, {"cuda", &b->cuda}};
	for (size_t i = 0; *value && i < ARRAY_SIZE(v); i++)
		if (!strcasecmp(name, v[i].name))
			*v[i].to = arena_strdup(a, value);
}

void bindings_parse(struct arena *a, const char *text, const char *folder, struct bindings *out)
{
	char *copy = arena_strdup(a, text);
	struct binding b = {.folder = folder};
	for (char *line; (line = probe_line(&copy));) {
		char *colon = strchr(line, ':');
		if (!*str_trim(line)) {
			add(a, out, &b);
			b = (struct binding){.folder = folder};
		} else if (colon && !isspace((unsigned char)*line)) {
			*colon = '\0';
			set(a, &b, line, str_trim(colon + 1));
		}
	}
	add(a, out, &b);
}

void bindings_read(struct probe *p, struct bindings *out)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	*out = (struct bindings){0};
	if (probe_list(p, DIR, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		if (!str_starts(names.v[i], PREFIX))
			continue;
		const char *folder = arena_strdup(p->a, names.v[i]);
		const char *text =
		    probe_text(p, arena_printf(p->a, DIR "/%s/bindings", folder), TABLE_MAX);
		if (text)
			bindings_parse(p->a, text, folder, out);
	}
}

const char *binding_torch(struct arena *a, const struct binding *b)
{
	const char *s = b->torch + strspn(b->torch, " ");
	return arena_strndup(a, s, strcspn(s, " "));
}

const char *binding_python(struct arena *a, const char *tag)
{
	return str_starts(tag, "cp3") && tag[3] ? arena_printf(a, "3.%s", tag + 3) : tag;
}

const struct binding *bindings_choose(
    struct arena *a, const struct bindings *b, const char *tag, const struct torch *torch)
{
	const struct binding *fits = NULL;
	if (!torch->version || !torch->cuda || !tag)
		return NULL;
	const char *minor = probe_minor(a, torch->version);
	for (size_t i = 0; i < b->n; i++) {
		const struct binding *x = &b->v[i];
		if (strcmp(x->python, tag) != 0 || strcmp(x->cuda, torch->cuda) != 0 ||
		    !debs_has_word(x->torch, minor))
			continue;
		if (!strcmp(binding_torch(a, x), minor))
			return x;
		if (!fits)
			fits = x;
	}
	return fits;
}

static int by_number(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	int d = probe_compare(x, y);
	return d ? d : strcmp(x, y);
}

/* "2.9, 2.10 or 2.11", oldest first. */
static const char *listed(struct arena *a, struct strv *words)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(4096);
	strv_uniq(words);
	if (words->n)
		qsort(words->v, words->n, sizeof *words->v, by_number);
	for (size_t i = 0; i < words->n; i++)
		buf_printf(&out, "%s%s", !i ? "" : i + 1 < words->n ? ", " : " or ", words->v[i]);
	return arena_strdup(a, buf_str(&out));
}

const char *bindings_words(struct arena *a, const struct bindings *b)
{
	_cleanup_(strv_done) struct strv cudas = STRV_INIT;
	const char *all = NULL;
	for (size_t i = 0; i < b->n; i++)
		strv_add(&cudas, b->v[i].cuda);
	strv_uniq(&cudas);
	if (cudas.n)
		qsort(cudas.v, cudas.n, sizeof *cudas.v, by_number);
	for (size_t i = 0; i < cudas.n; i++) {
		_cleanup_(strv_done) struct strv torches = STRV_INIT, pythons = STRV_INIT;
		for (size_t k = 0; k < b->n; k++) {
			if (strcmp(b->v[k].cuda, cudas.v[i]) != 0)
				continue;
			strv_split(&torches, b->v[k].torch, " ");
			strv_add(&pythons, binding_python(a, b->v[k].python));
		}
		all = arena_printf(a, "%s%storch %s with CUDA %s on Python %s", all ? all : "",
		    all ? " and " : "", listed(a, &torches), cudas.v[i], listed(a, &pythons));
	}
	return all;
}

/* 2 for what the Python runs, and 1 for the CUDA that the user has. */
static int nearness(const struct binding *b, const char *tag, const char *cuda)
{
	return 2 * str_eq(b->python, tag) + str_eq(b->cuda, cuda);
}

const struct binding *bindings_nearest(
    struct arena *a, const struct bindings *b, const char *tag, const char *cuda)
{
	const struct binding *best = NULL;
	for (size_t i = 0; i < b->n; i++) {
		const struct binding *x = &b->v[i];
		int d = best ? nearness(x, tag, cuda) - nearness(best, tag, cuda) : 1;
		/* Of other CUDAs, the one that asks least of the driver. */
		if (!d)
			d = probe_compare(best->cuda, x->cuda);
		if (!d)
			d = probe_compare(binding_torch(a, x), binding_torch(a, best));
		if (d > 0)
			best = x;
	}
	return best;
}
