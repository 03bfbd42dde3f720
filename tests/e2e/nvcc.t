#!/bin/bash
# CUDA 13 with an nvcc from wheels, and CUDA 12.6 with NVRTC and with clang, where no CUDA toolkit is installed:
# NVIDIA's own tool reads what was built, and the same bytes come out in another process.
. "$(dirname "$0")/lib.sh"
unset SOURCE_DATE_EPOCH
cache=${DEBKIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/debkit}
cu130="--cuda 13.0 --torch 2.11 --python 3.11 --arch 8.0,9.0"
cu126="--cuda 12.6 --torch 2.7 --python 3.11 --arch 9.0"

# with CACHE TEMPLATES COMMAND...: debkit without an installed toolkit.
with() {
	local c=$1 t=$2
	shift 2
	DEBKIT_CACHE=$c DEBKIT_TEMPLATES=$t hide_nvcc "$DEBKIT" "$@"
}

# new_cache DIR: the fetched inputs of the real cache, and no object.
new_cache() {
	link_cache "$cache" "$1" file src sdk part toolkit abi
}

plan() { with "$cache" "$top/templates" plan "$@" >"$work/plan"; }
has() { grep -qE -e "$1" "$work/plan" || { cat "$work/plan"; return 1; }; }

ok "plan for 13.0" plan $cu130
ok "it takes nvcc from wheels" has '^compiler +nvcc 13\.0\.'
ok "the wheel of nvcc is fetched" has '^fetch +nvidia_cuda_nvcc-13\.0.* \(parts\)'
ok "plan for 13.2" plan --cuda 13.2
ok "it takes nvcc from wheels too" has '^compiler +nvcc 13\.2\.'
ok "plan for 12.6" plan $cu126
ok "it takes NVRTC 12.6, ptxas 12.9 and clang" has '^compiler +nvrtc 12\.6\.[0-9]+, ptxas 12\.9\.[0-9]+, clang 22'
ok "plan for 12.6 by clang alone" plan $cu126 --toolchain clang
ok "it takes clang and ptxas 12.9" has '^compiler +clang .*, ptxas 12\.9\.'
fails "13.0 with clang" 2 'leave out --toolchain clang' \
	with "$cache" "$top/templates" plan --cuda 13.0 --toolchain clang
fails "13.0 with NVRTC" 2 'leave out --toolchain nvrtc' \
	with "$cache" "$top/templates" plan --cuda 13.0 --toolchain nvrtc
fails "12.6 with nvcc" 1 'debkit toolchain --cuda 12.6' \
	with "$cache" "$top/templates" plan --cuda 12.6 --toolchain nvcc

# Fills the real cache with the inputs: nothing compiles.
cp -r "$top/templates" "$work/broken"
sed -i -e 's/^\(Nvcc\|Clang\)-Flags: /&--nonsense /' -e 's/^Host-Source: .*/Host-Source: none.cpp/' \
	"$work/broken/causal-conv1d/recipe"
fails "a step that fails, by nvcc" 1 "step '.*' failed" with "$cache" "$work/broken" \
	build $cu130 --unsigned --out "$work/b"
fails "a step that fails, by clang" 1 "step '.*' failed" with "$cache" "$work/broken" \
	build $cu126 --unsigned --out "$work/b"

cp -r "$top/templates" "$work/templates"
new_cache "$work/cache"
quick_source "$work/cache" "$work/templates"
ok "build with nvcc from wheels" with "$work/cache" "$work/templates" build $cu130 --unsigned \
	--out "$work/a"
ok "build with NVRTC for 12.6" with "$work/cache" "$work/templates" build $cu126 --unsigned \
	--out "$work/a"
ok "build with clang for 12.6" with "$work/cache" "$work/templates" build $cu126 --unsigned \
	--toolchain clang --out "$work/clang"
