/* The NVIDIA driver as a container sees it: kernel module, device nodes, libcuda, and the GPUs
 * that libcuda itself names. */
#pragma once
#include "../lib/base/compat.h"
#include "loader.h"
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct probe;

enum gpu_node_state {
	GPU_NODE_GOOD,
	GPU_NODE_ABSENT,
	GPU_NODE_NO_DEVICE, /* a plain file or folder stands in its place */
	GPU_NODE_STALE,	    /* its major number is another device's now */
	GPU_NODE_DENIED,    /* EPERM, EACCES: permissions or a device rule */
	GPU_NODE_DEAD	    /* ENXIO, ENODEV, EIO: no driver answers */
};
struct gpu_node {
	const char *name; /* "/dev/nvidia0" */
	enum gpu_node_state state;
	unsigned major, minor; /* of the node */
	int error;	       /* errno of opening it */
};
#define GPU_NODES_MAX 34

#define GPU_NAME_MAX	96
#define GPU_DEVICES_MAX 16
enum gpu_stage {
	GPU_OPENED,
	GPU_NO_LIBRARY,
	GPU_NO_SYMBOL,
	GPU_INIT,
	GPU_COUNT,
	GPU_DEVICE,
	GPU_DIED,
	GPU_HUNG
};
struct gpu_device {
	char name[GPU_NAME_MAX];
	int major, minor; /* compute capability */
};
/* What libcuda said: the stage is GPU_OPENED when it said everything. */
struct gpu_answer {
	enum gpu_stage stage;
	int code;	 /* CUresult of the call that failed, signal of a death */
	char error[160]; /* its name, or the loader's words */
	int driver;	 /* 12080: the newest CUDA it can run */
	int n;
	struct gpu_device v[GPU_DEVICES_MAX];
};

struct gpu {
	const char *kernel;	 /* version of the loaded kernel module, or NULL */
	const char *proc_broken; /* /proc/driver/nvidia/version is there and says no version */
	bool wsl;		 /* /dev/dxg: Windows has the driver */
	struct gpu_node nodes[GPU_NODES_MAX];
	size_t n_nodes, n_gpus;	       /* of the nodes, how many are nvidiaN */
	unsigned ctl_major, uvm_major; /* by /proc/devices; 0: not named */
	struct loader_hits libcuda;
	bool libcuda_empty;	     /* the one that would be loaded has no bytes */
	const char *libcuda_version; /* by its name, or NULL */
	struct gpu_answer answer;
};

/* Version in the first line of /proc/driver/nvidia/version, both forms; NULL if there is none. */
const char *gpu_parse_version(struct arena *a, const char *text) _must_check_;
/* The major number of a character device in /proc/devices; 0 if it is not there. */
unsigned gpu_parse_major(const char *devices, const char *name) _must_check_;
/* Fills out; libcuda is asked in a process of its own, for ten seconds at most. */
void gpu_read(struct probe *p, struct gpu *out);
/* Loads the library in a child and asks it; for gpu_read. */
void gpu_ask(const char *library, struct gpu_answer *out);
/* What a CUresult means for a container, or "". */
const char *gpu_error_hint(int code) _must_check_;
