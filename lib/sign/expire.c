/* How long a key shall live, in the forms that gpg takes. */
#include <string.h>
#include <time.h>

#include "../base/clock.h"
#include "../base/err.h"
#include "../base/strv.h"
#include "../base/xalloc.h"
#include "keyinfo.h"

#define DAY 86400
/* gpg counts months and years so. */
#define MONTH_DAYS 30
#define YEAR_DAYS  365
#define DAYS_MAX   36500

static int parse_day(const char *s, time_t *out)
{
	struct tm tm = {0};
	const char *end = strptime(s, "%Y-%m-%d", &tm);
	if (!end || *end)
		return -1;
	*out = timegm(&tm);
	return 0;
}

int keyinfo_parse_expire(const char *expire, unsigned long *seconds, struct err *err)
{
	static const struct {
		char unit;
		unsigned days;
	} units[] = {{'d', 1}, {'w', 7}, {'m', MONTH_DAYS}, {'y', YEAR_DAYS}};
	_free_ char *number = xstrdup(expire);
	unsigned long long n;
	unsigned days = 1;
	time_t day, now = clock_now();
	if (parse_day(expire, &day) == 0) {
		if (day <= now)
			return err_set(err, ERR_USAGE, "the day '%s' is past", expire);
		*seconds = (unsigned long)(day - now);
		return 0;
	}
	size_t len = strlen(number);
	for (size_t i = 0; len && i < ARRAY_SIZE(units); i++) {
		if (number[len - 1] == units[i].unit) {
			days = units[i].days;
			number[len - 1] = '\0';
			break;
		}
	}
	if (str_parse_u64(number, DAYS_MAX / days, &n) < 0)
		return err_set(err, ERR_USAGE,
		    "'%s' is no expiry; give 3y, 18m, 90d, a day such as 2030-01-31, or 0 for "
		    "never",
		    expire);
	*seconds = (unsigned long)n * days * DAY;
	return 0;
}
