#include "clock.h"

#include <stdio.h>
#include <string.h>

#include "err.h"
#include "strv.h"

static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char months[12][4] = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/* The last second of the year 9999: later ones do not fit the date forms. */
#define TIME_MAX 253402300799ULL

static int parse_seconds(const char *name, const char *text, time_t *out, struct err *err)
{
	unsigned long long v;
	if (str_parse_u64(text, TIME_MAX, &v) < 0)
		return err_set(err, ERR_USAGE,
		    "%s is '%s': expected seconds since 1970 as a decimal number", name, text);
	*out = (time_t)v;
	return 0;
}

int clock_source_date(time_t fallback, time_t *out, struct err *err)
{
	const char *text = getenv("SOURCE_DATE_EPOCH");
	if (text && *text)
		return parse_seconds("SOURCE_DATE_EPOCH", text, out, err);
	*out = fallback;
	return 0;
}

time_t clock_now(void)
{
	const char *text = getenv("DEBKIT_NOW");
	time_t t = 0;
	if (text && parse_seconds("DEBKIT_NOW", text, &t, NULL) == 0)
		return t;
	return time(NULL);
}

double clock_monotonic(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void format(time_t t, const char *zone, char out[CLOCK_RFC_MAX])
{
	struct tm tm = {0};
	gmtime_r(&t, &tm);
	snprintf(out, CLOCK_RFC_MAX, "%s, %02d %s %04d %02d:%02d:%02d %s", days[tm.tm_wday % 7],
	    tm.tm_mday, months[tm.tm_mon % 12], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec,
	    zone);
}

void clock_format_release(time_t t, char out[CLOCK_RFC_MAX])
{
	format(t, "UTC", out);
}

void clock_format_changelog(time_t t, char out[CLOCK_RFC_MAX])
{
	format(t, "+0000", out);
}

static int month_number(const char *name)
{
	for (int i = 0; i < 12; i++)
		if (!strcmp(name, months[i]))
			return i;
	return -1;
}

int clock_parse_release(const char *s, time_t *out)
{
	static const char *const zones[] = {"UTC", "GMT", "Z", "+0000"};
	char month[4], again[CLOCK_RFC_MAX];
	struct tm tm = {0};
	int at = 0;
	if (sscanf(s, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d %n", &tm.tm_mday, month,
		&tm.tm_year, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &at) != 6 ||
	    !at || tm.tm_year < 1970 || (tm.tm_mon = month_number(month)) < 0)
		return -1;
	tm.tm_year -= 1900;
	time_t t = timegm(&tm);
	/* Written again it must be the same: no 30 Feb, no wrong day of the week, no -1 hours. */
	clock_format_release(t, again);
	if (strncmp(s, again, (size_t)at) != 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(zones); i++)
		if (!strcmp(s + at, zones[i])) {
			*out = t;
			return 0;
		}
	return -1;
}
