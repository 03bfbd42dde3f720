/*
 * Talk on standard error. Only cmd/ and callbacks that cmd/ hands down call this.
 * On a terminal progress redraws one line; in a log it prints plain lines, seldom.
 */
#pragma once
#include "compat.h"
#include <stdbool.h>
#include <stddef.h>

struct err;

void log_set_quiet(bool quiet);	    /* drops notes and progress */
void log_set_verbose(bool verbose); /* shows details */

/* "debkit: text" lines. */
void log_note(const char *fmt, ...) _printf_(1, 2);
void log_detail(const char *fmt, ...) _printf_(1, 2);
void log_warn(const char *fmt, ...) _printf_(1, 2);
/* The one final error: "debkit: error: text". */
void log_error(const struct err *err);

/*
 * "[3/12, about 4 min left] what". done counts finished steps of total; left_s < 0: unknown.
 * The line is cleared by the next note, or by log_progress_end.
 */
void log_progress(size_t done, size_t total, const char *what, double left_s);
void log_progress_end(void);
