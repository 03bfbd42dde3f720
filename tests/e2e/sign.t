#!/bin/bash
# debkit sign and verify, on packages that dpkg-deb made; the judges are debsig-verify and dpkg.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
test_key 2>/dev/null
mine=$fpr
"$DEBKIT" keys export --out mine.gpg "$mine"
theirs=$("$DEBKIT" keys new --uid "a stranger <stranger@debkit.invalid>" 2>/dev/null)
"$DEBKIT" keys export --out theirs.gpg "$theirs"

# package DIR: a folder for dpkg-deb with md5sums as debhelper writes them.
package() {
	mkdir -p "$1/DEBIAN" "$1/usr/share/x" "$1/etc"
	echo hello >"$1/usr/share/x/file with space"
	head -c 300000 /dev/zero >"$1/usr/share/x/zeros"
	echo setting >"$1/etc/x.conf"
	echo /etc/x.conf >"$1/DEBIAN/conffiles"
	printf '%s\n' 'Package: xy' 'Version: 1' 'Architecture: all' \
		'Maintainer: A <a@debkit.invalid>' 'Description: test' >"$1/DEBIAN/control"
	(cd "$1" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
}
pack() { dpkg-deb --root-owner-group -Zxz -b "$1" "$2" >/dev/null; }
# repack DIR MEMBER...: s.deb again from members in o, some of them taken from another package
members() { (cd o && rm -f ../s.deb && ar rcS ../s.deb "$@"); }
unpack() { rm -rf o && mkdir o && (cd o && ar x "../$1"); }
judge() { debsig-verify --root "$work/root" "${1:-s.deb}"; }
verify() { "$DEBKIT" verify --keyring mine.gpg "$@"; }

package p
pack p x.deb
cp x.deb s.deb
ok "keys policy writes what debsig-verify reads" "$DEBKIT" keys policy --out root "$mine"
ok "debkit sign" "$DEBKIT" sign --sign-key "$mine" s.deb
ok "debsig-verify accepts it" judge
ok "debkit verify names the key" bash -c "
	'$DEBKIT' verify --keyring mine.gpg s.deb | grep -qx 's.deb: good, signed by $mine'"
ok "dpkg-deb reads it still" bash -c 'dpkg-deb -I s.deb && dpkg-deb -c s.deb'
ok "dpkg unpacks it" bash -c "mkdir -p d/var/lib/dpkg/{updates,info} && : >d/var/lib/dpkg/status &&
	dpkg --root='$work/d' --force-not-root --unpack s.deb && cmp p/usr/share/x/zeros \
	d/usr/share/x/zeros"
ok "what was there before is untouched" cmp -n "$(stat -c %s x.deb)" x.deb s.deb
ok "signing again replaces the signature" bash -c "'$DEBKIT' sign --sign-key $mine s.deb &&
	[ \$(ar t s.deb | grep -c _gpgorigin) = 1 ]"
ok "debsig-verify accepts it again" judge
ok "the signature is SHA-512 by the primary key" bash -c "ar p s.deb _gpgorigin |
	gpg --list-packets >packets && grep -q 'digest algo 10' packets &&
	grep -q 'issuer fpr v4 $mine' packets"

fails "no key named" 2 'give --sign-key' "$DEBKIT" sign x.deb
fails "a key that is not there" 3 'no key 0{40}' "$DEBKIT" sign x.deb \
	--sign-key 0000000000000000000000000000000000000000
fails "a package that is not there" 1 "'none.deb'.*No such file" "$DEBKIT" sign none.deb \
	--sign-key "$mine"
echo nonsense >bad.deb
fails "what is no package is not signed" 1 "bad.deb" "$DEBKIT" sign --sign-key "$mine" bad.deb
ok "and stays as it was" [ "$(cat bad.deb)" = nonsense ]
whole_or_old() { # after each write that fails: the old bytes or all of the new, and no other file
	local i
	for i in $(seq 40); do
		cp x.deb full.deb
		DEBKIT_FAULT=$i:ENOSPC "$DEBKIT" sign --sign-key "$mine" full.deb 2>fault && break
		grep -q 'No space left' fault || return 1
		cmp -s x.deb full.deb || judge full.deb || return 1
		[ "$(ls | grep -c '^full.deb')" = 1 ] || return 1
	done
	[ "$i" -gt 3 ] && [ "$i" -lt 40 ] && judge full.deb
}
ok "a full disk leaves the package whole" whole_or_old

head -c 160000000 /dev/zero >p/usr/share/x/zeros
(cd p && find usr -type f -print0 | xargs -0 md5sum >DEBIAN/md5sums)
dpkg-deb --root-owner-group -Znone -b p large.deb >/dev/null
ok "160 MB are signed in 100 MB of memory" bash -c "ulimit -v 100000; '$DEBKIT' sign --sign-key \
	$mine large.deb && '$DEBKIT' verify --keyring mine.gpg large.deb"
ok "debsig-verify accepts them" judge large.deb
rm -rf large.deb p
package p

package q
echo changed >>'q/usr/share/x/file with space'
sed -i s/test/changed/ q/DEBIAN/control
pack q y.deb
fails "not signed" 3 "'x.deb' is not signed" verify x.deb
ok "not signed, and that is fine" verify --unsigned-ok x.deb
fails "whose signatures count" 2 'give --keyring' "$DEBKIT" verify s.deb
fails "signed by a stranger" 3 "'s.deb': signed by another key" "$DEBKIT" verify \
	--keyring theirs.gpg s.deb
for member in control.tar.xz data.tar.xz; do
	cp s.deb good.deb
	unpack good.deb
	(cd o && ar x ../y.deb "$member")
	members debian-binary control.tar.xz data.tar.xz _gpgorigin
	fails "$member changed after signing" 3 "'s.deb': the signature is bad" verify s.deb
	ok "debsig-verify refuses it too" bash -c "debsig-verify --root '$work/root' s.deb; [ \$? = 13 ]"
	fails "even if a signature is not asked for" 3 'signature is bad' verify --unsigned-ok s.deb
	cp good.deb s.deb
done
unpack good.deb
(cd o && : >_gpgorigin)
members debian-binary control.tar.xz data.tar.xz _gpgorigin
fails "an empty signature" 3 'signature is empty' verify s.deb
unpack good.deb
members debian-binary _gpgorigin control.tar.xz data.tar.xz
fails "the signature in another place" 1 "member '_gpgorigin' where control" verify s.deb
head -c 700 good.deb >s.deb
fails "a truncated package" 1 "'s.deb'" verify s.deb
fails "a keyring that is none" 1 "'x.deb' holds no OpenPGP public key" "$DEBKIT" verify \
	--keyring x.deb good.deb

# wrong NAME PATTERN COMMAND: a well-signed package that says what does not hold
wrong() {
	rm -rf w
	package w
	bash -c "cd w/DEBIAN && $3"
	pack w w.deb
	"$DEBKIT" sign --sign-key "$mine" w.deb 2>/dev/null
	fails "$1" 3 "'w.deb': .*$2" verify w.deb
}
wrong "a file is not what md5sums says" "md5sums claims '.*' for 'usr/share/x/zeros', but it has" \
	'echo x >>../usr/share/x/zeros'
wrong "md5sums names a file too many" "lists 'usr/none', which is not there" \
	'sed "1{p;s,usr/.*,usr/none,}" -i md5sums'
wrong "md5sums forgets a file" "does not list 'usr/share/x/file with space'" 'sed -i 1d md5sums'
wrong "md5sums is no such list" "'nonsense' is no digest" 'echo nonsense >>md5sums'
wrong "there is no md5sums" 'md5sums does not list' 'rm md5sums'
wrong "a torch is claimed that no binding is for" "Debkit-Torch claims '2.10', but the files hold" \
	'echo "Debkit-Torch: 2.10" >>control'
wrong "archs are claimed without device code" "Debkit-Cuda-Archs claims '9.0', but" \
	'echo "Debkit-Cuda-Archs: 9.0" >>control'

fails "of several packages all are looked at" 3 '2 of 3 packages fail; the first: .x.deb. is not' \
	verify x.deb good.deb y.deb
ok "and each that fails is named" [ "$(grep -c 'is not signed' .err)" = 3 ]
ok "and what is good is said" grep -q '^good.deb: good' .out

# Rotation: the old key has expired, the new one has signed; clients hold both.
past=$(date -u -d '-9 days' +%Y%m%dT%H%M%S)
echo "faked-system-time $past" >"$GNUPGHOME/gpg.conf"
old=$(DEBKIT_NOW=$(date -d '-9 days' +%s) "$DEBKIT" keys new --uid 'old <old@debkit.invalid>' \
	--expire 5d 2>/dev/null)
cp x.deb o.deb
"$DEBKIT" sign --sign-key "$old" o.deb 2>/dev/null
rm "$GNUPGHOME/gpg.conf"
gpg --export "$old" "$mine" >both.gpg
fails "signed by a key that has expired since" 3 "'o.deb': the key that signed it has expired" \
	"$DEBKIT" verify --keyring both.gpg o.deb
fails "an expired key signs no more" 3 "expired on" "$DEBKIT" sign --sign-key "$old" o.deb
ok "the new key signs it again" "$DEBKIT" sign --sign-key "$mine" o.deb
ok "and clients with both keys accept it" "$DEBKIT" verify --keyring both.gpg o.deb
sed s/^:// "$GNUPGHOME/openpgp-revocs.d/$theirs.rev" | gpg --batch --quiet --import 2>/dev/null
fails "a revoked key signs no more" 3 'is revoked' "$DEBKIT" sign --sign-key "$theirs" x.deb
gpg --batch --quiet --yes --delete-secret-keys "$mine" 2>/dev/null
fails "only the public key is here" 3 'secret key of [0-9A-F]{40} is not in' \
	"$DEBKIT" sign --sign-key "$mine" x.deb
done_testing
