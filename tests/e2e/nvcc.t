#!/bin/bash
# CUDA 13 with an nvcc from wheels, and CUDA 12.6 with clang, where no CUDA toolkit is installed:
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
ok "it takes clang and ptxas 12.6" has '^compiler +clang .*, ptxas 12\.6\.'
fails "13.0 with clang" 2 'leave out --toolchain clang' \
	with "$cache" "$top/templates" plan --cuda 13.0 --toolchain clang
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
ok "build with clang for 12.6" with "$work/cache" "$work/templates" build $cu126 --unsigned \
	--out "$work/a"
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
done_testing
