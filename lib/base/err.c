#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One line only: control characters would break logs and terminals. */
static void make_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = ' ';
}

/* Of a text that is too long the middle goes: what was asked for stands at its begin, the reason at
 * its end. */
#define TEXT_MAX (4 * ERR_MSG_MAX)
#define HALF	 (ERR_MSG_MAX / 2)

static void put(struct err *err, const char *text)
{
	size_t n = strlen(text);
	if (n < ERR_MSG_MAX)
		memmove(err->msg, text, n + 1);
	else
		snprintf(err->msg, ERR_MSG_MAX, "%.*s...%s", HALF - 3, text, text + n - HALF + 1);
	make_line(err->msg);
}

static int set_va(struct err *err, enum err_code code, const char *fmt, va_list ap)
{
	char text[TEXT_MAX];
	if (!err)
		return -1;
	vsnprintf(text, sizeof text, fmt, ap);
	err->code = code;
	put(err, text);
	return -1;
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	set_va(err, code, fmt, ap);
	va_end(ap);
	return -1;
}

int err_sys(struct err *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	va_start(ap, fmt);
	set_va(err, ERR_SYSTEM, fmt, ap);
	va_end(ap);
	err_hint(err, ": %s", strerror(saved));
	errno = saved;
	return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	if (!err)
		return -1;
	char inner[ERR_MSG_MAX];
	memcpy(inner, err->msg, sizeof inner);
	va_list ap;
	va_start(ap, fmt);
	set_va(err, err->code, fmt, ap);
	va_end(ap);
	return err_hint(err, ": %s", inner);
}

int err_hint(struct err *err, const char *fmt, ...)
{
	if (!err)
		return -1;
	char text[TEXT_MAX];
	size_t len = strlen(err->msg);
	memcpy(text, err->msg, len);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text + len, sizeof text - len, fmt, ap);
	va_end(ap);
	put(err, text);
	return -1;
}

void err_clear(struct err *err)
{
	if (err) {
		err->code = ERR_NONE;
		err->msg[0] = '\0';
	}
}

int err_exit_status(enum err_code code)
{
	switch (code) {
	case ERR_NONE:
		return 0;
	case ERR_USAGE:
		return 2;
	case ERR_TRUST:
		return 3;
	case ERR_INTERRUPT:
		return 130;
	default:
		return 1;
	}
}
