#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "../base/buf.h"
#include "../base/err.h"
#include "../base/intr.h"
#include "../base/log.h"
#include "cmd.h"

static const struct cmd *const commands[] = {
    &cmd_abi,
    &cmd_build,
    &cmd_copy,
    &cmd_diff,
    &cmd_disable,
    &cmd_enable,
    &cmd_gc,
    &cmd_keys,
    &cmd_list,
    &cmd_plan,
    &cmd_publish,
    &cmd_refresh,
    &cmd_remove,
    &cmd_sign,
    &cmd_snapshot,
    &cmd_step,
    &cmd_verify,
};

static void print(const struct buf *b)
{
	fwrite(b->data, 1, b->len, stdout);
}

static void print_list(void)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 16);
	buf_puts(&b,
	    "usage: debkit COMMAND [OPTION...] [OPERAND...]\n\n"
	    "Builds CUDA extensions as signed .deb packages and publishes them for apt.\n\n"
	    "commands:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		buf_printf(&b, "  %-10s  %s\n", commands[i]->name, commands[i]->summary);
	buf_puts(&b, "\n`debkit COMMAND --help` tells more; `debkit --version` the version.\n");
	print(&b);
}

static void print_help(const struct cmd *c)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 16);
	buf_printf(&b, "usage: debkit %s [OPTION...]%s%s\n\n%s\n\noptions:\n", c->name,
	    *c->operands ? " " : "", c->operands, c->description);
	opt_help(c->opts, &b);
	buf_puts(&b, "      --help  this text\n");
	print(&b);
}

/* debkit(1), from the same table as the parser. */
static void print_man(void)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	buf_puts(&b, ".TH DEBKIT 1 \"\" \"debkit " DEBKIT_VERSION "\" \"User Commands\"\n"
		     ".SH NAME\ndebkit \\- build CUDA extensions as signed Debian packages\n"
		     ".SH SYNOPSIS\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		buf_printf(&b, "%s.B debkit %s\n", i ? ".br\n" : "", commands[i]->name);
		opt_synopsis(commands[i]->opts, &b);
		buf_printf(&b, " %s\n", commands[i]->operands);
	}
	buf_puts(&b, ".SH COMMANDS\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		buf_printf(&b, ".SS %s\n%s\n", commands[i]->name, commands[i]->description);
		opt_man(commands[i]->opts, &b);
	}
	buf_puts(&b, ".SH EXIT STATUS\n0 success; 1 failure; 2 usage; 3 a hash, signature or key "
		     "cannot be trusted; 130 stopped by a signal.\n");
	print(&b);
}

static const struct cmd *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int run(const struct cmd *c, int argc, char **argv, struct err *err)
{
	_cleanup_(strv_done) struct strv operands = STRV_INIT;
	bool help;
	if (opt_parse(c->opts, argc, argv, &operands, &help, err) < 0)
		return -1;
	if (help) {
		print_help(c);
		return 0;
	}
	if (operands.n < c->min_operands)
		return err_set(err, ERR_USAGE, "debkit %s needs %s; see debkit %s --help", c->name,
		    c->operands, c->name);
	if (operands.n > c->max_operands)
		return err_set(err, ERR_USAGE, "debkit %s takes no '%s'; see debkit %s --help",
		    c->name, operands.v[c->max_operands], c->name);
	return c->run(&operands, err);
}

int main(int argc, char **argv)
{
	setlocale(LC_ALL, "C");
	intr_install();
	struct err err = {0};
	if (argc < 2) {
		err_set(&err, ERR_USAGE, "no command given; see debkit --help");
		log_error(&err);
		return err_exit_status(err.code);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_list();
	} else if (!strcmp(argv[1], "--version")) {
		puts("debkit " DEBKIT_VERSION);
	} else if (!strcmp(argv[1], "--man")) {
		print_man();
	} else {
		const struct cmd *c = find(argv[1]);
		int rc =
		    c ? run(c, argc - 1, argv + 1, &err)
		      : err_set(&err, ERR_USAGE, "no command '%s'; see debkit --help", argv[1]);
		log_progress_end();
		if (rc < 0) {
			log_error(&err);
			return err_exit_status(err.code ? err.code : ERR_SYSTEM);
		}
	}
	if (fflush(stdout) != 0) {
		err_sys(&err, "cannot write standard output");
		log_error(&err);
		return 1;
	}
	return 0;
}
