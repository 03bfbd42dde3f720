#!/bin/bash
# CUDA 13.0 with nvcc from wheels, whole: the package of one binding, made from the headers of torch
# 2.11, in a clean root without a compiler; torch 2.11.0 imports it, and so does torch 2.12.1, which
# the package claims without a binding of its own.
. "$(dirname "$0")/lib.sh"
. "$top/tests/e2e/root.sh"
trap 'umount_root; cleanup' EXIT

ok "build for torch 2.11, Python 3.11 and arch 9.0 where no CUDA toolkit is installed" \
	hide_nvcc "$DEBKIT" build --cuda 13.0 --torch 2.11 --python 3.11 --arch 9.0 --unsigned \
	--out "$work/out"
flavour=$work/out/python3-causal-conv1d-cu130_1.7.0-1_amd64.deb
field() { dpkg-deb -f "$flavour" "$1"; }
ok "nvcc made it" sh -c "dpkg-deb -f '$flavour' Debkit-Compiler | grep -q '^nvcc 13\.0'"
ok "for that arch, with PTX" [ "$(field Debkit-Cuda-Archs)" = '9.0 9.0+PTX' ]
ok "it claims the torches whose libraries have every symbol" [ "$(field Debkit-Torch)" = '2.11 2.12' ]
ok "debkit verify reads the same from its binaries" "$DEBKIT" verify --unsigned-ok "$flavour"

ok "a clean Debian 12 root" make_root bookworm "$work/root"
cp "$work"/out/*.deb "$work/root/tmp/"
ok "apt-get update" in_root "$work/root" apt-get -o Acquire::Languages=none update
ok "apt-get install" in_root "$work/root" sh -c \
	'apt-get install -y --no-install-recommends /tmp/python3-*.deb /tmp/debkit-cudart-*.deb'
ok "no compiler came with it" no_compiler "$work/root"
for torch in 2.11.0 2.12.1; do
	venv=$work/root/torch-$torch
	ok "a venv" in_root "$work/root" python3 -m venv --without-pip "/torch-$torch"
	ok "debkit enable" "$DEBKIT" enable --venv "$venv"
	ok "torch $torch" install_torch $torch "$venv/lib/python3.11/site-packages"
	ok "torch $torch imports the binding of 2.11" in_root "$work/root" "/torch-$torch/bin/python" -c "
import torch, causal_conv1d, causal_conv1d_cuda
assert torch.version.cuda == '13.0' and torch.__version__.startswith('$torch'), torch.__version__
assert causal_conv1d_cuda.__file__.endswith('torch2.11-cp311.so'), causal_conv1d_cuda.__file__
x = torch.zeros(1, 8, 8)
try:
    causal_conv1d_cuda.causal_conv1d_fwd(x, torch.zeros(8, 4), None, None, None, x, None, True)
except RuntimeError as e:
    assert 'is_cuda()' in str(e), e
else:
    raise SystemExit('no error')"
	rm -rf "$venv"
done
done_testing
