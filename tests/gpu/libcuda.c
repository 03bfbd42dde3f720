/*
 * libcuda.so.1 as a test double of the documented driver API: no header of CUDA is needed. Device
 * memory is host memory. A module must be a cubin for the GPU's own arch and hold the kernel that
 * is asked for, as on a real GPU; a launch is logged and computes nothing. See stub.h.
 */
#include "stub.h"
#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>

enum { /* CUresult */
	OK = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NO_DEVICE = 100,
	INVALID_DEVICE = 101,
	INVALID_IMAGE = 200,
	NO_BINARY_FOR_GPU = 209,
	NOT_FOUND = 500,
};

enum { /* CUdevice_attribute */
	MAX_THREADS_PER_BLOCK = 1,
	MAX_SHARED_MEMORY = 8,
	WARP_SIZE = 10,
	MAX_REGISTERS = 12,
	CLOCK_RATE = 13,
	MULTIPROCESSORS = 16,
	MEMORY_CLOCK_RATE = 36,
	MEMORY_BUS_WIDTH = 37,
	CC_MAJOR = 75,
	CC_MINOR = 76,
	MAX_SHARED_MEMORY_OPTIN = 97,
};

enum { EM_CUDA_MACHINE = 190 };

struct launch { /* the head of CUlaunchConfig */
	unsigned grid[3], block[3], shared;
};

struct module {
	size_t size;
	char image[];
};

struct function {
	char *name;
};

static void *current;
static char context;

int cuInit(unsigned flags)
{
	return stub_int("STUB_GPU_INIT", OK);
}

int cuDriverGetVersion(int *version)
{
	*version = stub_int("STUB_GPU_DRIVER", 12080);
	return OK;
}

int cuDeviceGetCount(int *count)
{
	*count = stub_int("STUB_GPU_COUNT", 1);
	return OK;
}

int cuDeviceGet(int *device, int ordinal)
{
	int count = stub_int("STUB_GPU_COUNT", 1);
	if (ordinal < 0 || ordinal >= count)
		return count ? INVALID_DEVICE : NO_DEVICE;
	*device = ordinal;
	return OK;
}

int cuDeviceGetName(char *name, int size, int device)
{
	snprintf(name, (size_t)size, "%s", stub_name());
	return OK;
}

int cuDeviceGetUuid_v2(void *uuid, int device)
{
	memset(uuid, device + 1, 16);
	return OK;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	*bytes = stub_memory();
	return OK;
}

int cuMemGetInfo_v2(size_t *available, size_t *total)
{
	*total = stub_memory();
	*available = *total - ((size_t)1 << 29);
	return OK;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	switch (attribute) {
	case CC_MAJOR:
		*value = stub_cc() / 10;
		break;
	case CC_MINOR:
		*value = stub_cc() % 10;
		break;
	case MAX_SHARED_MEMORY_OPTIN:
		*value = stub_shared();
		break;
	case MAX_SHARED_MEMORY:
		*value = 49152;
		break;
	case MULTIPROCESSORS:
		*value = stub_int("STUB_GPU_SMS", 132);
		break;
	case WARP_SIZE:
		*value = 32;
		break;
	case MAX_REGISTERS:
		*value = 65536;
		break;
	case MAX_THREADS_PER_BLOCK:
		*value = 1024;
		break;
	case CLOCK_RATE:
	case MEMORY_CLOCK_RATE:
		*value = 1500000;
		break;
	case MEMORY_BUS_WIDTH:
		*value = 4096;
		break;
	default:
		*value = 1;
	}
	return OK;
}

int cuDeviceComputeCapability(int *major, int *minor, int device)
{
	*major = stub_cc() / 10;
	*minor = stub_cc() % 10;
	return OK;
}

int cuDevicePrimaryCtxRetain(void **ctx, int device)
{
	*ctx = &context;
	return OK;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
	*flags = 0;
	*active = 1;
	return OK;
}

int cuCtxGetCurrent(void **ctx)
{
	*ctx = current;
	return OK;
}

int cuCtxSetCurrent(void *ctx)
{
	current = ctx;
	return OK;
}

int cuCtxGetDevice(int *device)
{
	*device = 0;
	return OK;
}

int cuCtxGetLimit(size_t *value, int limit)
{
	*value = 1 << 20;
	return OK;
}

int cuCtxSetLimit(int limit, size_t value)
{
	return OK;
}

int cuCtxSynchronize(void)
{
	return OK;
}

int cuStreamIsCapturing(void *stream, int *status)
{
	*status = 0;
	return 0;
}

int cuGetErrorString(int error, const char **text)
{
	static char line[64];
	snprintf(line, sizeof line, "stub GPU: error %d", error);
	*text = error == NO_BINARY_FOR_GPU
		    ? "no kernel image is available for execution on the device"
		    : line;
	return OK;
}

