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
	struct tm tm;
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

int clock_parse_release(const char *s, time_t *out)
{
	char day[4], month[4], zone[6];
	struct tm tm = {0};
	int end = 0;
	if (sscanf(s, "%3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d %5[A-Za-z+0-9]%n", day,
		&tm.tm_mday, month, &tm.tm_year, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, zone,
		&end) != 8 ||
	    s[end])
		return -1;
	if (strcmp(zone, "UTC") && strcmp(zone, "GMT") && strcmp(zone, "Z") &&
	    strcmp(zone, "+0000"))
		return -1;
	for (tm.tm_mon = 0; tm.tm_mon < 12; tm.tm_mon++)
		if (!strcmp(month, months[tm.tm_mon]))
			break;
	if (tm.tm_mon == 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
	    tm.tm_min > 59 || tm.tm_sec > 60 || tm.tm_year < 1970)
		return -1;
	tm.tm_year -= 1900;
	*out = timegm(&tm);
	return 0;
}
