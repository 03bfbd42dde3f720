#!/bin/bash
# The preferences of the keyring package: nothing but debkit's own names comes from the repository.
# Judges: apt 2.6 (this machine's) and apt 3 in a Debian 13 root.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
. "$(dirname "$0")/root.sh"
cd "$work" || exit 1
trap 'umount_root; cleanup' EXIT
test_key
repo=$work/repo root=$work/root
ok "the keyring package" "$DEBKIT" build --keyring-only --cuda 12.8 --sign-key "$fpr" --out out
dpkg-deb -x out/debkit-archive-keyring_*.deb k
pref=k/etc/apt/preferences.d/debkit.pref
# Every package that the templates describe, for a CUDA; of debkit the distribution has one, too.
own=$(sed -n 's/^Package: //p' "$top"/templates/*/control.in | sed 's/@FLAVOUR@/cu128/; s/@CUDA_DASHED@/12-8/; s/.*@.*//' |
	grep -vx debkit | sort -u)
for p in $own debkit; do make_deb "debs/$p.deb" "$p" 1 all; done
for p in bash openssh-server python3-torch cuda-cudart-12-8 python3-causal-conv1d-evil; do
	make_deb "debs/$p.deb" "$p" 99 all
done
ok "publish" "$DEBKIT" publish --repo "$repo" --suite stable --sign-key "$fpr" --unsigned-ok debs
# The distribution has two of the names.
for p in bash debkit; do make_deb "dist/$p.deb" "$p" 0.5 all; done
ok "a distribution" "$DEBKIT" publish --repo "$work/dist-repo" --suite sid --sign-key "$fpr" --origin Debian --unsigned-ok dist
apt_root r "[signed-by=$repo/debkit-archive-keyring.gpg] file:$repo stable main"
echo "deb [signed-by=$repo/debkit-archive-keyring.gpg] file:$work/dist-repo sid main" >>r/etc/apt/sources.list
cp "$pref" r/etc/apt/preferences.d/
apt_in "$work/r" update >/dev/null 2>&1
candidate2() { apt-cache -o Dir="$work/r" -o Dir::State::status="$work/r/var/lib/dpkg/status" policy "$1" |
	sed -n 's/^  Candidate: //p'; }
ok "a Debian 13 root" make_root trixie "$root"
rm -rf "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*
cp -a "$repo" dist-repo "$root/srv/"
cp "$pref" "$root/etc/apt/preferences.d/"
printf 'deb [signed-by=/srv/repo/debkit-archive-keyring.gpg] file:/srv/%s main\n' 'repo stable' 'dist-repo sid' \
	>"$root/etc/apt/sources.list"
ok "apt 3 updates" in_root "$root" apt-get update
candidate3() { in_root "$root" apt-cache policy "$1" | sed -n 's/^  Candidate: //p'; }
both() { # PACKAGE VERSION
	[ "$(candidate2 "$1")" = "$2" ] && [ "$(candidate3 "$1")" = "$2" ] || {
		echo "apt 2.6: $(candidate2 "$1"), apt 3: $(candidate3 "$1")"
		return 1
	}
}
for p in $own; do ok "$p comes" both "$p" 1; done
ok "of two packages named debkit the distribution's wins" both debkit 0.5
for p in openssh-server python3-torch cuda-cudart-12-8 python3-causal-conv1d-evil; do
	ok "$p does not" both "$p" '(none)'
done
ok "nor does bash 99 in apt 2.6" test "$(candidate2 bash)" = 0.5
ok "nor in apt 3" test "$(candidate3 bash)" != 99
ok "a Release has the names that the pin and the README know" sh -c "
	grep -qx 'Origin: debkit' '$repo/dists/stable/Release' && grep -qx 'Label: debkit' '$repo/dists/stable/Release'"
done_testing
