# A root that plays a GPU container: our packages in small, torches of files alone, a driver made of
# a stub libcuda, a file in /proc and device nodes. Sourced after lib.sh and root.sh.

# gpu_debs OUT [REVISION]: the packages of causal-conv1d with their true fields and tables, and no
# code; the runtime's provider.
gpu_debs() {
	local out=$1 v=1.7.0-${2:-1} lib=usr/lib/x86_64-linux-gnu/debkit
	mkdir -p "$out"
	gpu_deb "$out" python3-causal-conv1d "$v" all $'Source: causal-conv1d\nDepends: python3:any' \
		usr/lib/debkit/python/causal_conv1d/__init__.py '' \
		usr/lib/python3/dist-packages/debkit-causal-conv1d.pth /usr/lib/debkit/python
	gpu_deb "$out" python3-causal-conv1d-cu128 "$v" amd64 \
		"Source: causal-conv1d
Depends: python3-causal-conv1d (= $v), cuda-cudart-12-8, libc6 (>= ${GLIBC:-2.34})
Debkit-Cuda: 12.8
Debkit-Cuda-Archs: ${ARCHS:-9.0 12.0 12.0+PTX}
Debkit-Torch: 2.10 2.11 2.12
Debkit-Python: 3.11 3.13${BALLAST:+
Installed-Size: $BALLAST}" \
		$lib/causal-conv1d-cu128/torch2.10-cp311.so x \
		$lib/causal-conv1d-cu128/torch2.10-cp313.so x \
		$lib/causal-conv1d-cu128/bindings "File: torch2.10-cp311.so
Python: cp311
Torch: 2.10 2.11 2.12
Cuda: 12.8

File: torch2.10-cp313.so
Python: cp313
Torch: 2.10 2.11 2.12
Cuda: 12.8"
	gpu_deb "$out" debkit-cudart-12-8 12.8.90-1 amd64 \
		"Depends: libc6 (>= 2.17)
Provides: cuda-cudart-12-8 (= 12.8.90)" $lib/libcudart.so.12 runtime
}

# fla_debs OUT: stand-ins for the packages of flash-linear-attention, with its functions' names.
fla_debs() {
	local out=$1 root=usr/lib/debkit/python
	gpu_deb "$out" python3-flash-linear-attention 0.6.0-1 all 'Depends: python3:any' \
		$root/fla/__init__.py '' $root/fla/ops/__init__.py '' \
		$root/fla/modules/__init__.py 'class FusedRMSNormGated: pass' \
		$root/fla/ops/gated_delta_rule/__init__.py 'def chunk_gated_delta_rule(): pass
def fused_recurrent_gated_delta_rule(): pass' \
		$root/fla_core-0.6.0.dist-info/METADATA 'Metadata-Version: 2.1
Name: fla-core
Version: 0.6.0' $root/fla_core-0.6.0.dist-info/top_level.txt fla \
		$root/flash_linear_attention-0.6.0.dist-info/METADATA 'Metadata-Version: 2.1
Name: flash-linear-attention
Version: 0.6.0'
	gpu_deb "$out" python3-flash-linear-attention-cu128 0.6.0-1 amd64 \
		"Depends: python3-flash-linear-attention (= 0.6.0-1)
Debkit-Triton: 3.6.0
Debkit-Cuda-Archs: 8.0 9.0 12.0" \
		usr/lib/x86_64-linux-gnu/debkit/flash-linear-attention/cu128/manifest x
	gpu_deb "$out" python3-gated-deltanet-cu128 1-1 all \
		'Depends: python3-causal-conv1d-cu128, python3-flash-linear-attention-cu128'
}

