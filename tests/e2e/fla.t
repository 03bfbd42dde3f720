#!/bin/bash
# flash-linear-attention with prebuilt kernels: built with no GPU, then used in a clean Debian 12
# root without any compiler, under the stub GPU, by a real torch and Triton. One GPU arch unless
# FLA_ARCHS names more; all of them: FLA_ARCHS="80 86 89 90 100 120" tests/e2e/fla.t
. "$(dirname "$0")/lib.sh"
. "$top/tests/e2e/root.sh"
. "$top/tests/e2e/fla.sh"
trap 'umount_root; cleanup' EXIT
root=$work/root profiles=$top/tests/data/fla/profiles
python=/venv/bin/python
read -r first _ <<<"$archs"

# launched NAME...: exactly these kernels of Triton ran on the GPU, each out of a cubin.
launched() {
	sed -n 's/^LAUNCH \([^ ]*\) .*/\1/p' "$root/tmp/gpu.log" | sort -u >"$work/launched"
	printf '%s\n' "$@" | sort | diff - "$work/launched" && ! grep refused "$root/tmp/gpu.log"
}
forward="chunk_fwd_kernel_o chunk_gated_delta_rule_fwd_kernel_h_blockdim64
	chunk_gated_delta_rule_fwd_kkt_solve_kernel chunk_local_cumsum_scalar_kernel
	fused_recurrent_gated_delta_rule_fwd_kernel l2norm_fwd_kernel layer_norm_gated_fwd_kernel
	recompute_w_u_fwd_kernel"

warns() {
	[ "$(grep -c 'RuntimeWarning: debkit:' "$work/out")" = 1 ] &&
		grep -E "RuntimeWarning: debkit: $1" "$work/out"
}
try() { # a short call: one kernel of the store
	gpu "$first" "$python" -c 'import warnings, torch, json
from fla.ops.gated_delta_rule import fused_recurrent_gated_delta_rule as f
def z(*s, t=torch.bfloat16): return torch.zeros(1, 1, *s, dtype=t, device="cuda")
with torch.no_grad():
    f(z(16, 128), z(16, 128), z(32, 128), g=z(32, t=torch.float32), beta=z(32),
      use_qk_l2norm_in_kernel=True, output_final_state=True)
import debkit_triton; print(json.dumps(debkit_triton.stats()))'
}

ok "torch, Triton, FLA and transformers" fla_wheels
ok "the packages of FLA" fla_debs "$work/debs" test
rm -r "$work/debs/work" # what a build kept must outlive its folder
ok "the same environment from whole wheels" make_site "$fla/site"
for arch in $archs; do
	ok "sm_$arch: the kernels by hand, out of what the build kept" \
		compile "$arch" test "$profiles" "$work/test-$arch.kernels" --verbose
	cp "$work/.said" "$work/said-$arch"
	ok "sm_$arch: none is compiled again" grep ' kernels, 0 compiled now' "$work/said-$arch"
done
[[ " $archs " != *" 90 "* ]] ||
	ok "sm_90: FLA refuses the backward pass in its own words; the rest is there" \
		grep "profile 'test', sm_90: backward 16/32 bf16 refused: .*Hopper" "$work/said-90"
refused() { compile "$first" refused "$profiles" "$work/refused.kernels" 2>&1 | grep "$@"; }
ok "a shape that FLA refuses: the profile and FLA's message" \
	refused -E "profile 'refused', sm_$first: prefill 16/16 bf16 refused: .*256"
unknown() { (triton=4.0.0 && compile "$first" test "$profiles" "$work/x") 2>&1 | grep -x "$@"; }
ok "a release of Triton that is not known is refused" \
	unknown "compile.py: error: triton 4.0.0: not one of the releases that debkit knows (.*)"
ok "what it did not refuse goes into a store" merge "$work/refused.tar" "$work"/*.kernels
ok "the store" merge "$work/store.tar" "$work"/test-*.kernels
again() {
	mkdir "$work/again" && cp "$work"/test-*.kernels "$work/again" && cd "$work/again" &&
		merge again.tar ./*.kernels && cmp again.tar "$work/store.tar"
}
ok "same inputs, same bytes, from another folder" again
mkdir "$work/store" && tar -xf "$work/store.tar" -C "$work/store"
ok "the package holds the same kernels" sh -c "dpkg-deb -x '$work'/debs/*-cu128_*_amd64.deb '$work/x' &&
	for arch in $archs; do
		cmp '$work'/x/usr/lib/*/debkit/*/cu128/triton-$triton/sm_\$arch.pack '$work'/store/*/sm_\$arch.pack || exit
	done"
