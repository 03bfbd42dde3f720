/* What debkit doctor and debkit status print: for people, and as JSON (doctor/README.md). */
#pragma once
#include "../lib/base/compat.h"
#include <stdbool.h>
#include <stddef.h>

struct buf;
struct findings;
struct machine;
struct pyenv;

/* Findings, one line each and one more for the line to type; good ones last. */
void doctor_print_findings(const struct findings *f, bool colour, struct buf *out);
/* One row for each Python. */
void doctor_print_table(struct machine *m, struct buf *out);
/* The files that were read, sorted. */
void doctor_print_files(struct machine *m, struct buf *out);
void doctor_print_json(struct machine *m, const struct findings *f, struct pyenv *const *targets,
    size_t n, bool files, struct buf *out);
