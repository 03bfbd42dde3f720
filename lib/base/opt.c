#include "opt.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "err.h"
#include "strv.h"
#include "xalloc.h"

static const struct opt *find_long(const struct opt *opts, const char *name, size_t len)
{
	for (; opts->name; opts++)
		if (strlen(opts->name) == len && !strncmp(opts->name, name, len))
			return opts;
	return NULL;
}

static const struct opt *find_letter(const struct opt *opts, char letter)
{
	for (; opts->name; opts++)
		if (opts->letter && opts->letter == letter)
			return opts;
	return NULL;
}

static int store(const struct opt *o, const char *value, struct err *err)
{
	unsigned long long v;
	switch (o->type) {
	case OPT_FLAG:
		*(bool *)o->to = true;
		return 0;
	case OPT_STRING:
		if (!*value)
			return err_set(err, ERR_USAGE, "option --%s needs a %s that is not empty",
			    o->name, o->arg);
		*(const char **)o->to = value;
		return 0;
	case OPT_UINT:
		if (str_parse_u64(value, INT_MAX, &v) < 0)
			return err_set(err, ERR_USAGE,
			    "option --%s: '%s' is not a whole number from 0 to %d", o->name, value,
			    INT_MAX);
		*(unsigned *)o->to = (unsigned)v;
		return 0;
	case OPT_LIST: {
		struct strv *list = o->to;
		size_t before = list->n;
		strv_split(list, value, ",");
		if (list->n == before)
			return err_set(err, ERR_USAGE, "option --%s needs %s, not '%s'", o->name,
			    o->arg, value);
		return 0;
	}
	default:
		return err_set(err, ERR_USAGE, "option --%s has no type", o->name);
	}
}

int opt_parse(const struct opt *opts, int argc, char *const *argv, struct strv *operands,
    bool *help, struct err *err)
{
	*help = false;
	for (int i = 1; i < argc; i++) {
		const char *arg = argv[i], *value = NULL;
		if (!strcmp(arg, "--")) {
			for (i++; i < argc; i++)
				strv_add(operands, argv[i]);
			return 0;
		}
		if (arg[0] != '-' || !arg[1]) {
			strv_add(operands, arg);
			continue;
		}
		if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
			*help = true;
			return 0;
		}
		const struct opt *o;
		if (arg[1] == '-') {
			size_t len = strcspn(arg + 2, "=");
			o = find_long(opts, arg + 2, len);
			if (arg[2 + len] == '=')
				value = arg + 2 + len + 1;
		} else {
			o = find_letter(opts, arg[1]);
			if (arg[2])
				value = arg + 2;
		}
		if (!o)
			return err_set(err, ERR_USAGE, "unknown option '%s'; see debkit %s --help",
			    arg, argv[0]);
		if (o->type == OPT_FLAG && value)
			return err_set(err, ERR_USAGE, "option --%s takes no value", o->name);
		if (o->type != OPT_FLAG && !value) {
			if (i + 1 >= argc)
				return err_set(
				    err, ERR_USAGE, "option --%s needs %s", o->name, o->arg);
			value = argv[++i];
		}
		if (store(o, value, err) < 0)
			return -1;
	}
	return 0;
}

static char *label(const struct opt *o)
{
	_free_ char *letter = o->letter ? xasprintf("-%c, ", o->letter) : xstrdup("    ");
	return xasprintf("  %s--%s%s%s", letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
}

void opt_help(const struct opt *opts, struct buf *out)
{
	size_t width = 0;
	for (const struct opt *o = opts; o->name; o++) {
		_free_ char *l = label(o);
		if (strlen(l) > width && strlen(l) < 34)
			width = strlen(l);
	}
	for (const struct opt *o = opts; o->name; o++) {
		_free_ char *l = label(o);
		if (strlen(l) > width)
			buf_printf(out, "%s\n%*s  %s\n", l, (int)width, "", o->help);
		else
			buf_printf(out, "%-*s  %s\n", (int)width, l, o->help);
	}
}

void opt_synopsis(const struct opt *opts, struct buf *out)
{
	for (const struct opt *o = opts; o->name; o++)
		buf_printf(out, "%s[--%s%s%s]", o == opts ? "" : " ", o->name, o->arg ? " " : "",
		    o->arg ? o->arg : "");
}

/* roff reads a hyphen as such only when it is escaped, and a dot or quote that begins a line as
 * a request. */
static void roff(struct buf *out, const char *s)
{
	if (*s == '.' || *s == '\'')
		buf_puts(out, "\\&");
	for (; *s; s++) {
		if (*s == '-' || *s == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *s);
	}
}

void opt_man(const struct opt *opts, struct buf *out)
{
	for (const struct opt *o = opts; o->name; o++) {
		buf_puts(out, ".TP\n.B ");
		if (o->letter)
			buf_printf(out, "\\-%c, ", o->letter);
		buf_puts(out, "\\-\\-");
		roff(out, o->name);
		if (o->arg) {
			buf_puts(out, " \\fI");
			roff(out, o->arg);
			buf_puts(out, "\\fR");
		}
		buf_putc(out, '\n');
		roff(out, o->help);
		buf_puts(out, ".\n");
	}
}
