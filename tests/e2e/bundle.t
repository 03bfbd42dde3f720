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
done_testing
