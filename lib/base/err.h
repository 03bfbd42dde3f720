/*
 * The error object: one code, one line of text, outermost context first.
 *
 *	if (open_thing(path, &t, err) < 0)
 *		return err_wrap(err, "cannot read recipe '%s'", path);
 *
 * A message that is longer than ERR_MSG_MAX loses its middle.
 *
 * Every function that can fail returns 0 or -1 and takes `struct err *` last.
 * Library code never prints and never exits; cmd/ prints the one final error.
 */
#pragma once
#include "compat.h"

enum err_code {
	ERR_NONE,
	ERR_SYSTEM,   /* the machine said no: errno */
	ERR_USAGE,    /* the command line or a file the user wrote: exit status 2 */
	ERR_FORMAT,   /* input that is not what it should be */
	ERR_TRUST,    /* hash, signature or key: exit status 3 */
	ERR_NETWORK,  /* a server did not answer, or not as it should */
	ERR_TOOL,     /* another program failed or is missing */
	ERR_CONFLICT, /* two things exclude each other: lock held, other bytes under a name */
	ERR_INTERRUPT /* the user pressed Ctrl-C */
};

#define ERR_MSG_MAX 2048

struct err {
	enum err_code code;
	char msg[ERR_MSG_MAX];
};

/* Each sets or extends the message (newlines become spaces) and returns -1. err may be NULL. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...) _printf_(3, 4);

/* As err_set with ERR_SYSTEM; appends ": " and strerror(errno). */
int err_sys(struct err *err, const char *fmt, ...) _printf_(2, 3);

/* Puts context in front of what is there: "context: message". Keeps the code. */
int err_wrap(struct err *err, const char *fmt, ...) _printf_(2, 3);

/* Appends " (hint)" or ": text" at the end, verbatim: what to do next. */
int err_hint(struct err *err, const char *fmt, ...) _printf_(2, 3);

/* Forgets what it holds, for a caller that goes on. */
void err_clear(struct err *err);

/* The process's exit status for a code: 0, 1, 2 (usage), 3 (trust), 130 (interrupt). */
int err_exit_status(enum err_code code) _must_check_;
