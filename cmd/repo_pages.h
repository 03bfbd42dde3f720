/* The pages of a repository as the commands write them: with the matrix of what it lists. */
#pragma once
#include "../repo/pages/pages.h"

struct err;

/* title: see pages_spec. */
int repo_pages_write(const char *title, struct pages_result *res, struct err *err) _must_check_;
/*
 * After a change: where the repository has pages, they are written anew. The change stands whatever
 * comes of that: a failure is a warning, and the next change or debkit site writes them.
 */
void repo_pages_follow(void);
