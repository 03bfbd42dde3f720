#!/bin/bash
# The first call of the GatedDeltaNet set with and without the prebuilt kernels: one run, the stub
# GPU, a real torch 2.10.0 and Triton 3.6.0, an empty cache each. `make bench-fla`; FLA_ARCHS names
# the GPU arch (default 120).
. "$(dirname "$0")/../e2e/lib.sh"
. "$top/tests/e2e/root.sh"
. "$top/tests/e2e/fla.sh"
set -e
read -r arch _ <<<"$archs"
cc=$((arch / 10)).$((arch % 10))
python=$(python3.11 -c 'import sys; print(sys.executable)') # no wrapper that starts programs
fla_wheels >&2
profiles=$top/tests/data/fla/profiles
fla_debs "$work/debs" test
site=$work/site
mkdir "$site" && cp -al "$top/build/torch/2.10.0-cp311/." "$site/"
rm -r "$site/nvidia" "$site"/nvidia_*
cp -r "$fla"/fla-0.6.0/{packaging,einops}* "$site/"
CUDART_INCLUDE=$top/build/torch/2.10.0-cp311/nvidia/cuda_runtime/include \
	"$top/tests/gpu/make.sh" "$work/gpu" "$site/torch" >"$work/gpu.out"
for deb in "$work"/debs/*.deb; do
	dpkg-deb -x "$deb" "$work/root"
done
store=$(echo "$work"/root/usr/lib/*/debkit/flash-linear-attention/cu128)

# first_call NAME VARIABLE...: a line of the table. strace stops the processes at execve alone.
first_call() {
	local name=$1
	shift
	rm -rf "$work/home" && mkdir "$work/home"
	strace -f --seccomp-bpf -qq -e trace=execve -o "$work/trace" \
		env -i PATH="$PATH" LC_ALL=C.UTF-8 LD_LIBRARY_PATH="$work/gpu" STUB_GPU_CC="$cc" \
		HOME="$work/home" DEBKIT_TRITON_PATH="$store" "$@" \
		"$python" "$top/tests/data/fla/calls.py" forward 128 2>"$work/err" >"$work/said" ||
		{ cat "$work/err" >&2; return 1; }
	tail -n 1 "$work/said" >"$work/json"
	python3 - "$name" "$work/json" "$work/trace" <<'END'
import json, re, sys
name, said, trace = sys.argv[1], json.load(open(sys.argv[2])), open(sys.argv[3]).read()
ran = re.findall(r'execve\("([^"]*)", \[([^\]]*)\].*= 0', trace)[2:]
compilers = sum(bool(re.search(r"/(gcc|cc1|ptxas\S*)$", path)) and "--version" not in args
                for path, args in ran)
print(f"{name:28} {said['first_s']:8.1f} {said['import_s']:8.1f} {said['compiles']:9} "
      f"{len(ran):10} {compilers:10}")
json.dump(said["first_s"], open(sys.argv[2], "w"))
END
}

printf '%-28s %8s %8s %9s %10s %10s\n' \
	"sm_$arch, Triton $triton" "call s" "import s" compiles processes compilers
first_call "without the packages" DEBKIT_TRITON=0 PYTHONPATH="$fla/fla-0.6.0:$site"
slow=$(cat "$work/json")
first_call "with the packages" PYTHONPATH="$work/root/usr/lib/debkit/python:$site"
fast=$(cat "$work/json")
python3 -c "print(f'the first call is {$slow / $fast:.0f} times faster')"
du -bc "$store"/triton-*/sm_* | tail -n 1 | sed 's/total/bytes of kernels/'
