#include "plan_command.h"

#include <string.h>

#include "../../lib/base/arena.h"

static void command_done(struct command *c)
{
	strv_done(&c->argv);
	strv_done(&c->in);
	strv_done(&c->id);
}

void command_words(struct command *c, char *const *words)
{
	for (; words && *words; words++)
		strv_add(&c->argv, *words);
}

void command_input(struct command *c, const char *file)
{
	strv_add(&c->argv, file);
	strv_add(&c->in, file);
}

static const struct plan_step *step_of(const struct plan *p, const char *out)
{
	for (size_t i = 0; i < p->n_steps; i++)
		if (!strcmp(p->steps[i].out, out))
			return &p->steps[i];
	return NULL;
}

/* The key: every word, every identity, and the key of each step whose output goes in. */
static void make_key(const struct plan *p, const struct command *c, char key[SHA256_HEX])
{
	struct digest *d = digest_new(DIGEST_SHA256);
	static const char format[] = "debkit step 1";
	digest_update(d, format, sizeof format);
	for (size_t i = 0; i < c->argv.n; i++)
		digest_update(d, c->argv.v[i], strlen(c->argv.v[i]) + 1);
	for (size_t i = 0; i < c->id.n; i++)
		digest_update(d, c->id.v[i], strlen(c->id.v[i]) + 1);
	for (size_t i = 0; i < c->in.n; i++)
		digest_update(d, step_of(p, c->in.v[i])->key, SHA256_HEX);
	char hex[DIGEST_HEX_MAX];
	digest_finish_hex(d, hex);
	memcpy(key, hex, SHA256_HEX);
}

static char **keep(struct arena *a, const struct strv *v)
{
	char **out = arena_alloc(a, (v->n + 1) * sizeof *out);
	for (size_t i = 0; i < v->n; i++)
		out[i] = arena_strdup(a, v->v[i]);
	return out;
}

struct plan_step *command_step(
    struct plan *p, struct command *c, enum plan_step_kind kind, const char *name, const char *out)
{
	struct plan_step *s = &p->steps[p->n_steps];
	*s = (struct plan_step){.kind = kind, .name = name, .out = out};
	s->in = keep(c->a, &c->in);
	s->argv = keep(c->a, &c->argv);
	make_key(p, c, s->key);
	p->n_steps++;
	command_done(c);
	return s;
}
