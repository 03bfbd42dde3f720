# What the tests and the bench of flash-linear-attention share. What is downloaded or compiled is
# kept under build/fla. FLA_ARCHS names the GPU archs (80 86 89 90 100 120).
fla=$top/build/fla
kernels=$top/templates/flash-linear-attention/kernels
triton=3.6.0
archs=${FLA_ARCHS:-120}

# install DIR PACKAGE...: pure Python or cp311 wheels without what they depend on, unless kept.
install() {
	local dir=$1
	shift
	[ ! -d "$dir" ] || return 0
	rm -rf "$dir.tmp"
	python3 -m pip install -q --no-compile --python-version 3.11 --only-binary=:all: \
		--target "$dir.tmp" "$@" && mv "$dir.tmp" "$dir"
}

# The wheels that the build and the tests take.
fla_wheels() {
	mkdir -p "$work/none"
	install_torch 2.10.0 "$work/none" && rm -rf "$work/none" || return
	install "$fla/fla-0.6.0" --no-deps fla-core==0.6.0 flash-linear-attention==0.6.0 einops packaging
	install "$fla/transformers-5.2.0" transformers==5.2.0
	install "$fla/transformers-new" transformers
}

# make_site DIR: torch without CUDA's libraries, as a build has it, by hard links.
make_site() {
	local from=$top/build/torch/2.10.0-cp311 name
	[ ! -d "$1" ] || return 0
	mkdir -p "$1.tmp"
	for name in torch torchgen functorch triton triton-$triton.dist-info typing_extensions.py sympy \
		mpmath filelock networkx; do
		cp -al "$from/$name" "$1.tmp/" || return
	done
	cp -al "$fla/fla-0.6.0/." "$1.tmp/" || return
	rm -rf "$1.tmp"/torch/lib/lib{torch_cuda,torch_cuda_linalg,c10_cuda,torch_nvshmem,caffe2_nvrtc}.so
	mv "$1.tmp" "$1"
}

# The cache of Triton that builds with debkit keep.
kept=${DEBKIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/debkit}/kept/triton-$triton

# dotted ARCH...: 80 120 to 8.0,12.0
dotted() {
	printf '%s\n' "$@" | sed 's/.$/.&/' | paste -sd,
}

# compile ARCH PROFILE FILE OUT [OPTION...]: a step of a build, by hand.
compile() {
	mkdir -p "$kept" && python3 "$kernels/compile.py" --site "$fla/site" --triton $triton \
		--arch "$1" --profile "$2" --profiles "$3" --work "$kept" --out "$4" "${@:5}"
}

# merge OUT KERNELS...: for the Python that runs here.
merge() {
	python3 "$kernels/merge.py" --site "$fla/site" --triton $triton \
		--record "3.11=$fla/site/triton-$triton.dist-info/RECORD" \
		--include "3.11=$(python3.11 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')" \
		--out "$@"
}

# conv_debs DIR: the packages of causal-conv1d, for one torch and Python.
conv_debs() {
	"$DEBKIT" build --cuda 12.8 --torch 2.10 --python 3.11 --arch 9.0 --unsigned --out "$1"
}

# fla_debs DIR PROFILE [CUDA TORCH]: the packages of FLA with the kernels of a profile of the tests,
# all $archs.
fla_debs() {
	rm -rf "$work/templates" && cp -r "$top/templates" "$work/" &&
		cp "$profiles" "$work/templates/flash-linear-attention/profiles" &&
		DEBKIT_TEMPLATES=$work/templates "$DEBKIT" build --cuda "${3:-12.8}" --torch "${4:-2.10}" \
			--profile "$2" --recipe flash-linear-attention --arch "$(dotted $archs)" --unsigned \
			--out "$1"
}

