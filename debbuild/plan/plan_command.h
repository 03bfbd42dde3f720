/* How a step of a plan is put together: its words, what it reads, and the key that follows. */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/strv.h"
#include "plan.h"

struct arena;

/* A command under construction, and what goes into its key beside its words. */
struct command {
	struct arena *a;
	struct strv argv, in, id;
};

void command_words(struct command *c, char *const *words);
/* A word that is the output of another step. */
void command_input(struct command *c, const char *file);
/*
 * Appends the step to p->steps, which must have room, and ends the command. What it takes of other
 * steps must stand in the plan already. Name and out live as long as the arena.
 */
struct plan_step *command_step(
    struct plan *p, struct command *c, enum plan_step_kind kind, const char *name, const char *out);
