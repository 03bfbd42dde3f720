#!/bin/bash
# Whether finished packages of FLA leave nothing to compile: every GPU arch and profile in them, in a
# clean root without a compiler, under the stub GPU, by a real torch 2.10.0 and Triton 3.6.0.
#   make check-fla DEBS=DIR [FLA_ARCHS="90 120"]
# DIR holds what `debkit build --recipe flash-linear-attention --cuda 12.8` and the same for
# causal-conv1d made: hours of CPU time, so `make check` takes one small profile (tests/e2e/fla.t).
. "$(dirname "$0")/e2e/lib.sh"
. "$top/tests/e2e/root.sh"
. "$top/tests/e2e/fla.sh"
trap 'umount_root; cleanup' EXIT
root=$work/root
kernels_deb=$(ls "${DEBS:?name the folder of the packages}"/python3-flash-linear-attention-cu128_*.deb) || exit
field() { dpkg-deb -f "$kernels_deb" "$1"; }
[ -n "${FLA_ARCHS:-}" ] || archs=$(field Debkit-Cuda-Archs | tr -d .)

# heads PROFILE: its numbers of key and value heads.
heads() {
	sed -n "/^Profile: $1\$/,/^\$/s/^Heads: //p" "$top/templates/flash-linear-attention/profiles"
}

# calls ARGUMENT...: in a process of its own; nothing may be compiled, and no program may run but
# ptxas --version and ldconfig.
calls() {
	traced "$arch" /venv/bin/python /tests/calls.py "$@" && only_harmless && all_stored 1
}

# model TRANSFORMERS: a random Qwen3.5 of these heads.
model() {
	with "PYTHONPATH=/tests/transformers-$1 HEADS=$heads" \
		traced "$arch" /venv/bin/python /tests/model.py && only_harmless &&
		says compiled=[] misses=0 stub_misses=0 chunk_gated_delta_rule=fla \
			recurrent_gated_delta_rule=fla causal_conv1d_fn=causal_conv1d
}

ok "torch, Triton, FLA and transformers" fla_wheels
ok "a clean Debian 12 root" make_root bookworm "$root"
ok "torch without any library of NVIDIA's, and the stub GPU" lay_torch "$root"
ok "apt-get install of all packages" install_debs "$root" "$DEBS"
ok "no compiler in the root" no_compiler "$root"
ok "debkit enable" "$DEBKIT" enable --venv "$root/venv"
for arch in $archs; do
	for profile in $(field Debkit-Profiles); do
		heads=$(heads "$profile") name="sm_$arch $profile"
		for type in bf16 fp16; do
			ok "$name: $type, 1 to 256k tokens" \
				calls forward 1 77 5000 262144 --heads $heads --type $type
			ok "$name: $type, batches up to 64" \
				calls forward 77 --heads $heads --type $type --batch 2 3 17 64
			ok "$name: $type, keys repeated" \
				calls fresh 1 77 5000 --heads ${heads#*/}/${heads#*/} --type $type
		done
		for version in 5.2.0 new; do
			ok "$name: a Qwen3.5 model, transformers $version" model $version
		done
		ok "$name: packed sequences" calls varlen 77 5000 --heads $heads
		[ "$arch" != 90 ] || continue # FLA refuses the backward pass there
		ok "$name: backward" calls backward 77 5000 --heads $heads --batch 1 2 4 8 16 32 64
		ok "$name: backward of packed sequences" calls varlen_backward 77 5000 --heads $heads
	done
done
done_testing