# install_debs ROOT DEBS: by apt, with all that they depend on.
install_debs() {
	mkdir -p "$1/tmp/debs" && cp "$2"/*.deb "$1/tmp/debs/" &&
		in_root "$1" apt-get -o Acquire::Languages=none update &&
		in_root "$1" sh -c 'apt-get install -y --no-install-recommends /tmp/debs/*.deb'
}

# lay_torch ROOT: a venv in it with torch, without any library of NVIDIA's; the stub GPU in /gpu.
lay_torch() {
	local site=$1/venv/lib/python3.11/site-packages
	in_root "$1" python3 -m venv --without-pip /venv || return
	cp -al "$top/build/torch/2.10.0-cp311/." "$site/"
	rm -r "$site/nvidia" "$site"/nvidia_*
	cp -r "$fla"/fla-0.6.0/packaging* "$site/"
	CUDART_INCLUDE=$top/build/torch/2.10.0-cp311/nvidia/cuda_runtime/include \
		"$top/tests/gpu/make.sh" "$1/gpu" "$site/torch"
	mkdir -p "$1/tests" && cp "$top"/tests/data/fla/*.py "$1/tests/"
	cp -al "$fla"/transformers-* "$1/tests/"
}

home=/root # in the roots
# on_gpu ARCH ROOT COMMAND...: in the root, on the stub GPU; $gpu_env holds more of the environment.
on_gpu() {
	on_gpu_with "" "$@"
}

# on_gpu_with PROGRAM ARCH ROOT COMMAND...: the same under a program that runs outside of the root.
on_gpu_with() {
	local under=$1 cc=$(($2 / 10)).$(($2 % 10)) root=$3
	shift 3
	$under chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=$home LC_ALL=C.UTF-8 \
		LD_LIBRARY_PATH=/gpu STUB_GPU_CC=$cc STUB_GPU_LOG=/tmp/gpu.log $gpu_env "$@"
}
gpu_env=

# sealed COMMAND...: with $root read-only, and its /tmp without exec.
sealed() {
	unshare -m bash -c 'root=$1 && shift && mount --rbind "$root" "$root" &&
		mount -o remount,ro,bind "$root" && mount -t tmpfs -o noexec tmpfs "$root/tmp" &&
		exec "$@"' bash "$root" "$@"
}

# with ENVIRONMENT COMMAND...: the command with that as $gpu_env.
with() {
	(gpu_env=$1 && "${@:2}")
}

# gpu_under PROGRAM ARCH COMMAND...: on the stub GPU in $root; what it prints is in $work/out and
# what the GPU saw in $root/tmp/gpu.log.
gpu_under() {
	rm -f "$root/tmp/gpu.log"
	on_gpu_with "$1" "$2" "$root" "${@:3}" >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
}
gpu() { gpu_under "" "$@"; }

# traced ARCH COMMAND...: the same; the programs that were started are in $work/trace.
traced() { gpu_under "strace -f -qq -e trace=execve -o $work/trace" "$@"; }

# says NAME=VALUE...: so stands it in the JSON line that ends $work/out.
says() {
	python3 - "$work/out" "$@" <<'END'
import json, sys
last = json.loads(open(sys.argv[1]).read().splitlines()[-1])
for want in sys.argv[2:]:
    name, _, value = want.partition("=")
    assert str(last[name]) == value, f"{name} is {last[name]}, not {value}: {last}"
END
}

# all_stored LEAST: so many kernels at least came from the store, and nothing was compiled.
all_stored() {
	says compiles=0 misses=0 stub_misses=0 && tail -n 1 "$work/out" | python3 -c "import json, sys
hits = json.load(sys.stdin)['hits']
assert hits >= $1, f'{hits} from the store'"
}

# What Triton keeps for the user, who is root in $root.
clean_home() {
	rm -rf "$root$home/.triton"
}
only_choices() { # of configurations
	! find "$root$home/.triton" -type f ! -name '*.autotune.json' | grep .
}

# The programs that ran, without Python itself: ldconfig and ptxas --version may be among them.
only_harmless() {
	grep -a 'execve("' "$work/trace" | grep -av 'ENOENT' | tail -n +2 >"$work/ran"
	! grep -v -e 'execve("\(/usr\)\?/bin/env"' -e 'execve("/venv/bin/python"' \
		-e '/ldconfig", \[.*"-p"\]' -e '/ptxas[^"]*", \[.*"--version"\]' "$work/ran"
}