ok "lintian finds no error" lintian --fail-on error --allow-root "$work"/a/*.deb
flavour=$work/a/python3-causal-conv1d-cu130_1.7.0-1_amd64.deb
ok "debkit verify accepts it unsigned" "$DEBKIT" verify --unsigned-ok "$flavour"
ok "its archs are those of the binary" \
	[ "$(dpkg-deb -f "$flavour" Debkit-Cuda-Archs)" = '8.0 9.0 9.0+PTX' ]
ok "it names the compiler" sh -c "dpkg-deb -f '$flavour' Debkit-Compiler | grep -q '^nvcc 13\.0'"
ok "it depends on the CUDA runtime" sh -c "dpkg-deb -f '$flavour' Depends | grep -q cuda-cudart-13-0"
dpkg-deb -x "$flavour" "$work/x"
library=$(ls "$work"/x/usr/lib/*/debkit/causal-conv1d-cu130/libcausal_conv1d_cu130.so.1)
ok "the library needs libcudart.so.13" sh -c "readelf -d '$library' | grep -q 'NEEDED.*libcudart.so.13'"
ok "no path and no process number is left in it" sh -c \
	"! strings -a '$library' | grep -E 'tmpxft|$work|/tmp/'"

# The judge: NVIDIA's cuobjdump.
pip download -q --no-deps --no-cache-dir -d "$work/wheel" nvidia-cuda-cuobjdump >"$work/pip" 2>&1
ok "cuobjdump from the package index" python3 -m zipfile -e "$work"/wheel/*.whl "$work/wheel"
cuobjdump=$(find "$work/wheel" -name cuobjdump -type f)
chmod +x "$cuobjdump"
"$cuobjdump" --list-elf "$library" >"$work/elf"
"$cuobjdump" --list-ptx "$library" >"$work/ptx"
ok "cuobjdump finds cubins of both archs" \
	[ "$(grep -oE 'sm_[0-9]+' "$work/elf" | sort -u | xargs)" = 'sm_80 sm_90' ]
ok "and in each source" [ "$(wc -l <"$work/elf")" = 6 ]
ok "and PTX of the newest alone" \
	[ "$(grep -oE 'sm_[0-9]+' "$work/ptx" | sort -u | xargs)" = sm_90 ]

"$cuobjdump" -res-usage "$library" 2>&1 | sed -n 's/^ *Function \(.*\):$/\1/p
	s/^ *REG:\([0-9]*\) STACK:\([0-9]*\) SHARED:\([0-9]*\).*/\1 \2 \3/p' | paste - - | sort >"$work/usage"
"$DEBKIT" inspect --kernels "$flavour" | awk -F'\t' '{ print $7 "\t" $2 " " $3 " " $5 }' | sort >"$work/kernels"
ok "cuobjdump finds kernels of nvcc" test -s "$work/usage"
ok "inspect finds the same registers, stack and shared memory" diff "$work/usage" "$work/kernels"

