/* Starts tests/data/liar.py, the index that lies on demand, for as long as the test runs. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/base/buf.h"
#include "../../lib/base/err.h"
#include "../../lib/base/path.h"
#include "../../lib/base/strv.h"
#include "../../lib/base/xalloc.h"

#define LIAR_WHEEL "torch-1.0.0-cp311-cp311-manylinux_2_28_x86_64.whl"

struct liar {
	pid_t pid;
	int talk;	 /* closing it ends the server */
	char top[64];	 /* "http://127.0.0.1:PORT" */
	char record[65]; /* RECORD's hash of the honest wheel, as Python sees it */
	char work[64];	 /* a folder of our own */
	unsigned n;	 /* addresses made so far */
};

static inline void liar_start(struct liar *l)
{
	int in[2], out[2];
	char line[160] = "";
	unsigned port;
	/* The machine's own settings must not take part. */
	setenv("no_proxy", "*", 1);
	if (pipe(in) < 0 || pipe(out) < 0 || (l->pid = fork()) < 0)
		abort();
	if (l->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[0]), close(in[1]), close(out[0]), close(out[1]);
		execlp("python3", "python3", "-B", "tests/data/liar.py", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	l->talk = in[1];
	FILE *f = fdopen(out[0], "r");
	if (!f || !fgets(line, sizeof line, f) || sscanf(line, "%u %64s", &port, l->record) != 2) {
		fprintf(stderr, "tests/data/liar.py did not start\n");
		abort();
	}
	fclose(f);
	snprintf(l->top, sizeof l->top, "http://127.0.0.1:%u", port);
	snprintf(l->work, sizeof l->work, "/tmp/debkit-liar.XXXXXX");
	if (!mkdtemp(l->work))
		abort();
}

static inline void liar_stop(struct liar *l)
{
	struct err err = {0};
	close(l->talk);
	waitpid(l->pid, NULL, 0);
	if (path_remove_tree(l->work, &err) < 0)
		fprintf(stderr, "%s\n", err.msg);
}

/* "http://127.0.0.1:PORT/MODE.N": a fresh memory of that mode. Owned by the caller. */
static inline char *liar_address(struct liar *l, const char *mode)
{
	return xasprintf("%s/%s.%u", l->top, mode, ++l->n);
}

/* Replaces what differs from run to run: the address and the folder. */
static inline char *liar_neutral(const struct liar *l, const char *base, const char *text)
{
	const char *const from[] = {base, l->work}, *const to[] = {"URL", "WORK"};
	struct buf b = BUF_INIT(1 << 16);
	for (const char *p = text; *p;) {
		size_t i = 0;
		while (i < 2 && !(from[i] && str_starts(p, from[i])))
			i++;
		if (i < 2) {
			buf_puts(&b, to[i]);
			p += strlen(from[i]);
		} else {
			buf_putc(&b, *p++);
		}
	}
	return buf_take(&b);
}

/* The SHA-256 of RECORD of a kind of wheel, as Python sees it, into hex. */
static inline void liar_record(const char *kind, char hex[65])
{
	_free_ char *command = xasprintf("python3 -B tests/data/wheels.py %s /dev/null", kind);
	FILE *f = popen(command, "r");
	char line[80];
	if (!f || !fgets(line, sizeof line, f) || pclose(f) != 0 || strlen(line) != 65)
		abort();
	memcpy(hex, line, 64);
}

/* What is expected may end in "...": libraries' words differ between versions. */
static inline int liar_says(const char *got, const char *want)
{
	size_t n = strlen(want);
	return str_ends(want, "...") ? !strncmp(got, want, n - 3) : !strcmp(got, want);
}
