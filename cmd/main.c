#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../lib/base/buf.h"
#include "../lib/base/err.h"
#include "../lib/base/intr.h"
#include "../lib/base/log.h"
#include "cmd.h"
#include "commands.h"

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
	for (size_t i = 0; i < n_commands; i++)
		buf_printf(&b, "  %-10s  %s\n", commands[i]->name, commands[i]->summary);
	buf_printf(&b, "\n%s`debkit COMMAND --help` tells more; `debkit --version` the version.\n",
	    commands_note);
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
	for (size_t i = 0; i < n_commands; i++) {
		buf_printf(&b, "%s.B debkit %s\n", i ? ".br\n" : "", commands[i]->name);
		opt_synopsis(commands[i]->opts, &b);
		buf_printf(&b, " %s\n", commands[i]->operands);
	}
	buf_puts(&b, ".SH COMMANDS\n");
	for (size_t i = 0; i < n_commands; i++) {
		buf_printf(&b, ".SS %s\n%s\n", commands[i]->name, commands[i]->description);
		opt_man(commands[i]->opts, &b);
	}
	buf_puts(&b, ".SH EXIT STATUS\n0 success; 1 failure; 2 usage; 3 a hash, signature or key "
		     "cannot be trusted; 130 stopped by a signal.\n");
	print(&b);
}

static const struct cmd *find(const char *name)
{
	for (size_t i = 0; i < n_commands; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* Edits that make b of a: insertions, deletions and changes of a byte; names are short. */
static size_t distance(const char *a, const char *b)
{
	size_t row[32];
	size_t m = strlen(b);
	if (m + 1 > ARRAY_SIZE(row))
		return SIZE_MAX;
	for (size_t k = 0; k <= m; k++)
		row[k] = k;
	for (size_t i = 0; a[i]; i++) {
		size_t corner = row[0]++;
		for (size_t k = 0; k < m; k++) {
			size_t best = corner + (a[i] != b[k]);
			corner = row[k + 1];
			best = row[k] + 1 < best ? row[k] + 1 : best;
			row[k + 1] = corner + 1 < best ? corner + 1 : best;
		}
	}
	return row[m];
}

/* The command that was meant, if one is two edits away at most. */
static const char *meant(const char *word)
{
	const char *name = NULL;
	size_t least = 3;
	for (size_t i = 0; i < n_commands; i++) {
		size_t d = distance(word, commands[i]->name);
		if (d < least) {
			least = d;
			name = commands[i]->name;
		}
	}
	return name;
}

static int no_command(char **argv, struct err *err)
{
	const char *name = meant(argv[1]);
	if (name)
		return err_set(
		    err, ERR_USAGE, "no command '%s'; did you mean debkit %s?", argv[1], name);
	return commands_run_other(argv, err);
}

static int help(int argc, char **argv, struct err *err)
{
	const struct cmd *c = argc > 2 ? find(argv[2]) : NULL;
	if (argc > 2 && !c)
		return no_command(argv + 1, err);
	if (c)
		print_help(c);
	else
		print_list();
	return 0;
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

/*
 * Standard files that are closed are opened on /dev/null, in the wrong direction, so that their
 * use still fails: no file opened later may take their place and get what is meant for them.
 */
static void fill_standard_files(void)
{
	static const int modes[] = {O_WRONLY, O_RDONLY, O_RDWR};
	for (int fd = 0; fd < (int)ARRAY_SIZE(modes); fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
			_exit(1);
}

/* Ends as a program does whose reader went away (`debkit plan | head -1`): without a word. */
static void end_with_reader(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	if (poll(&out, 1, 0) != 1 || !(out.revents & POLLERR))
		return;
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
}

/* What was printed must have arrived. */
static int finish_output(struct err *err)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	end_with_reader();
	return err_set(err, ERR_SYSTEM,
	    "cannot write standard output: it is closed, or where it goes is full");
}

static int start(int argc, char **argv, struct err *err)
{
	if (argc < 2)
		return err_set(err, ERR_USAGE, "no command given; see debkit --help");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		print_list();
	else if (!strcmp(argv[1], "help"))
		return help(argc, argv, err);
	else if (!strcmp(argv[1], "--version"))
		puts("debkit " DEBKIT_VERSION);
	else if (!strcmp(argv[1], "--man"))
		print_man();
	else {
		const struct cmd *c = find(argv[1]);
		return c ? run(c, argc - 1, argv + 1, err) : no_command(argv, err);
	}
	return 0;
}

int main(int argc, char **argv)
{
	fill_standard_files();
	setlocale(LC_ALL, "C");
	intr_install();
	/* Whatever is made can be used by its maker. */
	umask(umask(077) & 077);
	struct err err = {0};
	int rc = start(argc, argv, &err);
	log_progress_end();
	/* After a signal, what failed did so because of it. */
	if (rc < 0)
		(void)!intr_check(&err);
	else
		rc = finish_output(&err);
	if (rc == 0)
		return 0;
	log_error(&err);
	return err_exit_status(err.code ? err.code : ERR_SYSTEM);
}
