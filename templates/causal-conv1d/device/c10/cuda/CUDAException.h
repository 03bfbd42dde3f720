/*
 * Found before torch's header of this name when device sources are compiled. Both checks go to
 * one C function that every binding defines (binding/check.cpp), so the kernel library refers to no
 * symbol of torch and serves all of its versions.
 */
#pragma once

/* torch's header brings these in, and the device sources count on it. */
#include <algorithm>
#include <initializer_list>

#include <cstdint>
#include <cuda_runtime_api.h>

/* Returns if status is cudaSuccess, else throws torch's error for it. */
extern "C" void debkit_cuda_check(
    std::int32_t status, const char *file, const char *function, std::uint32_t line);

#define C10_CUDA_CHECK(call) \
	debkit_cuda_check(static_cast<std::int32_t>(call), __FILE__, __func__, __LINE__)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