int cuGetErrorName(int error, const char **text)
{
	return cuGetErrorString(error, text);
}

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes)
{
	void *memory;
	if (posix_memalign(&memory, 512, bytes ? bytes : 1))
		return OUT_OF_MEMORY;
	*pointer = (uintptr_t)memory;
	return OK;
}

int cuMemFree_v2(uint64_t pointer)
{
	free((void *)(uintptr_t)pointer);
	return OK;
}

int cuPointerGetAttribute(void *data, int attribute, uint64_t pointer)
{
	*(uint64_t *)data = pointer;
	return OK;
}

/* The arch of a cubin: the low byte of e_flags, from ELF ABI version 8 on the second one. */
static int image_arch(const Elf64_Ehdr *head)
{
	int shift = head->e_ident[EI_ABIVERSION] >= 8 ? 8 : 0;
	return (int)(head->e_flags >> shift & 0xff);
}

/* Nobody tells the size of an image: it ends with the later one of its two header tables. */
static size_t image_size(const Elf64_Ehdr *head)
{
	size_t sections = head->e_shoff + (size_t)head->e_shentsize * head->e_shnum;
	size_t segments = head->e_phoff + (size_t)head->e_phentsize * head->e_phnum;
	return sections > segments ? sections : segments;
}

int cuModuleLoadData(struct module **module, const void *image)
{
	const Elf64_Ehdr *head = image;
	size_t size;
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_machine != EM_CUDA_MACHINE) {
		stub_log("LOAD refused: no cubin");
		return INVALID_IMAGE;
	}
	if (image_arch(head) != stub_cc()) {
		stub_log("LOAD refused: sm_%d on sm_%d", image_arch(head), stub_cc());
		return NO_BINARY_FOR_GPU;
	}
	size = image_size(head);
	*module = malloc(sizeof **module + size);
	if (!*module)
		return OUT_OF_MEMORY;
	(*module)->size = size;
	memcpy((*module)->image, image, size);
	stub_log("LOAD sm_%d %zu bytes", image_arch(head), size);
	return OK;
}

int cuModuleLoadDataEx(
    struct module **module, const void *image, unsigned count, void *options, void *values)
{
	return cuModuleLoadData(module, image);
}

int cuModuleGetFunction(struct function **function, struct module *module, const char *name)
{
	char section[512];
	int n = snprintf(section, sizeof section, ".text.%s", name);
	if (n >= (int)sizeof section ||
	    !memmem(module->image, module->size, section, (size_t)n + 1)) {
		stub_log("FUNCTION refused: %s", name);
		return NOT_FOUND;
	}
	*function = malloc(sizeof **function);
	if (!*function)
		return OUT_OF_MEMORY;
	(*function)->name = strdup(name);
	return OK;
}

int cuModuleUnload(struct module *module)
{
	free(module);
	return OK;
}

int cuModuleGetLoadingMode(int *mode)
{
	*mode = 2; /* lazy */
	return OK;
}

int cuFuncGetAttribute(int *value, int attribute, struct function *function)
{
	*value = attribute == 0 ? 1024 : 0; /* 0: the most threads of a block */
	return OK;
}

int cuFuncSetAttribute(struct function *function, int attribute, int value)
{
	return OK;
}

int cuFuncSetCacheConfig(struct function *function, int config)
{
	return OK;
}

int cuOccupancyMaxActiveClusters(
    int *clusters, struct function *function, const struct launch *config)
{
	*clusters = 1;
	return OK;
}

int cuLaunchKernelEx(
    const struct launch *config, struct function *function, void **params, void **extra)
{
	stub_log("LAUNCH %s grid %u,%u,%u block %u shared %u", function->name, config->grid[0],
	    config->grid[1], config->grid[2], config->block[0], config->shared);
	return OK;
}

int cuLaunchKernel(struct function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
    unsigned by, unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
	struct launch config = {{gx, gy, gz}, {bx, by, bz}, shared};
	return cuLaunchKernelEx(&config, function, params, extra);
}

int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *status)
{
	char versioned[256];
	void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	snprintf(versioned, sizeof versioned, "%s_v2", name);
	*address = self ? dlsym(self, versioned) : NULL;
	if (self && !*address)
		*address = dlsym(self, name);
	if (status)
		*status = *address ? 0 : 1;
	return *address ? OK : NOT_FOUND;
}

int cuGetProcAddress(const char *name, void **address, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(name, address, version, flags, NULL);
}

int cuGetExportTable(const void **table, const void *uuid)
{
	*table = NULL;
	return NOT_FOUND;
}
