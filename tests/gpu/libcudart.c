/*
 * The CUDA runtime as a test double of its documented API, over the stub libcuda.so.1: host memory,
 * launches are logged. Built with CUDA's own header, whose cudaDeviceProp it fills. What torch
 * needs beyond these functions returns 0; standins.py adds it from torch's own symbols.
 */
#define __CUDA_API_VERSION_INTERNAL
#include "stub.h"
#include <cuda_runtime_api.h>
#include <dlfcn.h>

typedef cudaError_t result;

static void *driver(const char *name)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY);
	return library ? dlsym(library, name) : NULL;
}

result cudaGetDeviceCount(int *count)
{
	int (*init)(unsigned) = (int (*)(unsigned))driver("cuInit");
	*count = 0;
	if (!init || init(0))
		return cudaErrorNoDevice;
	*count = stub_int("STUB_GPU_COUNT", 1);
	return *count ? cudaSuccess : cudaErrorNoDevice;
}

result cudaGetDevice(int *device)
{
	*device = 0;
	return cudaSuccess;
}

result cudaDriverGetVersion(int *version)
{
	*version = stub_int("STUB_GPU_DRIVER", 12080);
	return cudaSuccess;
}

result cudaRuntimeGetVersion(int *version)
{
	*version = CUDART_VERSION;
	return cudaSuccess;
}

static result properties(struct cudaDeviceProp *p)
{
	memset(p, 0, sizeof *p);
	snprintf(p->name, sizeof p->name, "%s", stub_name());
	p->major = stub_cc() / 10;
	p->minor = stub_cc() % 10;
	p->totalGlobalMem = stub_memory();
	p->sharedMemPerBlock = 49152;
	p->sharedMemPerBlockOptin = (size_t)stub_shared();
	p->sharedMemPerMultiprocessor = (size_t)stub_shared() + 1024;
	p->regsPerBlock = p->regsPerMultiprocessor = 65536;
	p->warpSize = 32;
	p->maxThreadsPerBlock = 1024;
	p->maxThreadsPerMultiProcessor = 2048;
	p->multiProcessorCount = stub_int("STUB_GPU_SMS", 132);
	p->l2CacheSize = 1 << 20;
	p->maxGridSize[0] = 2147483647;
	p->maxGridSize[1] = p->maxGridSize[2] = 65535;
	p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
	p->maxThreadsDim[2] = 64;
	p->unifiedAddressing = 1;
	p->textureAlignment = 512;
	return cudaSuccess;
}

/* The same function under both names: CUDA 12 has the suffix, CUDA 13 has not. */
#undef cudaGetDeviceProperties
result cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
	return properties(p);
}

result cudaGetDeviceProperties_v2(struct cudaDeviceProp *p, int device)
{
	return properties(p);
}

result cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	int (*get)(int *, int, int) = (int (*)(int *, int, int))driver("cuDeviceGetAttribute");
	return get ? (result)get(value, (int)attribute, device) : cudaErrorInitializationError;
}

result cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	*least = 0;
	*greatest = -5;
	return cudaSuccess;
}

result cudaMalloc(void **memory, size_t bytes)
{
	return posix_memalign(memory, 512, bytes ? bytes : 1) ? cudaErrorMemoryAllocation
							      : cudaSuccess;
}

result cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
	return cudaMalloc(memory, bytes);
}

result cudaMallocHost(void **memory, size_t bytes)
{
	return cudaMalloc(memory, bytes);
}

result cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream)
{
	return cudaMalloc(memory, bytes);
}

result cudaFree(void *memory)
{
	free(memory);
	return cudaSuccess;
}

result cudaFreeHost(void *memory)
{
	return cudaFree(memory);
}

result cudaFreeAsync(void *memory, cudaStream_t stream)
{
	return cudaFree(memory);
}

result cudaMemGetInfo(size_t *available, size_t *total)
{
	*total = stub_memory();
	*available = *total - ((size_t)1 << 29);
	return cudaSuccess;
}

result cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	memmove(to, from, bytes);
	return cudaSuccess;
}

