#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "buf.h"
#include "clock.h"
#include "err.h"
#include "intr.h"
#include "path.h"
#include "xalloc.h"

/* What of a child's stderr is kept for messages. */
#define ERR_TEXT_MAX ((size_t)1 << 20)

struct pipes {
	int in[2], out[2], errout[2], fail[2];
};

static void pipes_done(struct pipes *p)
{
	int *all = (int *)p;
	for (size_t i = 0; i < sizeof *p / sizeof *all; i++)
		close_fd(&all[i]);
}

static int pipes_open(struct pipes *p, const struct proc_spec *s)
{
	if (pipe2(p->fail, O_CLOEXEC) < 0)
		return -1;
	if (s->in && pipe2(p->in, O_CLOEXEC) < 0)
		return -1;
	if ((s->out || s->line) && pipe2(p->out, O_CLOEXEC) < 0)
		return -1;
	if (s->errout && s->errout != s->out && pipe2(p->errout, O_CLOEXEC) < 0)
		return -1;
	return 0;
}

static void apply_env(char *const *env)
{
	for (; env && *env; env++) {
		if (strchr(*env, '='))
			putenv(*env);
		else
			unsetenv(*env);
	}
}

static bool leads_group(const struct proc_spec *s)
{
	return s->group || s->timeout_s;
}

void proc_end_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
}

static void child(
    const struct proc_spec *s, const struct pipes *p, const char *program, pid_t parent)
{
	proc_end_with_parent();
	if (getppid() != parent)
		_exit(127);
	if (leads_group(s)) {
		setpgid(0, 0);
		signal(SIGINT, SIG_DFL); /* pass_on must reach it where a shell's & ignored it */
	}
	int in = s->in ? p->in[0] : open("/dev/null", O_RDONLY | O_CLOEXEC);
	bool ok = in >= 0 && dup2(in, 0) >= 0;
	if (s->out || s->line)
		ok = ok && dup2(p->out[1], 1) >= 0;
	else if (s->out_to_stderr)
		ok = ok && dup2(2, 1) >= 0;
	if (s->errout)
		ok = ok && dup2(s->errout == s->out ? p->out[1] : p->errout[1], 2) >= 0;
	if (ok && s->dir)
		ok = chdir(s->dir) == 0;
	if (ok) {
		signal(SIGPIPE, SIG_DFL);
		apply_env(s->env);
		execv(program, s->argv);
	}
	int e = errno;
	ssize_t ignored = write(p->fail[1], &e, sizeof e);
	(void)ignored;
	_exit(127);
}

/* A line longer than this is handed on in pieces. */
#define LINE_LEN_MAX ((size_t)64 << 10)

/* Hands complete lines in b to the callback and keeps the rest; at the end, the rest too. */
static void give_lines(const struct proc_spec *s, struct buf *b, bool at_end)
{
	size_t start = 0;
	for (;;) {
		char *from = b->data ? b->data + start : NULL;
		char *nl = from ? memchr(from, '\n', b->len - start) : NULL;
		if (!nl)
			break;
		*nl = '\0';
		s->line(s->arg, from);
		start = (size_t)(nl - b->data) + 1;
	}
	size_t rest = b->len - start;
	if (rest && (at_end || rest >= LINE_LEN_MAX)) {
		s->line(s->arg, b->data + start);
		rest = 0;
	}
	if (rest)
		memmove(b->data, b->data + (b->len - rest), rest);
	buf_truncate(b, rest);
}

static void pump_in(const struct proc_spec *s, int *fd, size_t *done)
{
	size_t left = s->in_len - *done;
	ssize_t n = write(*fd, (const char *)s->in + *done, left < 65536 ? left : 65536);
	if (n > 0)
		*done += (size_t)n;
	if ((n < 0 && errno != EINTR && errno != EAGAIN) || *done == s->in_len)
		close(take_fd(fd));
}

static void pump_out(int *fd, struct buf *to)
{
	char block[65536 / 2];
	ssize_t n = read(*fd, block, sizeof block);
	if (n > 0)
		buf_append(to, block, (size_t)n);
	else if (n == 0 || errno != EINTR)
		close(take_fd(fd));
}

/* A program at work. */
struct run {
	const struct proc_spec *spec;
	pid_t pid;
	int pidfd;	/* or -1, of an old kernel */
	bool passed_on; /* the signal that intr.h noted */
	bool killed;	/* it did not end in time */
	double ticked;
	double deadline; /* or 0 */
};

/* So long a group may take to end after a signal. */
#define GRACE_S 3.0

static void pass_on(struct run *r, double now)
{
	bool group = leads_group(r->spec);
	r->passed_on = kill(group ? -r->pid : r->pid, SIGINT) == 0;
	if (group && (!r->deadline || r->deadline > now + GRACE_S))
		r->deadline = now + GRACE_S;
}

/* What is due whenever a wait ends; a wait lasts a second at most, so none is missed. */
static void look_around(struct run *r)
{
	double now = clock_monotonic();
	bool stop = r->spec->stop && *r->spec->stop;
	if (((intr_pending() && !r->spec->tidy) || stop) && !r->passed_on)
		pass_on(r, now);
	if (r->deadline && now >= r->deadline && !r->killed)
		r->killed = kill(-r->pid, SIGKILL) == 0;
	if (r->spec->tick && now - r->ticked >= 1) {
		r->spec->tick(r->spec->arg);
		r->ticked = now;
	}
}

static bool any_open(const struct pipes *p)
{
	return p->in[1] >= 0 || p->out[0] >= 0 || p->errout[0] >= 0;
}

