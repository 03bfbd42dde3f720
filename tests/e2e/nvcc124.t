#!/bin/bash
# A real nvcc 12: Debian 13's non-free one (12.4), in packages of NVIDIA's names and layout, fetched
# by debkit toolchain from a signed flat repository, then used for a pair that is not in the matrix:
# torch 2.6 for CUDA 12.4, whose files debkit lock pins. The slow source is a stand-in.
. "$(dirname "$0")/lib.sh"
. "$top/tests/e2e/root.sh"
unset SOURCE_DATE_EPOCH
cache=${DEBKIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/debkit}

# debian13 COMMAND...: apt-get with the non-free part of Debian 13 alone, from this machine's mirror.
debian13() {
	apt-get -q -o Dir::Etc::SourceList="$work/sources" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/apt" -o APT::Sandbox::User=root \
		-o Acquire::Languages=none "$@"
}
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' |
	grep -v security | head -n 1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie non-free" \
	>"$work/sources"
mkdir -p "$work/lists/partial" "$work/apt/archives/partial" "$work/debs"
ok "Debian 13's non-free index" debian13 update
cd "$work/debs"
ok "its nvcc" debian13 download nvidia-cuda-toolkit libnvvm4
cd "$top"
for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/x"; done

# NVIDIA's layout and names.
home=$work/nvcc/usr/local/cuda-12.4
debian=$work/x/usr/lib/nvidia-cuda-toolkit
mkdir -p "$home/bin" "$home/nvvm/bin" "$work/nvcc/DEBIAN" "$work/dev/DEBIAN" "$work/flat"
mv "$debian/bin/nvcc" "$debian/bin/crt" "$work"/x/usr/bin/{ptxas,fatbinary,cudafe++,nvlink,bin2c} "$home/bin/"
mv "$debian/bin/cicc" "$home/nvvm/bin/"
mv "$debian/libdevice" "$home/nvvm/"
cat >"$home/bin/nvcc.profile" <<'END'
TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
END
control() { # control NAME VERSION
	printf 'Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: nobody\nDescription: test\n' "$@"
}
control cuda-nvcc-12-4 12.4.131-1 >"$work/nvcc/DEBIAN/control"
control cuda-cudart-dev-12-4 12.4.127-1 >"$work/dev/DEBIAN/control"
for part in nvcc dev; do
	dpkg-deb -Zgzip -z1 --root-owner-group -b "$work/$part" "$work/flat" >"$work/.said"
done
test_key
(cd "$work/flat" && apt-ftparchive packages . | gzip >Packages.gz && : >Packages && apt-ftparchive \
	-o APT::FTPArchive::Release::Origin=test release . >"$work/Release" && rm Packages) &&
	gpg -q --batch -u "$fpr" --clearsign -o "$work/flat/InRelease" "$work/Release"
gpg -q --export "$fpr" >"$work/flat/cuda-archive-keyring.gpg"
url_port
serve "$work/flat"

link_cache "$cache" "$work/cache" file src sdk part toolkit abi python
cp -r "$top/templates" "$work/templates"
for file in toolkits matrix; do cat "$top/tests/data/cu124/$file" >>"$work/templates/$file"; done
export DEBKIT_CACHE=$work/cache DEBKIT_TEMPLATES=$work/templates
ok "debkit lock pins the files of a pair that is added" "$DEBKIT" lock --cuda 12.4
ok "torch 2.6.0 among them" grep -q '^File: torch-2\.6\.0-cp311-.*x86_64' "$work/templates/lock"
ok "debkit toolchain fetches that nvcc" "$DEBKIT" toolchain --cuda 12.4 --repo "$url" --key "$fpr"
ls "$work"/cache/src/causal-conv1d-*/csrc/causal_conv1d_bwd.cu >/dev/null 2>&1 ||
	hide_nvcc "$DEBKIT" build --cuda 12.4 --arch 9.0 --launcher false --unsigned --out "$work/fetch" \
		>"$work/.said" 2>&1
quick_source "$work/cache" "$work/templates"

# torch 2.6 for CUDA 12.4 was built with the string ABI of before C++11.
export DEB_CPPFLAGS_APPEND=-D_GLIBCXX_USE_CXX11_ABI=0
ok "build for torch 2.6 with nvcc 12.4" hide_nvcc "$DEBKIT" build --cuda 12.4 --python 3.11 \
	--arch 8.0,9.0 --unsigned --out "$work/out"
flavour=$work/out/python3-causal-conv1d-cu124_1.7.0-1_amd64.deb
field() { dpkg-deb -f "$flavour" "$1"; }
ok "the package names that compiler" sh -c "dpkg-deb -f '$flavour' Debkit-Compiler | grep -q '^nvcc 12\.4\.131'"
ok "and the archs of its binary" [ "$(field Debkit-Cuda-Archs)" = '8.0 9.0 9.0+PTX' ]
ok "and the torch whose symbols it needs" [ "$(field Debkit-Torch)" = 2.6 ]
ok "it depends on that CUDA runtime" sh -c "dpkg-deb -f '$flavour' Depends | grep -q cuda-cudart-12-4"
dpkg-deb -x "$flavour" "$work/deb"
"$work"/x/usr/bin/cuobjdump --list-elf \
	"$(find "$work/deb" -name 'libcausal_conv1d_cu124.so.1')" >"$work/elf" 2>"$work/.said"
ok "cuobjdump of CUDA 12.4 finds its cubins" \
	[ "$(grep -oE 'sm_[0-9]+' "$work/elf" | sort -u | xargs)" = 'sm_80 sm_90' ]
done_testing
