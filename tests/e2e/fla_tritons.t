#!/bin/bash
# The kernels of every Triton that the recipe names, each used by that Triton itself: in one clean
# Debian 12 root without a compiler, under the stub GPU. One small profile; torch is 2.10.0
# throughout, as for the build. tests/e2e/fla.t asks more of one Triton.
. "$(dirname "$0")/lib.sh"
. "$top/tests/e2e/root.sh"
. "$top/tests/e2e/fla.sh"
trap 'umount_root; cleanup' EXIT
root=$work/root profiles=$top/tests/data/fla/profiles
site=$root/venv/lib/python3.11/site-packages
tritons=$(sed -n 's/^Tritons: //p' "$top/templates/flash-linear-attention/recipe")

ok "torch, Triton, FLA and transformers" fla_wheels
for pair in "12.8 2.9,2.10" "13.0 2.12,2.14" "13.2 2.15"; do
	ok "the packages for CUDA ${pair% *}" fla_debs "$work/debs" small $pair
done
ok "they hold kernels for every Triton of the recipe" test "$(for deb in "$work"/debs/*-cu1*_amd64.deb; do
	dpkg-deb -f "$deb" Debkit-Triton | tr ' ' '\n'
done | sort -u | paste -sd' ')" = "$tritons"

rm "$work"/debs/python3-gated-deltanet-* # it wants causal-conv1d, too
ok "a clean Debian 12 root" make_root bookworm "$root"
ok "torch without any library of NVIDIA's, and the stub GPU" lay_torch "$root"
ok "apt-get install of all packages, side by side" install_debs "$root" "$work/debs"
ok "no compiler in the root" no_compiler "$root"
ok "debkit enable" "$DEBKIT" enable --venv "$root/venv"

# with_triton VERSION: in the root, in place of the one that is there.
with_triton() {
	install "$fla/triton-$1" --no-deps "triton==$1" && rm -rf "$site"/triton* && clean_home &&
		cp -al "$fla/triton-$1"/triton* "$site/"
}
decode() { # decode [PROGRAM]: under it, if it is named
	gpu_under "${1:-}" "${archs%% *}" /venv/bin/python /tests/calls.py decode 1 && all_stored 2
}
for version in $tritons; do
	ok "Triton $version" with_triton "$version"
	ok "Triton $version compiles nothing" decode
	ok "nothing is refused by the GPU" sh -c "grep -q '^LAUNCH fused_recurrent' '$root/tmp/gpu.log' &&
		! grep refused '$root/tmp/gpu.log'"
	ok "the user's cache gets no more than choices of configurations" only_choices
	ok "all the same where nothing can be written or executed" decode sealed
done
done_testing
