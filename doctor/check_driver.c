/* The driver that a container was handed: module, nodes, libcuda; each with the line for its host.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"
#include "probe.h"

#define NVIDIA_RUN "https://download.nvidia.com/XFree86/Linux-" PROBE_MACHINE "/"
#if defined(__aarch64__)
#define PROBE_MACHINE "aarch64"
#else
#define PROBE_MACHINE "x86_64"
#endif

static bool is_container(const struct machine *m, const char *name)
{
	return m->os.container && !strcmp(m->os.container, name);
}

/* Hands the devices to this container; Proxmox knows it by number, found by its name. */
static void type_hand_over(struct machine *m, struct findings *out)
{
	char host[256] = "";
	if (is_container(m, "LXC")) {
		gethostname(host, sizeof host - 1);
		finding_type(out, FINDING_HOST,
		    "nvidia-modprobe -u -c=0; CT=$(pct list | awk '$NF == \"%s\" { print $1 }'); "
		    "pct set $CT -dev0 /dev/nvidia0 -dev1 /dev/nvidiactl -dev2 /dev/nvidia-uvm && "
		    "pct reboot $CT",
		    host);
	} else if (is_container(m, "Docker")) {
		finding_type(out, FINDING_HOST,
		    "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE");
	} else if (is_container(m, "Podman")) {
		finding_type(out, FINDING_HOST, "podman run --device nvidia.com/gpu=all IMAGE");
	} else {
		finding_type(out, FINDING_HERE, "%snvidia-modprobe -u -c=0", m->sudo);
	}
}

/* The libraries of the driver's own version, without its kernel module. */
static void type_libraries(struct machine *m, struct findings *out)
{
	const char *v = m->gpu.kernel;
	if (is_container(m, "Docker") || is_container(m, "Podman") || !v)
		type_hand_over(m, out);
	else
		finding_type(out, FINDING_HERE,
		    "/usr/lib/apt/apt-helper download-file " NVIDIA_RUN
		    "%s/NVIDIA-Linux-" PROBE_MACHINE "-%s.run /tmp/nvidia.run && %ssh "
		    "/tmp/nvidia.run --silent --no-kernel-module",
		    v, v, m->sudo);
}

static void check_module(struct machine *m, struct findings *out)
{
	const struct gpu *g = &m->gpu;
	static const char name[] = "/proc/driver/nvidia/version";
	if (g->kernel) {
		finding_add(
		    out, FINDING_GOOD, "driver.module", name, "NVIDIA driver %s", g->kernel);
	} else if (g->proc_broken) {
		finding_add(out, FINDING_WARNING, "driver.module", name,
		    "the driver's version cannot be read from '%s': %s", name, g->proc_broken);
	} else {
		finding_add(out, FINDING_BAD, "driver.module", name,
		    "there is no '%s': the kernel has no NVIDIA driver, or hides it from this "
		    "container",
		    name);
		if (m->os.container)
			finding_type(out, FINDING_HOST, "modprobe nvidia && nvidia-smi -L");
		else
			finding_type(out, FINDING_HERE, "%smodprobe nvidia", m->sudo);
	}
}

static const char *node_words(struct machine *m, const struct gpu_node *n)
{
	switch (n->state) {
	case GPU_NODE_ABSENT:
		return arena_printf(m->p->a, "%s is missing", n->name);
	case GPU_NODE_NO_DEVICE:
		return arena_printf(m->p->a,
		    "%s is a plain file and no device: a bind mount "
		    "made it before the driver was loaded",
		    n->name);
	case GPU_NODE_STALE:
		return arena_printf(m->p->a,
		    "%s has the number %u:%u, and the driver has another now (%u), as after the "
		    "host's restart",
		    n->name, n->major, n->minor,
		    strstr(n->name, "uvm") ? m->gpu.uvm_major : m->gpu.ctl_major);
	case GPU_NODE_DENIED:
		return arena_printf(m->p->a, "%s (%u:%u) may not be opened: %s", n->name, n->major,
		    n->minor, strerror(n->error));
	default:
		return arena_printf(
		    m->p->a, "no driver answers on %s: %s", n->name, strerror(n->error));
	}
}

static void check_nodes(struct machine *m, struct findings *out)
{
	const struct gpu *g = &m->gpu;
	bool bad = !g->n_gpus;
	if (!g->n_gpus) {
		finding_add(out, FINDING_BAD, "driver.node", "/dev",
		    "/dev/nvidia0 is missing: no GPU is handed to this container");
		type_hand_over(m, out);
	}
	for (size_t i = 0; i < g->n_nodes; i++) {
		if (g->nodes[i].state == GPU_NODE_GOOD)
			continue;
		bad = true;
		finding_add(out, FINDING_BAD, "driver.node", g->nodes[i].name, "%s",
		    node_words(m, &g->nodes[i]));
		type_hand_over(m, out);
	}
	if (!bad)
		finding_add(out, FINDING_GOOD, "driver.node", "/dev",
		    "%zu GPU node%s, nvidiactl and nvidia-uvm can be opened", g->n_gpus,
		    g->n_gpus > 1 ? "s" : "");
}

