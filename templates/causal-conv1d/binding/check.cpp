/*
 * The half of a binding that answers the kernel library: compiled from one torch's own headers
 * and linked into each binding. The line is an int up to torch 2.9 and unsigned from 2.10, and
 * 2.14 adds a parameter with a default; a plain call lets the compiler choose among them.
 */
#include <c10/cuda/CUDAException.h>
#include <cstdint>

extern "C" __attribute__((visibility("default"))) void debkit_cuda_check(
    std::int32_t status, const char *file, const char *function, std::uint32_t line)
{
	c10::cuda::c10_cuda_check_implementation(status, file, function, line, true);
}
