#include "gpu.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "probe.h"

#define TEXT_MAX ((size_t)64 << 10)

/* A word of digits and at least one dot between. */
static bool is_version(const char *s, size_t n)
{
	bool dot = false;
	for (size_t i = 0; i < n; i++) {
		if (!isdigit((unsigned char)s[i]) && (s[i] != '.' || !i || i + 1 == n))
			return false;
		dot |= s[i] == '.';
	}
	return dot;
}

const char *gpu_parse_version(struct arena *a, const char *text)
{
	static const char mark[] = "NVRM version:";
	const char *s = strstr(text, mark);
	if (!s)
		return NULL;
	const char *end = s + strcspn(s, "\n");
	for (s += strlen(mark); s < end; s += strcspn(s, " \t\n")) {
		s += strspn(s, " \t");
		size_t n = strcspn(s, " \t\n");
		if (is_version(s, n) && s < end)
			return arena_strndup(a, s, n);
		if (!n)
			break;
	}
	return NULL;
}

unsigned gpu_parse_major(const char *devices, const char *name)
{
	size_t len = strlen(name);
	for (const char *s = devices; *s; s += strcspn(s, "\n"), s += *s == '\n') {
		char *end;
		unsigned long major = strtoul(s, &end, 10);
		if (str_starts(s, "Block devices"))
			break;
		if (end != s && *end == ' ' && !strncmp(end + 1, name, len) &&
		    (end[1 + len] == '\n' || !end[1 + len]) && major < 4096)
			return (unsigned)major;
	}
	return 0;
}

static enum gpu_node_state state_of_error(int error)
{
	if (error == EPERM || error == EACCES)
		return GPU_NODE_DENIED;
	return GPU_NODE_DEAD;
}

/* The descriptor stays open while libcuda is asked: a GPU is then started once and not twice. */
static int look_at_node(struct probe *p, const char *name, unsigned major, struct gpu *g)
{
	struct stat st;
	if (g->n_nodes == GPU_NODES_MAX)
		return -1;
	struct gpu_node *n = &g->nodes[g->n_nodes++];
	*n = (struct gpu_node){.name = name, .state = GPU_NODE_ABSENT};
	if (!probe_stat(p, name, &st))
		return -1;
	n->state = GPU_NODE_NO_DEVICE;
	if (!S_ISCHR(st.st_mode))
		return -1;
	n->major = major(st.st_rdev);
	n->minor = minor(st.st_rdev);
	n->state = GPU_NODE_STALE;
	if (major && n->major != major)
		return -1;
	int fd = open(probe_path(p, name), O_RDWR | O_CLOEXEC | O_NONBLOCK);
	probe_note(p, name);
	n->error = fd < 0 ? errno : 0;
	n->state = fd < 0 ? state_of_error(n->error) : GPU_NODE_GOOD;
	return fd;
}

static bool is_gpu(const char *name)
{
	static const char prefix[] = "nvidia";
	size_t n = str_starts(name, prefix) ? strspn(name + strlen(prefix), "0123456789") : 0;
	return n && !name[strlen(prefix) + n];
}

static void read_nodes(struct probe *p, struct gpu *g, int fds[GPU_NODES_MAX])
{
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	size_t n = 0;
	(void)!probe_list(p, "/dev", &names);
	for (size_t i = 0; i < names.n && g->n_nodes < GPU_NODES_MAX - 2; i++)
		if (is_gpu(names.v[i]))
			fds[n++] = look_at_node(
			    p, arena_printf(p->a, "/dev/%s", names.v[i]), g->ctl_major, g);
	g->n_gpus = g->n_nodes;
	fds[n++] = look_at_node(p, "/dev/nvidiactl", g->ctl_major, g);
	fds[n] = look_at_node(p, "/dev/nvidia-uvm", g->uvm_major, g);
}

static void read_proc(struct probe *p, struct gpu *g)
{
	static const char name[] = "/proc/driver/nvidia/version";
	const char *text = probe_text(p, name, TEXT_MAX);
	if (text)
		g->kernel = gpu_parse_version(p->a, text);
	if (text && !g->kernel)
		g->proc_broken = "it names no version";
	else if (!text && errno != ENOENT)
		g->proc_broken = strerror(errno);
	const char *devices = probe_text(p, "/proc/devices", TEXT_MAX);
	if (!devices)
		return;
	static const char *const names[] = {"nvidia", "nvidiactl", "nvidia-frontend"};
	for (size_t i = 0; i < ARRAY_SIZE(names) && !g->ctl_major; i++)
		g->ctl_major = gpu_parse_major(devices, names[i]);
	g->uvm_major = gpu_parse_major(devices, "nvidia-uvm");
}

static void read_library(struct probe *p, struct gpu *g)
{
	static const char prefix[] = "libcuda.so.";
	struct stat st;
	loader_search(p, "libcuda.so.1", &g->libcuda);
	if (!g->libcuda.n)
		return;
	const struct loader_hit *first = &g->libcuda.v[0];
	const char *base = strrchr(first->real, '/');
	base = base ? base + 1 : first->real;
	if (str_starts(base, prefix) &&
	    is_version(base + strlen(prefix), strlen(base + strlen(prefix))))
		g->libcuda_version = base + strlen(prefix);
	g->libcuda_empty = probe_stat(p, first->path, &st) && st.st_size == 0;
	probe_note(p, first->path);
}

void gpu_read(struct probe *p, struct gpu *out)
{
	int fds[GPU_NODES_MAX];
	struct stat st;
	*out = (struct gpu){.answer.stage = GPU_NO_LIBRARY};
	for (size_t i = 0; i < GPU_NODES_MAX; i++)
		fds[i] = -1;
	out->wsl = probe_stat(p, "/dev/dxg", &st);
	read_proc(p, out);
	read_nodes(p, out, fds);
	read_library(p, out);
	if (out->libcuda.n && !out->libcuda_empty)
		gpu_ask(probe_path(p, out->libcuda.v[0].path), &out->answer);
	for (size_t i = 0; i < GPU_NODES_MAX; i++)
		close_fd(&fds[i]);
}
