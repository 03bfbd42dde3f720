/* The steps of a plan and their keys; called by plan_make once the rest of the plan stands. */
#pragma once
#include "plan.h"

/* Adds all steps, in the order in which they should start: the longest first. */
void plan_add_steps(struct arena *a, struct plan *p);
/* Adds stubs/SONAME, an empty library. */
void plan_add_stub(struct arena *a, struct plan *p, const char *soname);