result cudaMemcpyAsync(
    void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	return cudaMemcpy(to, from, bytes, kind);
}

result cudaMemset(void *to, int value, size_t bytes)
{
	memset(to, value, bytes);
	return cudaSuccess;
}

result cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
	return cudaMemset(to, value, bytes);
}

/* Streams and events are opaque to their users: one byte each. */
static result handle(void **made)
{
	*made = malloc(1);
	return *made ? cudaSuccess : cudaErrorMemoryAllocation;
}

result cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
	return handle((void **)stream);
}

result cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	return handle((void **)stream);
}

result cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	return handle((void **)event);
}

result cudaEventCreate(cudaEvent_t *event)
{
	return handle((void **)event);
}

result cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	*ms = 1.0f;
	return cudaSuccess;
}

result cudaEventElapsedTime_v2(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	return cudaEventElapsedTime(ms, from, to);
}

result cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	*status = cudaStreamCaptureStatusNone;
	return cudaSuccess;
}

result cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
    unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *count)
{
	*status = cudaStreamCaptureStatusNone;
	if (id)
		*id = 0;
	return cudaSuccess;
}

result cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *memory)
{
	memset(attributes, 0, sizeof *attributes);
	attributes->type = cudaMemoryTypeDevice;
	attributes->devicePointer = (void *)memory;
	return cudaSuccess;
}

result cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function)
{
	memset(attributes, 0, sizeof *attributes);
	attributes->maxThreadsPerBlock = 1024;
	attributes->numRegs = 32;
	attributes->binaryVersion = attributes->ptxVersion = stub_cc();
	return cudaSuccess;
}

result cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, const void *function, int threads, size_t shared)
{
	*blocks = 1;
	return cudaSuccess;
}

result cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *function, int threads, size_t shared, unsigned flags)
{
	*blocks = 1;
	return cudaSuccess;
}

static result entry_point(
    const char *name, void **address, enum cudaDriverEntryPointQueryResult *found)
{
	int (*get)(const char *, void **, int, unsigned long long, int *) =
	    driver("cuGetProcAddress_v2");
	int error = get ? get(name, address, CUDART_VERSION, 0, NULL) : 1;
	if (found)
		*found = error ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
	return cudaSuccess;
}

result cudaGetDriverEntryPoint(const char *name, void **address, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *found)
{
	return entry_point(name, address, found);
}

result cudaGetDriverEntryPointByVersion(const char *name, void **address, unsigned version,
    unsigned long long flags, enum cudaDriverEntryPointQueryResult *found)
{
	return entry_point(name, address, found);
}

const char *cudaGetErrorString(result error)
{
	static char line[64];
	snprintf(line, sizeof line, "stub GPU: runtime error %d", (int)error);
	return line;
}

const char *cudaGetErrorName(result error)
{
	return cudaGetErrorString(error);
}

result cudaLaunchKernel(
    const void *function, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
	stub_log("RUNTIME LAUNCH");
	return cudaSuccess;
}

result cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
	stub_log("RUNTIME LAUNCH");
	return cudaSuccess;
}

/* The hidden half of the <<<>>> syntax, as nvcc's host code calls it. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
result __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
void **__cudaRegisterFatBinary(void *image);
result __cudaGetKernel(void **kernel, const void *function);

static struct {
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
} pushed;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
	pushed.grid = grid;
	pushed.block = block;
	pushed.shared = shared;
	pushed.stream = stream;
	return 0;
}

result __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	*grid = pushed.grid;
	*block = pushed.block;
	*shared = pushed.shared;
	*(cudaStream_t *)stream = pushed.stream;
	return cudaSuccess;
}

void **__cudaRegisterFatBinary(void *image)
{
	static void *registered[4];
	return registered;
}

result __cudaGetKernel(void **kernel, const void *function)
{
	*kernel = (void *)function;
	return cudaSuccess;
}

result cudaGetFuncBySymbol(cudaFunction_t *kernel, const void *function)
{
	*kernel = (void *)function;
	return cudaSuccess;
}
