#!/bin/bash
# One tar for a machine without a network: installed in a clean Debian 12 root in a network namespace
# that has no interface, by apt, with no network call.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
. "$(dirname "$0")/root.sh"
cd "$work" || exit 1
trap 'umount_root; cleanup' EXIT
test_key
repo=$work/repo root=$work/root
flavour() { # FILE NAME VERSION CUDA TORCH ARCHS DEPENDS
	make_deb "$1" "$2" "$3" amd64 "Section: misc
Depends: python3-demo (= $3), $7, libc6 (>= 2.32)
Debkit-Cuda: $4
Debkit-Torch: $5
Debkit-Python: 3.11 3.12
Debkit-Cuda-Archs: $6"
}
for v in 1 2; do
	make_deb debs/p$v.deb python3-demo $v all
	flavour debs/f$v.deb python3-demo-cu128 $v 12.8 "2.9 2.10" "9.0 12.0 12.0+PTX" cuda-cudart-12-8
done
flavour debs/g.deb python3-demo-cu130 2 13.0 "2.12" "9.0" cuda-cudart-13-0
make_deb debs/c.deb debkit-cudart-12-8 12.8.90-1 amd64 "Section: misc
Provides: cuda-cudart-12-8 (= 12.8.90)"
make_deb debs/u.deb unrelated 1 all
printf 'Format: 1.0\nChecksums-Sha256:\n %s\n' "$(sha256sum debs/f2.deb | cut -c1-64)" >debs/f2.buildinfo
ok "publish" "$DEBKIT" publish --repo "$repo" --suite stable --sign-key "$fpr" --unsigned-ok debs
bundle() { "$DEBKIT" bundle --repo "$repo" --suite stable "$@"; }
ok "bundle" bundle --for debian12,torch2.10,py3.11,sm_120 --out box.tar
cp .said said
ok "it holds what is needed, and no more" sh -c "tar -tf box.tar | grep '\.deb$' | sed 's,.*/,,' | sort | tr '\n' ' ' |
	grep -qx 'debkit-cudart-12-8_12.8.90-1_amd64.deb python3-demo-cu128_2_amd64.deb python3-demo_2_all.deb '"
ok "its papers too" sh -c "tar -tf box.tar | grep -q 'python3-demo-cu128_2_amd64.buildinfo'"
ok "all below one folder" sh -c "! tar -tf box.tar | grep -v '^box/'"
ok "the same bytes again" sh -c "cp box.tar first && mkdir two && '$DEBKIT' bundle --repo '$repo' --suite stable \
	--for debian12,torch2.10,py3.11,sm_120 --out two/box.tar && cmp first two/box.tar"
ok "the script has ten lines or so" sh -c "tar -xf box.tar && [ \$(wc -l <box/install.sh) -le 12 ] && sh -n box/install.sh"
sed 's/^/# /' box/install.sh
ok "nothing is left beside the tar" test "$(ls -d box.tar*)" = box.tar

