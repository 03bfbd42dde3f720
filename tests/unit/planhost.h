/* Made-up machines for tests of the plan. */
#pragma once
#include "../../debbuild/plan/plan.h"

static char *planhost_cxx_flags[] = {"-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", NULL};
static char *planhost_ld_flags[] = {"-Wl,-z,relro", "-Wl,-z,now", NULL};
static struct host_python planhost_pythons[] = {
    {.version = "3.11", .include = "/usr/include/python3.11", .id = "id of 3.11"},
    {.version = "3.12", .include = "/opt/py/include/python3.12", .id = "id of 3.12"},
    {.version = "3.13",
	.include = "/cache/python3.13",
	.id = "id of 3.13",
	.package = "libpython3.13-dev:amd64=3.13.5-2",
	.package_sha256 = "1313131313131313131313131313131313131313131313131313131313131313",
	.package_size = 5000000}};

/* 16 GiB and 4 CPUs, with clang and two Pythons; apt offers the third, for n_pythons = 3. */
static inline void planhost_clang(struct host *h)
{
	*h = (struct host){.deb_arch = "amd64",
	    .multiarch = "x86_64-linux-gnu",
	    .route = ROUTE_CLANG,
	    .compiler = "clang 22.1.8, ptxas 12.8.93",
	    .cxx = "x86_64-linux-gnu-g++",
	    .cxx_id = "g++ (Debian) 12.2.0",
	    .clang = "clang++-22",
	    .python = "3.11",
	    .support_id = "id of the support files",
	    .kernels_id = "id of what compiles kernels",
	    .cxx_flags = planhost_cxx_flags,
	    .ld_flags = planhost_ld_flags,
	    .pythons = planhost_pythons,
	    .n_pythons = 2,
	    .memory = (uint64_t)16 << 30,
	    .cpus = 4};
}

/* The same with NVRTC for device code. */
static inline void planhost_nvrtc(struct host *h)
{
	h->route = ROUTE_NVRTC;
	h->compiler = "nvrtc 12.8.93, ptxas 12.9.86, clang 22.1.8";
	h->nvrtc_id = "id of the headers for NVRTC";
}

/* The same with an nvcc put together from wheels. */
static inline void planhost_nvcc(struct host *h)
{
	h->route = ROUTE_NVCC;
	h->compiler = "nvcc 13.0.88";
	h->clang = NULL;
}
