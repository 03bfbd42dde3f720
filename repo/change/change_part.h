/* Private to change.c: one index of a changing suite. */
#pragma once
#include "change.h"

/*
 * Stages the index of a component and architecture if the change concerns it, and appends its
 * files, new or as they were, to files.
 */
int change_write_part(struct change *c, const char *component, const char *arch,
    struct release_list *files, struct err *err) _must_check_;
