/* Time: the one reader of SOURCE_DATE_EPOCH, and dates without locale or time zone. */
#pragma once
#include "compat.h"
#include <stdint.h>
#include <time.h>

struct err;

/*
 * SOURCE_DATE_EPOCH if it is set (a number, or ERR_USAGE), else fallback. Seconds since 1970.
 * reproducible-builds.org/specs/source-date-epoch
 */
int clock_source_date(time_t fallback, time_t *out, struct err *err) _must_check_;
/* Now, unless DEBKIT_NOW (seconds since 1970) says otherwise, which tests use. */
time_t clock_now(void);
/* Seconds on a clock that never goes back, for progress. */
double clock_monotonic(void);
/* "Mon, 30 Nov 2026 07:00:00 UTC" (deb822 Release) into out. */
#define CLOCK_RFC_MAX 40
void clock_format_release(time_t t, char out[CLOCK_RFC_MAX]);
/* "Mon, 30 Nov 2026 07:00:00 +0000" (deb-changelog(5)) into out. */
void clock_format_changelog(time_t t, char out[CLOCK_RFC_MAX]);
/* Reads the form of clock_format_release (UTC, GMT, Z or +0000); -1 if it is no such date. */
int clock_parse_release(const char *s, time_t *out) _must_check_;
