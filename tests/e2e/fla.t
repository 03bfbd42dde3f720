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

# gpu ARCH COMMAND...: on the stub GPU in the root; what it prints is in $work/out, the programs that
# were started in $work/trace and what the GPU saw in $root/tmp/gpu.log.
gpu() {
	rm -f "$root/tmp/gpu.log"
	on_gpu "$1" "$root" "${@:2}" >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
}

# traced ARCH COMMAND...: the same under strace.
traced() {
	rm -f "$root/tmp/gpu.log"
	on_gpu_with "strace -f -qq -e trace=execve -o $work/trace" "$1" "$root" "${@:2}" >"$work/out" 2>&1 ||
		{ cat "$work/out"; return 1; }
}

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

# The programs that ran, without Python itself: ldconfig and ptxas --version may be among them.
only_harmless() {
	grep -a 'execve("' "$work/trace" | grep -av 'ENOENT' | tail -n +2 >"$work/ran"
	! grep -vE 'execve\("(/usr)?/bin/env"|execve\("/venv/bin/python"|/ldconfig", \[.*"-p"\]|/ptxas[^"]*", \[.*"--version"\]' \
		"$work/ran"
}

# launched NAME...: exactly these kernels of Triton ran on the GPU, each out of a cubin.
launched() {
	sed -n 's/^LAUNCH \([^ ]*\) .*/\1/p' "$root/tmp/gpu.log" | sort -u >"$work/launched"
	printf '%s\n' "$@" | sort | diff - "$work/launched" && ! grep refused "$root/tmp/gpu.log"
}
forward="chunk_fwd_kernel_o chunk_gated_delta_rule_fwd_kernel_h_blockdim64
	chunk_gated_delta_rule_fwd_kkt_solve_kernel chunk_local_cumsum_scalar_kernel
	fused_recurrent_gated_delta_rule_fwd_kernel l2norm_fwd_kernel layer_norm_gated_fwd_kernel
	recompute_w_u_fwd_kernel"

clean_home() { rm -rf "$root/root/.triton"; }
warns() { [ "$(grep -c 'RuntimeWarning: debkit:' "$work/out")" = 1 ] && grep -E "RuntimeWarning: debkit: $1" "$work/out"; }
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
ok "the build's environment" make_site "$fla/site"
for arch in $archs; do
	ok "sm_$arch: compile the kernels" compile "$arch" test "$profiles" "$work/test-$arch.kernels"
	cp "$work/.said" "$work/said-$arch"
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
ok "the others go on: the store" merge "$work/store.tar" "$work"/*.kernels
again() {
	mkdir "$work/again" && cp "$work"/*.kernels "$work/again" && cd "$work/again" &&
		merge again.tar ./*.kernels && cmp again.tar "$work/store.tar"
}
ok "same inputs, same bytes, from another folder" again
twice() { compile "$first" test "$profiles" "$work/twice" --verbose | grep ' kernels, 0 compiled now'; }
ok "another run compiles nothing" twice
ok "and makes the same bytes" cmp "$work/twice" "$work/test-$first.kernels"
mkdir "$work/store" && tar -xf "$work/store.tar" -C "$work/store"
ok "the store names no path of the build" sh -c "! grep -rlaE '$work|$fla|$top' '$work/store'"
needed() { readelf -dW "$work"/store/*/stubs/*.so | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort -u | tr '\n' ' '; }
ok "shared objects need the driver and libc alone" test "$(needed)" = "libc.so.6 libcuda.so.1 "

ok "a clean Debian 12 root" make_root bookworm "$root"
ok "torch without any library of NVIDIA's, and the stub GPU" lay_torch "$root"
ok "the files of the packages" lay_out "$root" "$work/store.tar"
ok "no compiler in the root" no_compiler "$root"
nothing() { ! find "$root"/usr/{bin,sbin,include,local} -name Python.h -o -name gcc -o -name cc -o -name file | grep .; }
ok "no gcc, cc, Python.h or file either" nothing
ok "debkit enable" "$DEBKIT" enable --venv "$root/venv"
chmod -R a-w "$root/usr/lib/debkit" "$root/usr/lib/x86_64-linux-gnu/debkit"

for arch in $archs; do
	clean_home
	ok "sm_$arch: forward, 1 to 256k tokens" traced $arch $python /tests/calls.py forward 1 77 5000 262144
	ok "sm_$arch: nothing is compiled" says compiles=0 misses=0 stub_misses=0
	ok "sm_$arch: nothing runs but ptxas --version and ldconfig" only_harmless
	ok "sm_$arch: every kernel is launched" launched $forward
	if [ $arch != 90 ]; then
		ok "sm_$arch: backward" traced $arch $python /tests/calls.py backward 77 5000
		ok "sm_$arch: nothing is compiled for it" says compiles=0 misses=0 stub_misses=0
		ok "sm_$arch: and nothing runs" only_harmless
	fi
	for version in 5.2.0 new; do
		gpu_env="PYTHONPATH=/tests/transformers-$version"
		ok "sm_$arch: a Qwen3.5 model, transformers $version" traced $arch $python /tests/model.py
		ok "sm_$arch: nothing is compiled, transformers $version" says compiled=[] misses=0
		ok "sm_$arch: it ran FLA's kernels" grep -q 'LAUNCH chunk_gated_delta_rule_fwd_kernel_h' \
			"$root/tmp/gpu.log"
		gpu_env=
	done
done
done_testing
