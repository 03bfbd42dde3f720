#!/bin/bash
# The whole story: a repository made by debkit, a clean Debian 12 root without any compiler, apt,
# and a real torch 2.10.0+cu128. TORCH_SITE may name a folder with that torch installed in it.
. "$(dirname "$0")/lib.sh"
. "$top/tests/e2e/root.sh"

test_key
out=$work/out
url_port

ok "build for torch 2.10, Python 3.11 and arch 9.0" \
	"$DEBKIT" build --cuda 12.8 --torch 2.10 --python 3.11 --arch 9.0 --sign-key "$fpr" \
	--repo-url "$url" --out "$out"
ok "publish" sh -c "'$DEBKIT' publish --repo '$out/repo' --suite stable --url '$url' \
	--sign-key '$fpr' '$out'/*.deb"
serve "$out/repo"

ok "a clean Debian 12 root with python3, apt and ca-certificates" make_root bookworm "$work/root"
ok "there is no compiler in it" no_compiler "$work/root"
ok "one download configures the source" \
	in_root "$work/root" /usr/lib/apt/apt-helper download-file "$url/debkit.sources" \
	/etc/apt/sources.list.d/debkit.sources
ok "apt-get update" in_root "$work/root" apt-get -o Acquire::Languages=none update
ok "apt-get install python3-causal-conv1d-cu128" \
	in_root "$work/root" apt-get install -y --no-install-recommends python3-causal-conv1d-cu128
ok "the provider of cuda-cudart-12-8 came with it" \
	in_root "$work/root" dpkg-query -W debkit-cudart-12-8
ok "still no compiler in it" no_compiler "$work/root"
ok "dpkg finds every file as packed" in_root "$work/root" dpkg --verify
ok "without torch: one sentence" import_says "$work/root" /usr/bin/python3 'torch'

site=$work/root/venv/lib/python3.11/site-packages
ok "a venv in the root" in_root "$work/root" python3 -m venv --without-pip /venv
ok "debkit enable makes it see the packages" "$DEBKIT" enable --venv "$work/root/venv"

mkdir -p "$site/torch-2.6.0.dist-info"
printf 'Metadata-Version: 2.1\nName: torch\nVersion: 2.6.0\n' >"$site/torch-2.6.0.dist-info/METADATA"
ok "with torch 2.6.0: the selector's sentence" \
	import_says "$work/root" /venv/bin/python '2\.6.*(cu128|12\.8).*2\.10'
rm -r "$site/torch-2.6.0.dist-info"

ok "torch 2.10.0+cu128 in the venv" install_torch 2.10.0 "$site"
ok "import torch, causal_conv1d" in_root "$work/root" /venv/bin/python -c \
	'import torch, causal_conv1d, causal_conv1d_cuda; assert torch.version.cuda == "12.8"
print(torch.__version__, causal_conv1d_cuda.__file__)'
sed 's/^/# /' "$work/.said"
ok "a CPU tensor is refused by torch's own check" in_root "$work/root" /venv/bin/python -c '
import torch, causal_conv1d_cuda
x = torch.zeros(1, 8, 8)
try:
    causal_conv1d_cuda.causal_conv1d_fwd(x, torch.zeros(8, 4), None, None, None, x, None, True)
except RuntimeError as e:
    assert "is_cuda()" in str(e), e
else:
    raise SystemExit("no error")'
ok "debkit disable takes it out" "$DEBKIT" disable --venv "$work/root/venv"
ok "then the venv does not see the packages" import_says "$work/root" /venv/bin/python \
	"No module named 'causal_conv1d_cuda'"
ok "remove leaves nothing behind" in_root "$work/root" sh -c \
	'apt-get purge -y python3-causal-conv1d debkit-cudart-12-8 && ! find /usr/lib -path "*debkit*" | grep .'
done_testing