ok "a clean Debian 12 root" make_root bookworm "$root"
rm -rf "$root"/var/lib/apt/lists/*
cp box.tar "$root/root/"
ls -R "$root/etc/apt" >before
cat >"$root/root/go" <<'Y'
cd /root && tar -xf box.tar && [ "$(ls /sys/class/net 2>/dev/null)" = "" ] && ! grep -q : /proc/net/route && box/install.sh
Y
offline() { unshare -n env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
	DEBIAN_FRONTEND=noninteractive strace -f -o "$work/calls" -e trace=socket,connect chroot "$root" "$@"; }
ok "install.sh, with no network at all" offline sh -e /root/go
ok "no network call was made" sh -c "[ -s calls ] && ! grep -E 'AF_INET' calls"
ok "the packages are installed" in_root "$root" dpkg-query -W python3-demo-cu128 python3-demo debkit-cudart-12-8
ok "apt is configured as it was" eval 'ls -R "$root/etc/apt" | cmp before -'

# What is changed on the way is refused.
mkdir -p "$root/root/bad" && tar -xf box.tar -C "$root/root/bad"
echo x >>"$(ls "$root"/root/bad/box/repo/pool/main/p/python3-demo/*.deb | head -1)"
ok "a damaged package is refused" sh -c "! unshare -n chroot '$root' /root/bad/box/install.sh >bad.log 2>&1 &&
	grep -q 'FAILED' bad.log"
ok "and with new checksums too: apt knows the signed ones" sh -c "
	unshare -n chroot '$root' dpkg -P python3-demo-cu128 python3-demo >/dev/null &&
	cd '$root/root/bad/box' && find . -type f ! -name SHA256SUMS -printf '%P\n' | xargs sha256sum >SHA256SUMS &&
	! unshare -n chroot '$root' /root/bad/box/install.sh >'$work/bad.log' 2>&1 && grep -qi 'hash sum mismatch\|unexpected size' '$work/bad.log'"
ok "a name with a space" sh -c "mkdir '$root/root/a b' && tar -xf box.tar -C '$root/root/a b' &&
	unshare -n chroot '$root' '/root/a b/box/install.sh'"

fails "no package for that torch: what there is" 2 'no package is for torch 2.11, .*python3-demo-cu128 2 is for torch 2.9 2.10' \
	bundle --for debian12,torch2.11,py3.11,sm_120
fails "nor for that GPU" 2 'GPU arch 8.9' bundle --for debian12,torch2.10,py3.11,sm_89
fails "a system that is not known" 2 "no system 'Debian 99' is known; there are Ubuntu 22.04" \
	bundle --for debian99,torch2.10,py3.11,sm_90
fails "a machine that is none" 2 'the form is' bundle --for everything
fails "no machine" 2 'for which machine' bundle
fails "no name of a tar" 2 'ends with .tar' bundle --for debian12,torch2.10,py3.11,sm_90 --out x.zip
ok "PTX runs on newer ones" bundle --for debian12,torch2.10,py3.11,sm_121 --out n.tar
# Triton kernels go by the Triton that the torch pins; --recipe narrows.
fla() { # FILE VERSION TRITONS PYTHONS ARCHS
	make_deb "$1" python3-kernels-cu128 "$2" amd64 "Section: misc
Depends: python3-kernels (= $2)
Debkit-Triton: $3
Debkit-Python: $4
Debkit-Cuda-Archs: $5"
	make_deb "$1.all.deb" python3-kernels "$2" all
}
fla more/k1.deb 1 "3.5.1 3.6.0" "3.11" "8.0 9.0 12.0"
fla more/k2.deb 2 "3.6.0" "3.11" "9.0"
"$DEBKIT" publish --repo "$repo" --suite stable --unsigned-ok more 2>/dev/null
holds() { # NAMES-AND-VERSIONS OPTION...: the packages in the bundle of the options
	local want=$1
	shift
	rm -f k.tar && bundle --out k.tar "$@" 2>said || { cat said; return 1; }
	local got
	got=$(tar -tf k.tar | grep '\.deb$' | sed 's,.*/,,; s/_[a-z0-9]*\.deb//' | sort | tr '\n' ' ')
	echo "$got"
	cat said
	[ "$got" = "$want " ]
}
ok "all that fit: bindings for the torch, kernels for its Triton" holds \
	"debkit-cudart-12-8_12.8.90-1 python3-demo-cu128_2 python3-demo_2 python3-kernels-cu128_2 python3-kernels_2" \
	--for debian12,torch2.10,py3.11,sm_90
ok "an older one where only that fits" holds \
	"debkit-cudart-12-8_12.8.90-1 python3-demo-cu128_2 python3-demo_2 python3-kernels-cu128_1 python3-kernels_1" \
	--for debian12,torch2.9,py3.11,sm_120
ok "--recipe: that alone" holds "python3-kernels-cu128_2 python3-kernels_2" --for debian12,torch2.10,py3.11,sm_90 --recipe kernels
ok "both by name" holds \
	"debkit-cudart-12-8_12.8.90-1 python3-demo-cu128_2 python3-demo_2 python3-kernels-cu128_2 python3-kernels_2" \
	--for debian12,torch2.10,py3.11,sm_90 --recipe kernels,demo
ok "what is left out is said" eval 'holds "debkit-cudart-12-8_12.8.90-1 python3-demo-cu128_2 python3-demo_2" \
	--for debian12,torch2.10,py3.12,sm_90 && grep -q "warning: nothing of kernels is for that machine; .*Triton 3.6.0, Python 3.11" said'
fails "a recipe that has nothing for it" 2 'no package of kernels is for torch 2.10, Python 3.12' \
	bundle --for debian12,torch2.10,py3.12,sm_90 --recipe kernels
fails "a recipe that the suite has not" 2 'no package of other is for .*the suite has none' \
	bundle --for debian12,torch2.10,py3.11,sm_90 --recipe other
"$DEBKIT" snapshot --repo "$repo" --suite stable stable-1 >/dev/null 2>&1
"$DEBKIT" withdraw --repo "$repo" python3-demo-cu128 2 --reason 'wrong numbers' >/dev/null 2>&1
ok "what was withdrawn is not taken" holds "debkit-cudart-12-8_12.8.90-1 python3-demo-cu128_1 python3-demo_1" \
	--for debian12,torch2.10,py3.12,sm_90 --recipe demo
ok "but from a snapshot, with a warning" sh -c "'$DEBKIT' bundle --repo '$repo' --suite stable-1 --out s.tar \
	--for debian12,torch2.10,py3.12,sm_90 --recipe demo 2>&1 | grep 'python3-demo-cu128 2 is in it, and was withdrawn: wrong numbers'"
done_testing