ok "the store names no path of the build" sh -c "! grep -rlaE '$work|$fla|$top' '$work/store'"
needed() {
	readelf -dW "$work"/store/*/stubs/*.so | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort -u |
		tr '\n' ' '
}
ok "shared objects need the driver and libc alone" test "$(needed)" = "libc.so.6 libcuda.so.1 "

ok "a clean Debian 12 root" make_root bookworm "$root"
ok "torch without any library of NVIDIA's, and the stub GPU" lay_torch "$root"
ok "causal-conv1d" conv_debs "$work/debs"
ok "apt-get install of all packages" install_debs "$root" "$work/debs"
ok "no compiler in the root" no_compiler "$root"
nothing() {
	! find "$root"/usr/{bin,sbin,include,local} \
		-name Python.h -o -name gcc -o -name cc -o -name file | grep .
}
ok "no gcc, cc, Python.h or file either" nothing
ok "debkit enable" "$DEBKIT" enable --venv "$root/venv"
chmod -R a-w "$root/usr/lib/debkit" "$root/usr/lib/x86_64-linux-gnu/debkit"

for arch in $archs; do
	clean_home
	ok "sm_$arch: forward, 1 to 256k tokens" \
		traced $arch $python /tests/calls.py forward 1 77 5000 262144
	ok "sm_$arch: nothing is compiled" says compiles=0 misses=0 stub_misses=0
	ok "sm_$arch: nothing runs but ptxas --version and ldconfig" only_harmless
	ok "sm_$arch: every kernel is launched" launched $forward
	ok "sm_$arch: fp16" traced $arch $python /tests/calls.py forward 1 5000 --type fp16
	ok "sm_$arch: nothing is compiled for fp16" says compiles=0 misses=0 stub_misses=0
	ok "sm_$arch: keys repeated to 32 heads" traced $arch $python /tests/calls.py fresh 77 --heads 32/32
	ok "sm_$arch: nothing is compiled for them" says compiles=0 misses=0 stub_misses=0
	ok "sm_$arch: packed sequences" traced $arch $python /tests/calls.py varlen 77 5000
	ok "sm_$arch: nothing is compiled for packed sequences" says compiles=0 misses=0 stub_misses=0
	ok "sm_$arch: and nothing runs but that" only_harmless
	if [ $arch != 90 ]; then
		ok "sm_$arch: backward" traced $arch $python /tests/calls.py backward 77 5000
		ok "sm_$arch: nothing is compiled for it" says compiles=0 misses=0 stub_misses=0
		ok "sm_$arch: and nothing runs" only_harmless
	fi
	for version in 5.2.0 new; do
		gpu_env="PYTHONPATH=/tests/transformers-$version"
		ok "sm_$arch: a Qwen3.5 model, transformers $version" traced $arch $python /tests/model.py
		ok "sm_$arch: nothing is compiled, transformers $version" says compiled=[] misses=0
		ok "sm_$arch: both are bound, transformers $version" says chunk_gated_delta_rule=fla \
			recurrent_gated_delta_rule=fla causal_conv1d_fn=causal_conv1d \
			causal_conv1d_update=causal_conv1d is_flash_linear_attention_available=True \
			is_causal_conv1d_available=True
		ok "sm_$arch: it ran FLA's kernels" grep -q 'LAUNCH chunk_gated_delta_rule_fwd_kernel_h' \
			"$root/tmp/gpu.log"
		gpu_env=
	done
done

# What is the same on every GPU: one call that needs one kernel.
hit='^debkit-triton: hit: fused_recurrent_gated_delta_rule_fwd_kernel .*H=16 HV=32'
ok "one call with DEBKIT_TRITON_DEBUG=1" with DEBKIT_TRITON_DEBUG=1 try
ok "prints the hit and its constants" grep -E "$hit" "$work/out"
ok "a GPU that has no kernels" with "STUB_GPU_CC=7.5 DEBKIT_TRITON_DEBUG=1" try
ok "the miss and its reason" \
	grep -E 'miss: .*: there are no kernels for sm_75, but for sm_' "$work/out"
ok "Triton compiled it" says hits=0 misses=1 stub_misses=0
other_arch() {
	gpu 75 $python -c 'import ctypes, debkit_triton.overlay as o
store = o.Store(o.folders()[0] + "/triton-'$triton'")
cubin = store.kernel(store.archs[0], 0).cubin
print(ctypes.CDLL("libcuda.so.1").cuModuleLoadData(ctypes.byref(ctypes.c_void_p()), cubin))' &&
		[ "$(cat "$work/out")" = 209 ] && grep -x "LOAD refused: sm_$first on sm_75" "$root/tmp/gpu.log"
}
ok "the cubin of another arch is refused as on a GPU" other_arch

clean_home
gpu "$first" $python /tests/calls.py forward 77
ok "the choice of configurations is remembered" \
	sh -c "test \$(find '$root$home/.triton' -name '*.autotune.json' | wc -l) -ge 6"
ok "nothing else is in the user's cache" only_choices
before=$(grep -c '^LAUNCH' "$root/tmp/gpu.log")
gpu "$first" $python /tests/calls.py forward 77
after=$(grep -c '^LAUNCH' "$root/tmp/gpu.log")
ok "so the next process tries none ($before launches, then $after)" test "$after" -lt 30

gpu "$first" $python /tests/tuning.py
ok "FLA's configurations are measured for less time, and no others" \
	grep -x "fla {'warmup': 10, 'rep': 40} own None" "$work/out"

ok "with an unwritable home" with HOME=/proc try
ok "all from the store" says hits=1 misses=0
ok "with HOME=/" with HOME=/ try
ok "all from the store, too" says hits=1 misses=0
ok "in a root that is read-only, with a noexec /tmp" \
	gpu_under sealed "$first" $python /tests/calls.py forward 77
ok "all from the store again" says compiles=0 misses=0 stub_misses=0
many() {
	local i pids=()
	clean_home
	for i in 1 2 3 4; do
		on_gpu "$first" "$root" $python /tests/calls.py forward 77 >"$work/out.$i" 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || return; done
	for i in 1 2 3 4; do
		cp "$work/out.$i" "$work/out" && says compiles=0 misses=0 stub_misses=0 || return
	done
}
ok "four processes at once" many

# Trouble: one warning, then Triton's ordinary way. The compiler of kernels is part of Triton.
chmod -R u+w "$root/usr/lib/x86_64-linux-gnu/debkit"
store=$(echo "$root"/usr/lib/x86_64-linux-gnu/debkit/flash-linear-attention/cu128/triton-$triton)
damage() { # FILE: one byte in its middle is another
	cp "$store/$1" "$work/whole" && python3 - "$store/$1" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[len(data) // 2] ^= 1
open(sys.argv[1], "wb").write(data)
END
}
repair() { cp "$work/whole" "$store/$1"; }
for file in sm_$first.cp311.keys sm_$first.index; do
	damage $file
	clean_home
	ok "a damaged $file: the call works" try
	ok "with one warning" warns "the kernels in .* are damaged \\('$file'\\); .* Install .* again"
	ok "and the kernel was compiled" says hits=0 misses=1
	repair $file
done
cp "$store/sm_$first.pack" "$work/whole"
python3 -c 'import os, sys; open(sys.argv[1], "r+b").write(bytes(os.path.getsize(sys.argv[1])))' \
	"$store/sm_$first.pack"
clean_home
ok "a damaged pack: the call works" try
ok "with one warning, too" warns "the kernels in .* are damaged \\('sm_$first.pack'\\)"
ok "and the kernel was compiled, too" says hits=0 misses=1
repair sm_$first.pack
no_gcc() { ! try >/dev/null && grep -q 'Failed to find C compiler' "$work/out"; }
cp "$store/manifest" "$work/whole"
echo nonsense >"$store/manifest"
ok "a damaged manifest: the ordinary way, for which the root has no compiler" no_gcc
ok "one warning says what is wrong" warns "'.*/manifest' is damaged"
repair manifest
mv "$store" "${store%/*}/triton-3.5.1"
ok "kernels for other releases of Triton alone: the ordinary way" no_gcc
ok "one warning names the releases" \
	warns "the prebuilt kernels are for Triton 3.5.1, and this is Triton $triton"
mv "${store%/*}/triton-3.5.1" "$store"
ok "DEBKIT_TRITON=0 leaves Triton alone" with DEBKIT_TRITON=0 no_gcc
ok "it works again" try

# The key for a Python that is not installed here follows from the RECORD of its wheel.
wheel() {
	[ -f "$fla/triton-cp313.whl" ] || {
		python3 -m pip download -q --no-deps --python-version 3.13 --only-binary=:all: \
			-d "$fla/cp313" triton==$triton && mv "$fla"/cp313/*.whl "$fla/triton-cp313.whl"
	}
}
ok "the wheel of Triton for Python 3.13" wheel
umount_root
ok "a clean Debian 13 root" make_root trixie "$work/root13"
key13() {
	mkdir "$work/root13/w" && python3 -m zipfile -e "$fla/triton-cp313.whl" "$work/root13/w" || return
	in_root "$work/root13" env PYTHONPATH=/w python3.13 -c \
		'from triton.runtime.cache import triton_key; print(triton_key())' >"$work/real" || return
	PYTHONPATH=$kernels python3 -c "import versions; print(versions.triton_key('$triton', \
versions.read_record('$work/root13/w/triton-$triton.dist-info/RECORD')))" >"$work/computed"
	cmp "$work/real" "$work/computed" && grep -q "^$triton" "$work/real"
}
ok "the computed key is that of a real Python 3.13" key13
done_testing
