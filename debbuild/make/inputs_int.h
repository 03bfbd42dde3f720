/* What the fetchers of a plan's inputs share. */
#pragma once
#include "../../lib/base/compat.h"
#include "../wheel/pyindexes.h"
#include "inputs.h"
#include "../wheel/wheel.h"

struct lock_entry;

/* A fetch under way: the plan, where things go, and the connections. */
struct fetch {
	const struct plan *plan;
	const char *cache;
	const struct inputs_report *report;
	struct indexes indexes;
};

void fetch_done(struct fetch *f);
void fetch_note(const struct fetch *f, const char *text);
/* 1 if the folder is there and whole, 0 if it must be fetched. */
int fetch_is_there(const struct fetch *f, const char *dir, struct err *err) _must_check_;
/* A fetched folder, complete on disk, gets its name. */
int fetch_settle(const char *tmp, const char *dir, struct err *err) _must_check_;
/*
 * The wanted members of a wheel in dir, by range requests, unless they are there. what stands
 * before the file's name in the note: "parts of ", "".
 */
int fetch_members(struct fetch *f, const struct lock_entry *e, wheel_want_fn *want, void *arg,
    const char *what, const char *dir, struct err *err) _must_check_;
/* work/NAME as a link to target. */
int fetch_link(
    const char *work, const char *name, const char *target, struct err *err) _must_check_;