static void type_path(struct machine *m, struct findings *out)
{
	if (m->gpu.libcuda.v[0].via == LOADER_ENV)
		finding_type(out, FINDING_HERE, "unset LD_LIBRARY_PATH");
	else
		type_libraries(m, out);
}

/* True if there is a library that may be believed as far as its file goes. */
static bool check_library(struct machine *m, struct findings *out)
{
	const struct gpu *g = &m->gpu;
	const struct loader_hit *hit = g->libcuda.n ? &g->libcuda.v[0] : NULL;
	if (!hit) {
		finding_add(out, FINDING_BAD, "driver.libcuda", "the loader's folders",
		    "the dynamic loader finds no libcuda.so.1%s%s",
		    g->kernel ? ": the driver's libraries are not in this container, and must be "
				"of version "
			      : "",
		    g->kernel ? g->kernel : "");
		type_libraries(m, out);
		return false;
	}
	if (g->libcuda_empty) {
		finding_add(out, FINDING_BAD, "driver.libcuda", hit->path,
		    "'%s' has no bytes: a bind mount of a file that the host no longer has, as "
		    "after a driver upgrade",
		    hit->path);
		type_path(m, out);
		return false;
	}
	bool compat = strstr(hit->real, "/compat/") != NULL;
	if (g->kernel && g->libcuda_version && !compat &&
	    probe_compare(g->kernel, g->libcuda_version) != 0) {
		finding_add(out, FINDING_BAD, "driver.libcuda", hit->real,
		    "'%s' is of driver %s, the kernel module of %s: they must be the same",
		    hit->path, g->libcuda_version, g->kernel);
		type_path(m, out);
		return false;
	}
	return true;
}

static void check_answer(struct machine *m, struct findings *out)
{
	const struct gpu_answer *a = &m->gpu.answer;
	const char *path = m->gpu.libcuda.v[0].path;
	const char *hint = a->stage == GPU_OPENED ? "" : gpu_error_hint(a->code);
	static const char *const calls[] = {[GPU_NO_LIBRARY] = "cannot be loaded",
	    [GPU_NO_SYMBOL] = "lacks the driver's functions: it is no libcuda",
	    [GPU_INIT] = "cuInit fails",
	    [GPU_COUNT] = "cuDeviceGetCount fails",
	    [GPU_DEVICE] = "a GPU cannot be asked",
	    [GPU_DIED] = "the process that asked it died",
	    [GPU_HUNG] = "it gives no answer"};
	if (a->stage == GPU_OPENED && a->n > 0)
		finding_add(out, FINDING_GOOD, "driver.libcuda", path, "'%s' runs CUDA up to %d.%d",
		    path, a->driver / 1000, a->driver % 1000 / 10);
	else if (a->stage == GPU_OPENED)
		finding_add(
		    out, FINDING_BAD, "driver.answer", path, "libcuda says that there is no GPU");
	else
		finding_add(out, FINDING_BAD, "driver.answer", path, "'%s': %s%s%s%s%s", path,
		    calls[a->stage], *a->error ? ": " : "", a->error, *hint ? ", that is, " : "",
		    hint);
	if (a->stage != GPU_OPENED || a->n <= 0) {
		if (m->gpu.libcuda.v[0].via == LOADER_ENV || a->stage == GPU_NO_LIBRARY ||
		    a->stage == GPU_NO_SYMBOL || a->stage == GPU_DIED)
			type_path(m, out);
		else
			type_hand_over(m, out);
	}
}

/* The driver against the CUDA that a torch is built for. */
static void check_floor(struct machine *m, const struct pyenv *e, struct findings *out)
{
	const char *cuda = e->torch.cuda, *floor = machine_driver_floor(cuda);
	const char *kernel = m->gpu.kernel;
	if (!floor || !kernel || probe_compare(kernel, floor) >= 0)
		return;
	finding_add(out, FINDING_BAD, "driver.floor", "/proc/driver/nvidia/version",
	    "driver %s is too old for CUDA %s of torch %s, which needs %s or newer", kernel, cuda,
	    e->torch.version, floor);
	const char *minor = probe_minor(m->p->a, e->torch.version);
	if (str_starts(cuda, "13.") && probe_compare(kernel, machine_driver_floor("12.8")) >= 0)
		finding_type(out, FINDING_HERE, "%s",
		    machine_pip_torch(
			m, e, probe_compare(minor, "2.11") <= 0 ? minor : "2.11", "12.8"));
	else
		finding_type(out, FINDING_HOST, "apt-get install -y nvidia-open && reboot");
}

