#include "states.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/base/arena.h"
#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/outfile.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/deb/stanza.h"
#include "field.h"
#include "matrix.h"

#define FILE_MAX ((size_t)16 << 20)

static const char head[] =
    "# What real torches and GPUs showed; written by `debkit matrix --record`. See\n"
    "# debbuild/data/states.h.\n";

static bool is_state(const char *s)
{
	return str_eq(s, "rebuilt") || str_eq(s, "imported") || str_eq(s, "gpu");
}

static int parse(const struct field_source *f, const struct stanza *s, struct state_fact *out)
{
	static const char *const fields[] = {
	    "State", "Recipe", "Version", "Torch", "Cuda", "Python", "Note", NULL};
	if (stanza_check_fields(s, fields, f->path, f->err) < 0 ||
	    !(out->state = field_need(f, s, "State")) ||
	    !(out->recipe = field_need(f, s, "Recipe")) ||
	    !(out->version = field_need(f, s, "Version")) ||
	    !(out->torch = field_version(f, s, "Torch", 2)) ||
	    !(out->cuda = field_version(f, s, "Cuda", 2)) ||
	    !(out->python = field_version(f, s, "Python", 2)))
		return -1;
	out->note = stanza_get(s, "Note");
	if (!is_state(out->state))
		return field_fail(
		    f, s, "State", "is '%s', expected rebuilt, imported or gpu", out->state);
	return 0;
}

static bool same_cell(const struct state_fact *a, const struct state_fact *b)
{
	return !strcmp(a->state, b->state) && !strcmp(a->recipe, b->recipe) &&
	       !strcmp(a->torch, b->torch) && !strcmp(a->cuda, b->cuda) &&
	       !strcmp(a->python, b->python);
}

int states_load(struct arena *a, const char *path, struct states *out, struct err *err)
{
	struct stanza_list list = {0};
	struct field_source f = {path, err};
	*out = (struct states){0};
	if (!path_exists(path))
		return 0;
	if (stanza_parse_file(a, path, STANZA_COMMENTS, &list, err) < 0)
		return -1;
	/* With room for one more. */
	out->v = arena_alloc(a, (list.n + 1) * sizeof *out->v);
	for (size_t i = 0; i < list.n; i++) {
		if (parse(&f, &list.v[i], &out->v[i]) < 0)
			return -1;
		for (size_t k = 0; k < i; k++)
			if (same_cell(&out->v[k], &out->v[i]))
				return field_fail(&f, &list.v[i], "State",
				    "is '%s' for this cell again, expected it once",
				    out->v[i].state);
		out->n++;
	}
	return 0;
}

static int by_cell(const void *a, const void *b)
{
	const struct state_fact *x = a, *y = b;
	int r = strcmp(x->recipe, y->recipe);
	r = r ? r : matrix_compare(x->cuda, y->cuda);
	r = r ? r : matrix_compare(x->torch, y->torch);
	r = r ? r : matrix_compare(x->python, y->python);
	return r ? r : strcmp(y->state, x->state);
}

static void write_fact(struct arena *a, const struct state_fact *fact, struct buf *out)
{
	struct stanza s = {0};
	const char *const pairs[][2] = {{"State", fact->state}, {"Recipe", fact->recipe},
	    {"Version", fact->version}, {"Torch", fact->torch}, {"Cuda", fact->cuda},
	    {"Python", fact->python}, {"Note", fact->note}};
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (pairs[i][1])
			stanza_set(a, &s, pairs[i][0], pairs[i][1]);
	buf_putc(out, '\n');
	stanza_write(&s, out);
}

int states_record(const char *path, const struct state_fact *fact, struct err *err)
{
	_cleanup_(arena_done) struct arena a = ARENA_INIT;
	_cleanup_(buf_done) struct buf text = BUF_INIT(FILE_MAX);
	struct states s;
	if (!is_state(fact->state))
		return err_set(err, ERR_USAGE,
		    "unknown state '%s': expected rebuilt, imported or gpu", fact->state);
	if (fact->note && strchr(fact->note, '\n'))
		return err_set(err, ERR_USAGE, "a note is one line of text");
	if (states_load(&a, path, &s, err) < 0)
		return -1;
	if (!s.v)
		s.v = arena_alloc(&a, sizeof *s.v);
	size_t at = 0;
	while (at < s.n && !same_cell(&s.v[at], fact))
		at++;
	s.n += at == s.n;
	s.v[at] = *fact;
	qsort(s.v, s.n, sizeof *s.v, by_cell);
	buf_puts(&text, head);
	for (size_t i = 0; i < s.n; i++)
		write_fact(&a, &s.v[i], &text);
	if (buf_check(&text, path, err) < 0)
		return -1;
	return outfile_put_if_changed(path, 0644, text.data, text.len, err);
}
