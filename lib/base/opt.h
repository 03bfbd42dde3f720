/*
 * Typed options. One table for a command gives its parser, its --help and its man page.
 *
 *	static const struct opt opts[] = {
 *		{"jobs", 'j', OPT_UINT, "N", "compile jobs at once", &jobs},
 *		{"arch", 0, OPT_LIST, "CC[,CC...]", "GPU archs", &archs},
 *		{NULL}};
 *
 * "--name value", "--name=value", "-n value"; "--" ends the options; options and operands mix.
 */
#pragma once
#include "compat.h"
#include <stdbool.h>
#include <stddef.h>

struct err;
struct buf;
struct strv;

enum opt_type {
	OPT_END,
	OPT_FLAG,   /* bool: --name sets it to true */
	OPT_STRING, /* const char *: points into argv */
	OPT_UINT,   /* unsigned: decimal, 0 to 2^31 - 1 */
	OPT_LIST    /* struct strv: comma-separated, may be repeated */
};

struct opt {
	const char *name; /* without dashes */
	char letter;	  /* or 0 */
	enum opt_type type;
	const char *arg;  /* name of the value in help; NULL for a flag */
	const char *help; /* one phrase, lower case, no full stop */
	void *to;
};

/*
 * Parses argv[1..]; what is no option goes to operands in order. --help sets *help (a command
 * then prints and returns). Unknown option, missing or malformed value: ERR_USAGE.
 */
int opt_parse(const struct opt *opts, int argc, char *const *argv, struct strv *operands,
    bool *help, struct err *err) _must_check_;
/* Lines "  -j, --jobs N     compile jobs at once". */
void opt_help(const struct opt *opts, struct buf *out);
/* "[--jobs N] [--arch CC[,CC...]]". */
void opt_synopsis(const struct opt *opts, struct buf *out);
/* The same as man page paragraphs (mdoc is not used; plain man(7) macros). */
void opt_man(const struct opt *opts, struct buf *out);
