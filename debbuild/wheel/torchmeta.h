/* What a torch wheel says of itself: METADATA (PEP 566), from beside the wheel or out of it. */
#pragma once
#include "../../lib/base/compat.h"
#include <stdbool.h>

struct arena;
struct err;
struct index;
struct index_file;

/*
 * What METADATA demands of a project: "==3.6.0" or "~=3.8.0" (PEP 440), or NULL if it pins
 * nothing. text is the whole METADATA.
 */
const char *torchmeta_pin(struct arena *a, const char *text, const char *project);
/* True if the version meets such a demand. */
bool torchmeta_allows(const char *pin, const char *version) _must_check_;
/* The Triton that the wheel pins, or ERR_FORMAT. By ranges where there is no METADATA alone. */
int torchmeta_triton(struct arena *a, struct index *x, const struct index_file *f, const char **out,
    struct err *err) _must_check_;
