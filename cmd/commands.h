/*
 * The commands of one program. There are two: the whole one (commands.c), and the one that the
 * package debkit brings into containers (commands_small.c), which needs fewer libraries and hands
 * the other commands on to the whole one where that is installed.
 */
#pragma once
#include "../lib/base/compat.h"
#include <stddef.h>

struct cmd;
struct err;

extern const struct cmd *const commands[];
extern const size_t n_commands;
/* What --help says below the list; ends with a space or is empty. */
extern const char commands_note[];
/* For argv[1], which is none of them: ERR_USAGE, or the other program in place of this one. */
int commands_run_other(char **argv, struct err *err) _must_check_;
