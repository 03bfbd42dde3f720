#include "ninja.h"

#include <string.h>

#include "../../lib/base/buf.h"
#include "../plan/plan.h"

/* One word for sh, inside a value of build.ninja ('$' doubled). */
static void quote(struct buf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_=+./,:@%";
	if (*word && strspn(word, plain) == strlen(word)) {
		buf_puts(out, word);
		return;
	}
	buf_putc(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_puts(out, "'\\''");
		else if (*word == '$')
			buf_puts(out, "$$");
		else
			buf_putc(out, *word);
	}
	buf_putc(out, '\'');
}

/* A file name in a build line: ninja ends it at a space or colon. */
static void put_path(struct buf *out, const char *path)
{
	for (; *path; path++) {
		if (strchr("$ :", *path))
			buf_putc(out, '$');
		buf_putc(out, *path);
	}
}

/* Text in a value of build.ninja. */
static void put_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '$')
			buf_putc(out, '$');
		buf_putc(out, *text);
	}
}

/*
 * No more jobs than the cluster has room for: one that waits in Slurm's queue starts up to a second
 * after it could. Where memory alone keeps the heavy ones few, the others fill what room is left.
 */
static const char *pool_of(const struct plan_step *s, const struct ninja_launch *launch)
{
	if (!launch->jobs)
		return s->heavy ? "heavy" : NULL;
	if (!plan_kind_is_costly(s->kind))
		return "here";
	return s->heavy && launch->heavy_slots < launch->slots ? "heavy" : "jobs";
}

static void put_step(struct buf *out, const struct plan_step *s, const struct ninja_launch *launch)
{
	buf_puts(out, "build ");
	put_path(out, s->out);
	buf_puts(out, ": step");
	for (char **in = s->in; *in; in++) {
		buf_putc(out, ' ');
		put_path(out, *in);
	}
	buf_printf(out, "\n  key = %s\n  label = ", s->key);
	put_text(out, s->name);
	buf_puts(out, "\n  name = ");
	quote(out, s->name);
	buf_puts(out, "\n  cmd =");
	for (char **w = s->argv; *w; w++) {
		buf_putc(out, ' ');
		quote(out, *w);
	}
	const char *pool = pool_of(s, launch);
	if (pool)
		buf_printf(out, "\n  pool = %s", pool);
	buf_putc(out, '\n');
}

void ninja_write(const struct plan *p, const char *program, const char *cache,
    const struct ninja_launch *launch, struct buf *out)
{
	buf_puts(out, "# Written by debkit build; see debbuild/make/ninja.h.\n"
		      "ninja_required_version = 1.10\n");
	buf_printf(
	    out, "pool heavy\n  depth = %u\n", launch->jobs ? launch->heavy_slots : p->heavy_jobs);
	if (launch->jobs)
		buf_printf(out, "pool jobs\n  depth = %u\npool here\n  depth = %u\n", launch->slots,
		    p->jobs);
	buf_puts(out, "rule step\n  command = ");
	/* Without a shell between ninja and the step, a step does not outlive a killed ninja. */
	put_text(out, launch->words ? launch->words : "exec");
	buf_putc(out, ' ');
	quote(out, program);
	buf_puts(out, " step --cache ");
	quote(out, cache);
	buf_puts(out, " --key $key --name $name --output $out -- $cmd\n  description = $label\n");
	for (size_t i = 0; i < p->n_steps; i++)
		put_step(out, &p->steps[i], launch);
}
