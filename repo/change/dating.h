/* Dates of Releases, and clocks that are wrong. */
#pragma once
#include "../index/repo.h"

struct err;
struct suite;

/*
 * ERR_CONFLICT if this machine's clock cannot be right: the suite's date lies more than a day ahead
 * of it, or all of the repository more than two years back. A suite that is new has the date of the
 * one that was written last. Clients refuse a Release of the future;
 * what is dated by such a clock would be refused until that day. With trust_clock: 0.
 */
int dating_check(struct repo *r, const struct suite *s, struct err *err) _must_check_;
/* The date of the suite's next Release: now, but never before the last one, as apt holds such a one
 * for old. With trust_clock: now. */
time_t dating_next(const struct repo *r, const struct suite *s) _must_check_;
