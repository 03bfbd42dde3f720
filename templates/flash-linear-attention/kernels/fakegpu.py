"""A GPU that is not there: Triton's driver object and the part of torch.cuda that FLA asks.

Kernels are compiled as on the real GPU and never run. One process stands for one GPU: FLA fixes
its configurations when it is imported, so install() comes before `import fla`.
"""
from types import SimpleNamespace

# Capability -> name, shared memory of a block (opt-in, bytes), multiprocessors.
GPUS = {
    80: ("NVIDIA A100-SXM4-80GB", 166912, 108),
    86: ("NVIDIA GeForce RTX 3090", 101376, 82),
    89: ("NVIDIA GeForce RTX 4090", 101376, 128),
    90: ("NVIDIA H100 80GB HBM3", 232448, 132),
    100: ("NVIDIA B200", 232448, 148),
    120: ("NVIDIA GeForce RTX 5090", 101376, 170),
}


class Utils:
    def __init__(self, shared, processors):
        self.properties = {
            "max_shared_mem": shared, "max_num_regs": 65536, "multiprocessor_count": processors,
            "warpSize": 32, "sm_clock_rate": 1000000, "mem_clock_rate": 1000000, "mem_bus_width": 4096,
        }

    def get_device_properties(self, device):
        return self.properties

    def load_binary(self, name, kernel, shared, device):
        return 0, 0, 32, 0, 1024

    def unload_module(self, module):
        pass


class Driver:
    """What triton.runtime.driver.active must answer while kernels are compiled."""

    def __init__(self, torch, target, utils, launcher):
        self.torch = torch
        self.target = target
        self.utils = utils
        self.launcher_cls = launcher

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        pass

    def get_current_stream(self, device=None):
        return 0

    def get_device_capability(self, device=0):
        return divmod(self.target.arch, 10)

    def get_device_interface(self):
        return self.torch.cuda

    def get_active_torch_device(self):
        return self.torch.device("cpu")

    def map_python_to_cpp_type(self, kind):
        from triton.backends.nvidia import driver
        return driver.ty_to_cpp(kind)

    def get_benchmarker(self):
        def bench(call, quantiles=None, **_):
            call()
            return [1.0] * len(quantiles or [0])
        return bench

    def get_empty_cache_for_benchmark(self):
        return self.torch.empty(1)

    def clear_cache(self, cache):
        pass


def install(arch, launcher):
    """launcher(src, metadata) is made for each kernel, as Triton's own launcher would be."""
    import torch
    from triton.backends.compiler import GPUTarget
    from triton.runtime.driver import driver

    name, shared, processors = GPUS[arch]
    driver.set_active(Driver(torch, GPUTarget("cuda", arch, 32), Utils(shared, processors), launcher))
    properties = SimpleNamespace(
        name=name, major=arch // 10, minor=arch % 10, multi_processor_count=processors,
        shared_memory_per_block=49152, shared_memory_per_block_optin=shared,
        total_memory=80 << 30, warp_size=32)
    cuda = torch.cuda
    cuda.is_available = lambda: True
    cuda.device_count = lambda: 1
    cuda.current_device = lambda: 0
    cuda.get_device_name = lambda *_: name
    cuda.get_device_capability = lambda *_: divmod(arch, 10)
    cuda.get_device_properties = lambda *_: properties