/*
 * Feeds the input and collects the output until all pipes are closed, or the program has ended and
 * what it wrote is read: what it started may hold a pipe open for long.
 */
static void pump(struct run *r, struct pipes *p)
{
	_cleanup_(buf_done) struct buf lines = BUF_INIT(LINE_LEN_MAX * 2);
	const struct proc_spec *s = r->spec;
	struct buf *out = s->out ? s->out : &lines;
	size_t fed = 0;
	bool ended = false;
	/* A pipe that has room for a byte would else block a write of more, while what the program
	 * writes is not read. */
	if (s->in)
		fcntl(p->in[1], F_SETFL, O_NONBLOCK);
	if (s->in && !s->in_len)
		close(take_fd(&p->in[1]));
	while (!r->killed && any_open(p)) {
		struct pollfd pf[] = {{.fd = p->in[1], .events = POLLOUT},
		    {.fd = p->out[0], .events = POLLIN}, {.fd = p->errout[0], .events = POLLIN},
		    {.fd = ended ? -1 : r->pidfd, .events = POLLIN}};
		int n = poll(pf, ARRAY_SIZE(pf), ended ? 0 : 1000);
		look_around(r);
		if (n == 0 && ended)
			break;
		if (n <= 0)
			continue;
		ended |= pf[3].revents != 0;
		if (p->in[1] >= 0 && pf[0].revents)
			pump_in(s, &p->in[1], &fed);
		if (p->out[0] >= 0 && pf[1].revents)
			pump_out(&p->out[0], out);
		if (p->errout[0] >= 0 && pf[2].revents)
			pump_out(&p->errout[0], s->errout);
		if (!s->out && s->line)
			give_lines(s, &lines, p->out[0] < 0);
	}
	if (!s->out && s->line)
		give_lines(s, &lines, true);
}

static int reap(struct run *r, struct proc_result *res, struct err *err)
{
	struct rusage ru;
	int status;
	for (struct pollfd pf = {.fd = r->pidfd, .events = POLLIN};
	     r->pidfd >= 0 && poll(&pf, 1, 1000) <= 0;)
		look_around(r);
	while (wait4(r->pid, &status, 0, &ru) < 0) {
		if (errno != EINTR)
			return err_sys(err, "cannot wait for a program");
		look_around(r);
	}
	res->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	res->cpu_s = (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
		     (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
	res->max_rss = (uint64_t)ru.ru_maxrss * 1024;
	return 0;
}

int proc_run(const struct proc_spec *s, struct proc_result *res, struct err *err)
{
	const char *name = s->argv[0];
	_free_ char *program = path_find_program(name, NULL);
	if (!program)
		return err_set(err, ERR_TOOL, "program '%s' not found in PATH", name);
	_cleanup_(pipes_done) struct pipes p = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
	if (pipes_open(&p, s) < 0)
		return err_sys(err, "cannot start '%s'", name);
	pid_t parent = getpid(), pid = fork();
	if (pid < 0)
		return err_sys(err, "cannot start '%s'", name);
	if (pid == 0)
		child(s, &p, program, parent);
	close_fd(&p.in[0]);
	close_fd(&p.out[1]);
	close_fd(&p.errout[1]);
	close_fd(&p.fail[1]);
	p.in[0] = p.out[1] = p.errout[1] = p.fail[1] = -1;
	int child_errno = 0;
	ssize_t n;
	while ((n = read(p.fail[0], &child_errno, sizeof child_errno)) < 0 && errno == EINTR)
		;
	double now = clock_monotonic();
	_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct run r = {.spec = s,
	    .pid = pid,
	    .pidfd = pidfd,
	    .ticked = now,
	    .deadline = s->timeout_s ? now + s->timeout_s : 0};
	if (n == 0)
		pump(&r, &p);
	if (reap(&r, res, err) < 0)
		return -1;
	if (r.killed)
		return intr_check(err) < 0
			   ? -1
			   : err_set(err, ERR_TOOL, "'%s' did not end within %u seconds: it hangs",
				 program, s->timeout_s);
	if (n > 0) {
		errno = child_errno;
		err_sys(err, "cannot start '%s'", program);
		if (err)
			err->code = ERR_TOOL;
		return -1;
	}
	return 0;
}

/* The last line of text that is not empty, cut to what fits a message. */
static char *last_line(const char *text)
{
	size_t end = strlen(text);
	while (end && (text[end - 1] == '\n' || text[end - 1] == ' '))
		end--;
	size_t start = end;
	while (start && text[start - 1] != '\n')
		start--;
	return xstrndup(text + start, end - start < 500 ? end - start : 500);
}

int proc_check(const struct proc_spec *spec, struct err *err)
{
	_cleanup_(buf_done) struct buf own = BUF_INIT(ERR_TEXT_MAX);
	struct proc_spec s = *spec;
	if (!s.errout)
		s.errout = &own;
	struct proc_result res;
	if (proc_run(&s, &res, err) < 0)
		return -1;
	if (res.status == 0)
		return 0;
	_free_ char *line = last_line(buf_str(s.errout));
	return err_set(err, ERR_TOOL, "'%s' failed with status %d: %s", s.argv[0], res.status,
	    *line ? line : "it said nothing");
}

int proc_capture(char *const *argv, struct buf *out, struct err *err)
{
	_free_ char *what = xasprintf("what '%s' wrote", argv[0]);
	if (proc_check(&(struct proc_spec){.argv = argv, .out = out}, err) < 0)
		return -1;
	return buf_check(out, what, err);
}