# nvcc compiles again, in another folder; the bindings come from the object cache.
new_cache "$work/cache2"
cp -r "$work"/cache/src/*0000000 "$work/cache2/src/"
cp -r "$work/cache/object" "$work/cache2/"
grep -rlE '^Step: (nvcc|link)' "$work/cache2/object" | while read -r cost; do
	rm "$cost" "${cost%.cost}"
done
mkdir "$work/with space"
ok "build again, in another folder, umask and time zone" sh -c "umask 077; cd '$work/with space' &&
	TZ=Pacific/Auckland DEBKIT_CACHE='$work/cache2' DEBKIT_TEMPLATES='$work/templates' \
	unshare -m sh -c 'for d in /usr/local/cuda-*; do [ ! -d \$d ] || mount -t tmpfs none \$d; done
	env -u CUDA_HOME PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	\"$DEBKIT\" build $cu130 --unsigned --jobs 2 --out here'"
for deb in "$work"/a/*cu130*.deb "$work"/a/*cudart-13*.deb "$work"/a/*_all.deb; do
	ok "the same bytes: $(basename "$deb")" cmp "$deb" "$work/with space/here/$(basename "$deb")"
done
# NVRTC: the judge is cuobjdump again. The kernels of both compilers are the same by name.
names() { # names DIR
	local deb=$1/python3-causal-conv1d-cu126_1.7.0-1_amd64.deb
	rm -rf "$work/y"
	dpkg-deb -x "$deb" "$work/y" && "$cuobjdump" -res-usage "$work"/y/usr/lib/*/debkit/*/lib*.so.1 2>&1 |
		sed -n 's/^ *Function \(.*\):$/\1/p' | sort
}
names "$work/a" >"$work/names.nvrtc"
names "$work/clang" >"$work/names.clang"
ok "cuobjdump finds kernels" test -s "$work/names.nvrtc"
ok "NVRTC's kernels are clang's" diff "$work/names.clang" "$work/names.nvrtc"
ok "as many as each step counted" sh -c "cat '$work'/a/work/causal-conv1d-cu126/cu126/*.kernels | wc -l |
	grep -x '$(wc -l <"$work/names.nvrtc")'"
ok "the package names all three compilers" sh -c "dpkg-deb -f '$work'/a/python3-causal-conv1d-cu126_*.deb \
	Debkit-Compiler | grep -E '^nvrtc 12.6.[0-9]+, ptxas 12.9.[0-9]+, clang 22'"
new_cache "$work/cache3"
cp -r "$work"/cache/src/*0000000 "$work/cache3/src/"
mkdir "$work/elsewhere"
nvrtc_elsewhere() {
	(cd "$work/elsewhere" && umask 077 &&
		with "$work/cache3" "$work/templates" build $cu126 --jobs 1 --unsigned --out b)
}
ok "NVRTC in another folder, one job at a time" nvrtc_elsewhere
ok "gives the same bytes" cmp "$work/elsewhere/b/python3-causal-conv1d-cu126_1.7.0-1_amd64.deb" \
	"$work/a/python3-causal-conv1d-cu126_1.7.0-1_amd64.deb"

# What NVRTC cannot do: one line each.
steps=$work/a/work/causal-conv1d-cu126
host=cu126/causal_conv1d_update.launches.o
cubin=cu126/causal_conv1d_update.sm_90.cubin
device() { (cd "$steps" && "$DEBKIT" device "$@"); }
fails "a library that is none" 1 'cannot load NVRTC: .*libcudart' device ptx --library ./libcudart.so.0 \
	--host $host --output "$work/o" src/csrc/causal_conv1d_update.cu
fails "a library that is another" 1 "'cuda/lib64/libcudart.so.12' is no NVRTC: it lacks nvrtc" device ptx \
	--library cuda/lib64/libcudart.so.12 --host $host --output "$work/o" src/csrc/causal_conv1d_update.cu
echo '__global__ void k() { nonsense; }' >"$work/bad.cu"
fails "a source that it refuses" 1 "NVRTC refuses '.*bad.cu'" device ptx --library tk/lib64/libnvrtc.so.12 \
	--host $host --output "$work/o" "$work/bad.cu"
ok "it says where" grep -q 'bad.cu(1): error: identifier "nonsense" is undefined' "$work/.out"
echo '#include <thread>' >"$work/header.cu"
device ptx --library tk/lib64/libnvrtc.so.12 --host $host --output "$work/o" "$work/header.cu" >"$work/.out" 2>&1
ok "a header that is not there is named" grep -q 'header.cu(1).*thread' "$work/.out"
fails "a cubin of another source" 1 "lacks kernel|has kernel" device match --host $host --output "$work/o" \
	cu126/causal_conv1d_fwd.sm_90.cubin
ok "what each kernel takes is noted" sh -c "grep -cP '^sm_90\t[0-9]+\t0\t[0-9]+\t[0-9]+\t_Z' '$steps/cu126/causal_conv1d_update.kernels' | grep -x 54"
cp -r "$work/templates" "$work/gate"
sed -i 's/^Max-Stack: .*/Max-Stack: much/' "$work/gate/causal-conv1d/recipe"
fails "a bound that is no number" 1 "Max-Stack is 'much'" with "$cache" "$work/gate" plan $cu126
fails "a cubin that is cut" 1 "cut.cubin'" sh -c "head -c 3000 '$steps/$cubin' >'$work/cut.cubin'; \
	'$DEBKIT' device match --host '$steps/$host' --output '$work/o' '$work/cut.cubin'"
fails "what is no cubin" 1 "not a cubin" device match --host $host --output "$work/o" tk/bin/ptxas
ok "and nothing is written" test ! -e "$work/o"
done_testing
