/*
 * The command table. Each command is one file that defines one `const struct cmd`; commands.c
 * lists them. Help and the man page are made from the same table as the parser.
 *
 *	static bool dry_run;
 *	static const struct opt opts[] = {
 *		{"dry-run", 'n', OPT_FLAG, NULL, "only say what would be done", &dry_run}, {NULL}};
 *	static int run(const struct strv *operands, struct err *err) { ... }
 *	const struct cmd cmd_example = {"example", "does one thing", "FILE...", "What it ...",
 *		opts, 1, SIZE_MAX, run};
 */
#pragma once
#include "../lib/base/compat.h"
#include "../lib/base/opt.h"
#include "../lib/base/strv.h"
#include <stdint.h>

struct err;

struct cmd {
	const char *name;
	const char *summary;	 /* one phrase for the list of commands */
	const char *operands;	 /* "FILE...", or "" */
	const char *description; /* sentences for --help and the man page */
	const struct opt *opts;
	size_t min_operands, max_operands;
	/* Runs with parsed options. Returns 0, or -1 with err set; main prints it and chooses the
	 * exit status. A command that only found something wrong in its data sets err too. */
	int (*run)(const struct strv *operands, struct err *err);
};

extern const struct cmd cmd_abi;
extern const struct cmd cmd_build;
extern const struct cmd cmd_bundle;
extern const struct cmd cmd_copy;
extern const struct cmd cmd_device;
extern const struct cmd cmd_diff;
extern const struct cmd cmd_disable;
extern const struct cmd cmd_doctor;
extern const struct cmd cmd_enable;
extern const struct cmd cmd_gc;
extern const struct cmd cmd_inspect;
extern const struct cmd cmd_keys;
extern const struct cmd cmd_list;
extern const struct cmd cmd_lock;
extern const struct cmd cmd_matrix;
extern const struct cmd cmd_plan;
extern const struct cmd cmd_publish;
extern const struct cmd cmd_push;
extern const struct cmd cmd_rebuild;
extern const struct cmd cmd_refresh;
extern const struct cmd cmd_remove;
extern const struct cmd cmd_serve;
extern const struct cmd cmd_sign;
extern const struct cmd cmd_site;
extern const struct cmd cmd_snapshot;
extern const struct cmd cmd_status;
extern const struct cmd cmd_step;
extern const struct cmd cmd_toolchain;
extern const struct cmd cmd_verify;
extern const struct cmd cmd_why;
extern const struct cmd cmd_withdraw;
