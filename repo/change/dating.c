#include "dating.h"

#include "../../lib/base/clock.h"
#include "../../lib/base/err.h"
#include "../../lib/base/strv.h"
#include "../state/state_index.h"

#define SKEW_MAX 86400		   /* between the clocks of two publishers */
#define REST_MAX (2 * 365 * 86400) /* for longer nobody leaves all of a repository alone */
#define BILLION	 1000000000

/* When a suite was written last, by the times of the files that clients see. */
static int find_newest(struct repo *r, time_t *newest, struct err *err)
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (state_suites(r->state, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		struct suite_row row;
		if (state_find_suite(r->state, names.v[i], &row, err) < 0)
			return -1;
		time_t t = (time_t)(row.release.mtime / BILLION);
		*newest = t > *newest ? t : *newest;
	}
	return 0;
}

int dating_check(struct repo *r, const struct suite *s, struct err *err)
{
	time_t now = clock_now(), last = s->date, newest = last;
	char date[CLOCK_RFC_MAX], clock[CLOCK_RFC_MAX];
	if (r->trust_clock)
		return 0;
	if ((!last || now > last + REST_MAX) && find_newest(r, &newest, err) < 0)
		return -1;
	last = last ? last : newest;
	if (!last || (now >= last - SKEW_MAX && now <= newest + REST_MAX))
		return 0;
	clock_format_release(last, date);
	clock_format_release(now, clock);
	return err_set(err, ERR_CONFLICT,
	    "%s '%s' is dated %s, and this machine's clock says %s: set the clock, or add "
	    "--trust-clock if the clock is right",
	    s->date ? "suite" : "repository", s->date ? s->name : r->root, date, clock);
}

time_t dating_next(const struct repo *r, const struct suite *s)
{
	time_t now = clock_now();
	return now < s->date && !r->trust_clock ? s->date : now;
}
