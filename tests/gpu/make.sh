#!/bin/bash
# make.sh OUT [TORCH]: the stub GPU's libraries; see README.md. CUDART_INCLUDE names the folder of
# cuda_runtime_api.h where it is not beside TORCH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
out=$1 torch=${2:-}
rm -rf "$out"
mkdir -p "$out"
cflags=(-O1 -D_GNU_SOURCE -fPIC -Wall -Wextra -Wno-unused-parameter)
gcc "${cflags[@]}" -shared -Wl,-soname,libcuda.so.1 -o "$out/libcuda.so.1" "$here/libcuda.c" -ldl
[ -n "$torch" ] || exit 0

runtime=$(readelf -dW "$torch/lib/libtorch_cpu.so" | sed -n 's/.*\[\(libcudart\.so\.[0-9]*\)\].*/\1/p')
for dir in "${CUDART_INCLUDE:-}" "$torch"/../nvidia/{cuda_runtime,cu13}/include; do
	[ ! -f "$dir/cuda_runtime_api.h" ] || break
done
gcc "${cflags[@]}" -c -isystem "$dir" -o "$out/cudart.o" "$here/libcudart.c"
python3 "$top/templates/flash-linear-attention/kernels/standins.py" --torch "$torch" --out "$out" \
	--link "$runtime=$out/cudart.o"
rm "$out/cudart.o"
