/* Packages as a user names them: NAME[:ARCH][=VERSION]; NAME may have wildcards (glob(7)). */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct err;
struct strv;

struct selection {
	struct selector *v;
	size_t n; /* 0: everything matches */
};

/* Lives in the arena. ERR_USAGE for what is no such name. */
int select_parse(
    struct arena *a, const struct strv *names, struct selection *out, struct err *err) _must_check_;
/* Adds the names, each once, if none has wildcards; else false, and any package may be meant. */
bool select_names(const struct selection *s, struct strv *names) _must_check_;
/* Whether one of them means this package; it is then known to have matched. */
bool select_matches(
    struct selection *s, const char *name, const char *version, const char *arch) _must_check_;
/* ERR_USAGE, with the first that never matched; where: the suite, for the message. */
int select_check_all_matched(
    const struct selection *s, const char *where, struct err *err) _must_check_;
