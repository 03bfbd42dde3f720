#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "clock.h"
#include "err.h"

static bool quiet, verbose, line_open;
static double last_plain = -1;

/* In a log a progress line comes at most once in this many seconds, and at the end. */
#define PLAIN_EVERY 30.0

void log_set_quiet(bool on)
{
	quiet = on;
}

void log_set_verbose(bool on)
{
	verbose = on;
}

static void say(const char *prefix, const char *fmt, va_list ap)
{
	log_progress_end();
	fputs(prefix, stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void log_note(const char *fmt, ...)
{
	if (quiet)
		return;
	va_list ap;
	va_start(ap, fmt);
	say("debkit: ", fmt, ap);
	va_end(ap);
}

void log_detail(const char *fmt, ...)
{
	if (!verbose)
		return;
	va_list ap;
	va_start(ap, fmt);
	say("debkit: ", fmt, ap);
	va_end(ap);
}

void log_warn(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	say("debkit: warning: ", fmt, ap);
	va_end(ap);
}

void log_error(const struct err *err)
{
	log_progress_end();
	fprintf(stderr, "debkit: error: %s\n", err->msg);
}

static void format_left(double s, char *out, size_t n)
{
	if (s < 0)
		out[0] = '\0';
	else if (s < 90)
		snprintf(out, n, ", about %.0f s left", s < 1 ? 1 : s);
	else
		snprintf(out, n, ", about %.0f min left", s / 60);
}

void log_progress(size_t done, size_t total, const char *what, double left_s)
{
	if (quiet)
		return;
	char left[40], line[400];
	format_left(left_s, left, sizeof left);
	snprintf(line, sizeof line, "[%zu/%zu%s] %.300s", done, total, left, what);
	if (!isatty(STDERR_FILENO)) {
		/* at most one line in a while, and one at the end */
		static bool ended;
		double now = clock_monotonic();
		bool at_end = done == total;
		if (at_end ? ended : last_plain >= 0 && now - last_plain < PLAIN_EVERY)
			return;
		ended = at_end;
		last_plain = now;
		fprintf(stderr, "debkit: %s\n", line);
		return;
	}
	struct winsize ws;
	int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 10 ? ws.ws_col : 80;
	fprintf(stderr, "\r%.*s\033[K", width - 1, line);
	fflush(stderr);
	line_open = true;
}

void log_progress_end(void)
{
	if (!line_open)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	line_open = false;
}