# gpu_deb OUT NAME VERSION ARCH FIELDS [FILE TEXT]...
gpu_deb() {
	local out=$1 name=$2 version=$3 arch=$4 fields=$5 stage=$work/stage
	shift 5
	rm -rf "$stage"
	mkdir -p "$stage/DEBIAN"
	printf 'Package: %s\nVersion: %s\nArchitecture: %s\n%s\nMaintainer: t <t@t.invalid>\nDescription: t\n' \
		"$name" "$version" "$arch" "$fields" >"$stage/DEBIAN/control"
	while [ $# -gt 0 ]; do
		mkdir -p "$stage/$(dirname "$1")"
		printf '%s\n' "$2" >"$stage/$1"
		shift 2
	done
	dpkg-deb --root-owner-group -Znone -b "$stage" "$out/${name}_${version}_$arch.deb" >/dev/null
	"$DEBKIT" sign --sign-key "$fpr" "$out/${name}_${version}_$arch.deb" >/dev/null
}

# fake_torch SITE VERSION CUDA [TRITON]: what a doctor reads of a torch wheel.
fake_torch() {
	local site=$1 version=$2 cuda=$3 triton=${4:-3.6.0}
	rm -rf "$site"/torch* "$site"/triton*
	mkdir -p "$site/torch/share/cmake/Torch" "$site/torch-${version%%+*}.dist-info" \
		"$site/triton-$triton.dist-info" "$site/pip" "$site/nvidia/cuda_runtime/lib"
	: >"$site/torch/__init__.py"
	cuda=${cuda:+\'$cuda\'}
	printf "__version__ = '%s'\ncuda: Optional[str] = %s\nhip: Optional[str] = None\n" \
		"$version" "${cuda:-None}" >"$site/torch/version.py"
	echo 'set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=1")' \
		>"$site/torch/share/cmake/Torch/TorchConfig.cmake"
	printf 'Metadata-Version: 2.1\nName: torch\nVersion: %s\nRequires-Dist: triton==3.6.0; x\n' \
		"${version%%+*}" >"$site/torch-${version%%+*}.dist-info/METADATA"
	printf 'Metadata-Version: 2.1\nName: triton\nVersion: %s\n' "$triton" \
		>"$site/triton-$triton.dist-info/METADATA"
	echo runtime >"$site/nvidia/cuda_runtime/lib/libcudart.so.12"
}

# gpu_on ROOT [DRIVER]: driver, nodes and libcuda of a GPU. The nodes are /dev/null's, and
# /proc/devices says that this number is NVIDIA's.
gpu_on() {
	local root=$1 version=${2:-570.124.06} lib=$1/usr/lib/x86_64-linux-gnu
	gpu_off "$root"
	mount -t tmpfs none "$root/proc/driver" && mkdir "$root/proc/driver/nvidia" &&
		printf 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  %s  Release Build\nGCC version:  gcc 12\n' \
			"$version" >"$root/proc/driver/nvidia/version"
	printf 'Character devices:\n  1 mem\n  1 nvidia\n  1 nvidiactl\n  1 nvidia-uvm\n\nBlock devices:\n  8 sd\n' \
		>"$work/devices"
	mount --bind "$work/devices" "$root/proc/devices"
	for node in nvidia0 nvidiactl nvidia-uvm; do mknod -m 666 "$root/dev/$node" c 1 3; done
	cp "$work/stub/libcuda.so.1" "$lib/libcuda.so.$version"
	ln -s "libcuda.so.$version" "$lib/libcuda.so.1"
	in_root "$root" ldconfig
}

gpu_off() {
	umount "$1/proc/driver" 2>/dev/null
	umount "$1/proc/devices" 2>/dev/null
	rm -rf "$1"/dev/nvidia* "$1"/usr/lib/x86_64-linux-gnu/libcuda.so*
}

# with_gpu ROOT COMMAND...: in the root, with the stub GPU's environment ($gpu: more of it).
with_gpu() {
	local root=$1
	shift
	# shellcheck disable=SC2086
	in_root "$root" env STUB_GPU_CC=12.0 STUB_GPU_NAME='NVIDIA GeForce RTX 5090' STUB_GPU_DRIVER=12080 \
		${gpu:-} "$@"
}
