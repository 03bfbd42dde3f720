/* libcuda is a stranger: it may be damaged, of another driver, or wait for a device for ever. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../lib/base/clock.h"
#include "gpu.h"

#define WAIT_MS 10000
/* CUdevice_attribute */
enum { ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76 };

struct calls {
	int (*init)(unsigned);
	int (*version)(int *);
	int (*count)(int *);
	int (*get)(int *, int);
	int (*name)(char *, int, int);
	int (*attribute)(int *, int, int);
	int (*error_name)(int, const char **);
};

static bool find_calls(void *lib, struct calls *c)
{
	const struct {
		const char *name;
		void **to;
	} v[] = {{"cuInit", (void **)&c->init}, {"cuDriverGetVersion", (void **)&c->version},
	    {"cuDeviceGetCount", (void **)&c->count}, {"cuDeviceGet", (void **)&c->get},
	    {"cuDeviceGetName", (void **)&c->name},
	    {"cuDeviceGetAttribute", (void **)&c->attribute}};
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		if (!(*v[i].to = dlsym(lib, v[i].name)))
			return false;
	*(void **)&c->error_name = dlsym(lib, "cuGetErrorName");
	return true;
}

static bool failed(const struct calls *c, struct gpu_answer *a, enum gpu_stage stage, int code)
{
	const char *name = NULL;
	if (!code)
		return false;
	a->stage = stage;
	a->code = code;
	if (c->error_name && c->error_name(code, &name) == 0 && name)
		snprintf(a->error, sizeof a->error, "%s", name);
	else
		snprintf(a->error, sizeof a->error, "error %d", code);
	return true;
}

static void ask_device(const struct calls *c, struct gpu_answer *a, int i)
{
	struct gpu_device *d = &a->v[i];
	int handle = 0;
	if (failed(c, a, GPU_DEVICE, c->get(&handle, i)) ||
	    failed(c, a, GPU_DEVICE, c->name(d->name, sizeof d->name, handle)) ||
	    failed(c, a, GPU_DEVICE, c->attribute(&d->major, ATTRIBUTE_MAJOR, handle)) ||
	    failed(c, a, GPU_DEVICE, c->attribute(&d->minor, ATTRIBUTE_MINOR, handle)))
		return;
	d->name[sizeof d->name - 1] = '\0';
	a->n = i + 1;
}

static void ask(const char *library, struct gpu_answer *a)
{
	struct calls c = {0};
	void *lib = dlopen(library, RTLD_NOW);
	int n = 0;
	if (!lib) {
		const char *why = dlerror();
		a->stage = GPU_NO_LIBRARY;
		snprintf(a->error, sizeof a->error, "%s", why ? why : "");
		return;
	}
	if (!find_calls(lib, &c)) {
		a->stage = GPU_NO_SYMBOL;
		return;
	}
	if (failed(&c, a, GPU_INIT, c.init(0)) || failed(&c, a, GPU_INIT, c.version(&a->driver)) ||
	    failed(&c, a, GPU_COUNT, c.count(&n)))
		return;
	for (int i = 0; i < n && i < GPU_DEVICES_MAX && a->stage == GPU_OPENED; i++)
		ask_device(&c, a, i);
}

static _noreturn_ void run_child(const char *library, int fd)
{
	struct gpu_answer a = {.stage = GPU_OPENED};
	int null = open("/dev/null", O_RDWR);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	ask(library, &a);
	for (size_t at = 0; at < sizeof a;) {
		ssize_t n = write(fd, (const char *)&a + at, sizeof a - at);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	_exit(0);
}

/* True when all came before the time was over. */
static bool receive(int fd, struct gpu_answer *out, bool *hung)
{
	double end = clock_monotonic() + WAIT_MS / 1000.0;
	size_t at = 0;
	while (at < sizeof *out) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int left = (int)((end - clock_monotonic()) * 1000);
		int rc = left > 0 ? poll(&p, 1, left) : 0;
		if (rc < 0 && errno == EINTR)
			continue;
		*hung = rc == 0;
		ssize_t n = rc > 0 ? read(fd, (char *)out + at, sizeof *out - at) : 0;
		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

static void no_answer(struct gpu_answer *out, enum gpu_stage stage, int code, const char *what)
{
	*out = (struct gpu_answer){.stage = stage, .code = code};
	snprintf(out->error, sizeof out->error, "%s", what);
}

void gpu_ask(const char *library, struct gpu_answer *out)
{
	int fds[2], status = 0;
	bool hung = false;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		no_answer(out, GPU_DIED, 0, strerror(errno));
		return;
	}
	pid_t pid = fork();
	if (pid == 0)
		run_child(library, fds[1]);
	close(fds[1]);
	_close_ int in = fds[0];
	if (pid < 0) {
		no_answer(out, GPU_DIED, 0, strerror(errno));
		return;
	}
	bool whole = receive(in, out, &hung);
	if (!whole)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (hung)
		no_answer(out, GPU_HUNG, 0, "no answer for ten seconds");
	else if (!whole)
		no_answer(out, GPU_DIED, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		    WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended the process");
}

const char *gpu_error_hint(int code)
{
	static const struct {
		int code;
		const char *hint;
	} v[] = {{3, "the driver cannot be reached"},
	    {34, "this libcuda is the empty stub of a CUDA toolkit, not a driver's"},
	    {46, "another process has the GPU for itself"},
	    {100, "no GPU is handed to this container"},
	    {101, "the GPU that was asked for is not there"},
	    {802, "the NVSwitch fabric is not up yet: see nvidia-fabricmanager on the host"},
	    {803, "libcuda and the kernel module are of different drivers"},
	    {804, "the forward-compatibility libcuda does not support this GPU"},
	    {999, "most often /dev/nvidia-uvm is missing or denied"}};
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		if (v[i].code == code)
			return v[i].hint;
	return "";
}