void check_driver(struct machine *m, struct pyenv *const *envs, size_t n, struct findings *out)
{
	bool works = m->gpu.answer.stage == GPU_OPENED && m->gpu.answer.n > 0;
	if (!m->gpu.wsl) {
		check_module(m, out);
		if (m->gpu.kernel || works)
			check_nodes(m, out);
	}
	if ((m->gpu.kernel || m->gpu.libcuda.n || m->gpu.wsl) && check_library(m, out))
		check_answer(m, out);
	for (size_t i = 0; i < n; i++)
		if (envs[i]->torch.cuda)
			check_floor(m, envs[i], out);
}

static void check_torch_arch(
    struct machine *m, const struct pyenv *e, const struct gpu_device *d, struct findings *out)
{
	const char *archs = machine_torch_archs(m, e->torch.cuda);
	if (!*archs || machine_arch_runs(archs, d->major, d->minor))
		return;
	finding_add(out, FINDING_BAD, "gpu.torch", "templates/archs",
	    "torch %s for CUDA %s has no code for compute capability %d.%d (it has %s): 'no kernel "
	    "image is available'",
	    e->torch.version, e->torch.cuda, d->major, d->minor, archs);
	const char *minor = probe_minor(m->p->a, e->torch.version);
	if (strcmp(e->torch.cuda, "12.8") != 0 &&
	    machine_arch_runs(machine_torch_archs(m, "12.8"), d->major, d->minor))
		finding_type(out, FINDING_HERE, "%s",
		    machine_pip_torch(
			m, e, probe_compare(minor, "2.11") <= 0 ? minor : "2.11", "12.8"));
}

static void check_deb_arch(
    struct machine *m, const struct pyenv *e, const struct gpu_device *d, struct findings *out)
{
	const char *name =
	    arena_printf(m->p->a, "python3-causal-conv1d-%s", machine_flavour(m, e->torch.cuda));
	const struct deb_pkg *have = debs_installed(&m->debs, name);
	const struct deb_pkg *offer = debs_candidate(&m->debs, name);
	const struct deb_pkg *pkg = have ? have : offer;
	const char *archs = pkg ? debs_field(pkg, "Debkit-Cuda-Archs") : "";
	if (!*archs)
		return;
	if (machine_arch_runs(archs, d->major, d->minor)) {
		finding_add(out, FINDING_GOOD, "gpu.package", name, "%s %s has code for it: %s",
		    name, pkg->version, archs);
		return;
	}
	finding_add(out, FINDING_BAD, "gpu.package", name,
	    "%s %s has no code for compute capability %d.%d, only for %s", name, pkg->version,
	    d->major, d->minor, archs);
	if (have && offer &&
	    machine_arch_runs(debs_field(offer, "Debkit-Cuda-Archs"), d->major, d->minor))
		finding_type(out, FINDING_HERE, "%sapt-get install -y %s", m->sudo, name);
	else
		finding_type(out, FINDING_HOST, "debkit build --cuda %s --arch %d.%d",
		    e->torch.cuda, d->major, d->minor);
}

/* Without a kernel for this GPU, FLA's are compiled as ever: slow at the first call, not wrong. */
static void check_fla_arch(
    struct machine *m, const struct pyenv *e, const struct gpu_device *d, struct findings *out)
{
	const char *name = arena_printf(
	    m->p->a, "python3-flash-linear-attention-%s", machine_flavour(m, e->torch.cuda));
	const struct deb_pkg *have = debs_installed(&m->debs, name);
	const char *archs = have ? debs_field(have, "Debkit-Cuda-Archs") : "";
	if (*archs && !machine_arch_runs(archs, d->major, d->minor))
		finding_add(out, FINDING_WARNING, "gpu.fla", name,
		    "%s %s has no kernels for compute capability %d.%d, only for %s: the first "
		    "call "
		    "compiles for minutes",
		    name, have->version, d->major, d->minor, archs);
}

void check_gpu(struct machine *m, struct pyenv *const *envs, size_t n, struct findings *out)
{
	const struct gpu_answer *a = &m->gpu.answer;
	for (int i = 0; i < a->n; i++) {
		const struct gpu_device *d = &a->v[i];
		bool again = false;
		for (int k = 0; k < i; k++)
			again |= a->v[k].major == d->major && a->v[k].minor == d->minor;
		if (d->major <= 0 || d->major > 99 || d->minor < 0 || d->minor > 9) {
			finding_add(out, FINDING_BAD, "gpu.capability", "libcuda",
			    "libcuda says that GPU %d (%s) has compute capability %d.%d: no such "
			    "GPU exists",
			    i, d->name, d->major, d->minor);
			continue;
		}
		finding_add(out, FINDING_GOOD, "gpu.found", "libcuda",
		    "GPU %d: %s, compute capability %d.%d", i, d->name, d->major, d->minor);
		for (size_t k = 0; k < n && !again; k++) {
			if (!envs[k]->torch.cuda)
				continue;
			check_torch_arch(m, envs[k], d, out);
			check_deb_arch(m, envs[k], d, out);
			check_fla_arch(m, envs[k], d, out);
		}
	}
}
