/*
 * Which functions a Python really binds: templates/doctor/deep.py is run by it for a moment, and
 * its stanzas become findings.
 */
#pragma once
#include "../lib/base/compat.h"

struct err;
struct findings;
struct machine;
struct pyenv;

/* Runs the Python, two minutes at most. -1 if the script is not there. */
int deep_check(
    struct machine *m, const struct pyenv *e, struct findings *out, struct err *err) _must_check_;
/* Findings from what the script printed; for deep_check. */
void deep_judge(struct machine *m, const struct pyenv *e, const char *text, struct findings *out);
