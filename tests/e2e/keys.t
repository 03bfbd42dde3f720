#!/bin/bash
# debkit keys. The judges are gpg, this machine's apt, sqv (which apt 3 asks) and debsig-verify.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# A home of its own, with one key made by the commands of a test.
homes=()
home() {
	export GNUPGHOME=$work/h$1
	mkdir -m 700 "$GNUPGHOME"
	homes+=("$GNUPGHOME")
}
end_agents() {
	local h
	for h in "${homes[@]}"; do GNUPGHOME=$h gpgconf --kill all 2>/dev/null; done
	cleanup
}
trap end_agents EXIT
g() { gpg --batch --quiet --no-tty --passphrase '' "$@"; }
f() { gpg --with-colons --list-keys 2>/dev/null | awk -F: '/^fpr/ {print $10; exit}'; }
day() { date -u -d "$1 days" +%Y%m%dT%H%M%S; }

home new
uid='debkit test <test@debkit.invalid>'
says_fpr() {
	fpr=$("$DEBKIT" keys new --uid "$uid" 2>said) && [[ $fpr =~ ^[0-9A-F]{40}$ ]] &&
		[ "$(wc -l <said)" = 1 ]
}
ok "keys new prints a fingerprint" says_fpr
ok "the key is ed25519 with an ed25519 signing subkey, for three years" bash -c "
	gpg --with-colons --list-keys | awk -F: -v now=\$(date +%s) '
	\$1 == \"pub\" && \$17 == \"ed25519\" {n++}
	\$1 == \"sub\" && \$17 == \"ed25519\" && \$12 == \"s\" {n++}
	/^[ps]ub/ && \$7 - now > 1094 * 86400 && \$7 - now <= 1095 * 86400 {n++}
	END {exit n != 4}'"
ok "it signs without a question" bash -c 'echo x | gpg --batch --sign >/dev/null'
ok "a revocation certificate is at hand" [ -s "$GNUPGHOME/openpgp-revocs.d/$fpr.rev" ]
fails "the same user id again" 1 "exists in '$GNUPGHOME': $fpr" "$DEBKIT" keys new --uid "$uid"
fails "no user id" 2 'give --uid' "$DEBKIT" keys new
fails "a user id without an address" 2 'has the form' "$DEBKIT" keys new --uid nobody
fails "an expiry that is none" 2 "'soon' is no expiry" "$DEBKIT" keys new --uid 'B <b@c>' \
	--expire soon
fails "no such verb" 2 'there are new, export' "$DEBKIT" keys make
fails "an operand too many" 2 'the form is' "$DEBKIT" keys new "$fpr" --uid "$uid"
ok "GNUPGHOME is made when it is absent" env GNUPGHOME="$work/hfresh" "$DEBKIT" keys new \
	--uid "$uid"
homes+=("$work/hfresh")
ok "only its owner may look into it" [ "$(stat -c %a "$work/hfresh")" = 700 ]

ok "keys export writes what gpgv reads" bash -c "
	'$DEBKIT' keys export --out k.gpg $fpr && echo x >d && gpg --batch -b d &&
	gpgv --keyring ./k.gpg d.sig d"
ok "keys export --armor to standard output" bash -c "
	'$DEBKIT' keys export --armor $fpr | gpg --show-keys --with-colons | grep -q '$fpr'"
ok "no secret is exported" bash -c "! gpg --list-packets k.gpg | grep -q secret"
fails "export of a key that is not there" 3 'no key 0{40}' "$DEBKIT" keys export \
	0000000000000000000000000000000000000000
fails "a short key id is refused" 2 'not a full fingerprint' "$DEBKIT" keys export "${fpr:24}"
fails "a mail address is refused" 2 'not a full fingerprint' "$DEBKIT" keys check test@debkit.invalid
ok "keys check accepts the key" bash -c "'$DEBKIT' keys check $fpr | grep -q 'accepted\$'"

# An apt repository without packages, signed by the key of the present GNUPGHOME.
mkdir -p repo/dists/stable/main/binary-amd64
: >repo/dists/stable/main/binary-amd64/Packages
sign_release() {
	local empty=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
	printf '%s\n' "Origin: debkit" "Suite: stable" "Codename: stable" "Components: main" \
		"Architectures: amd64" "Date: $(LC_ALL=C date -u '+%a, %d %b %Y %H:%M:%S UTC')" \
		"SHA256:" " $empty 0 main/binary-amd64/Packages" >Release
	rm -f repo/dists/stable/InRelease Release.sig
	g --digest-algo SHA512 -u "$1" --output repo/dists/stable/InRelease --clear-sign Release &&
		g --digest-algo SHA512 -u "$1" --output Release.sig --detach-sign Release
	gpg --export "$1" >ring.gpg
}
apt_accepts() {
	rm -rf apt
	mkdir -p apt/{etc/apt/{preferences.d,apt.conf.d,trusted.gpg.d,sources.list.d},var/log/apt} \
		apt/var/{lib/{apt/lists/partial,dpkg},cache/apt/archives/partial}
	: >apt/var/lib/dpkg/status
	echo "deb [signed-by=$work/ring.gpg arch=amd64] file:$work/repo stable main" \
		>apt/etc/apt/sources.list
	apt-get -o Dir="$work/apt" -o Dir::State::status="$work/apt/var/lib/dpkg/status" \
		-o APT::Sandbox::User=root -o APT::Architecture=amd64 -o APT::Architectures=amd64 \
		-o Acquire::Languages=none update
}
sqv_accepts() { sqv --keyring ring.gpg Release.sig Release; }
judges_accept() { apt_accepts && sqv_accepts; }
# The signature itself holds; it is the key that is refused.
is_whole() {
	gpgv --status-fd 1 --keyring ./ring.gpg Release.sig Release 2>/dev/null |
		grep -qE '^\[GNUPG:\] (GOOD|EXPKEY|REVKEY)SIG '
}

judges_refuse() { is_whole && ! judges_accept; }

# kind NAME PATTERN COMMANDS: makes a key and signs; PATTERN "" means that debkit, apt and sqv
# accept; else debkit refuses with PATTERN, and apt or sqv must refuse too.
kind() {
	local name=$1 pattern=$2
	home "$1"
	eval "$3" >/dev/null 2>&1
	fpr=$(f)
	[ -n "$4" ] || sign_release "$fpr" 2>/dev/null
	eval "$4" >/dev/null 2>&1
	if [ -z "$pattern" ]; then
		ok "$name: debkit accepts" "$DEBKIT" keys check "$fpr"
		ok "$name: so do apt and sqv" judges_accept
	else
		fails "$name: debkit refuses" 3 "$pattern" "$DEBKIT" keys check "$fpr"
		fails "$name: in a keyring file too" 3 "$pattern" \
			"$DEBKIT" keys check --keyring ring.gpg
		ok "$name: so does apt or sqv" judges_refuse
	fi
	gpgconf --kill all
}
A="'A <a@debkit.invalid>'"
kind debkit "" '"$DEBKIT" keys new --uid "$uid"'
kind rsa2048 "" "g --quick-gen-key $A rsa2048 sign 1y"
kind rsa4096-sub "" "g --quick-gen-key $A rsa4096 cert 1y; g --quick-add-key \$(f) rsa4096 sign 1y"
kind nistp256 "" "g --quick-gen-key $A nistp256 sign 1y"
kind rsa1024 'RSA of 1024 bits' "g --quick-gen-key $A rsa1024 sign 1y"
kind rsa1024-primary 'primary key is RSA of 1024' \
	"g --quick-gen-key $A rsa1024 cert 1y; g --quick-add-key \$(f) ed25519 sign 1y"
kind secp256k1 'secp256k1' "g --quick-gen-key $A secp256k1 sign 1y"
kind sha1-uid 'SHA-1 self-signature' \
	"g --cert-digest-algo SHA1 --quick-gen-key $A ed25519 sign 1y"
kind sha1-sub 'SHA-1 self-signature' "g --quick-gen-key $A ed25519 cert 1y
	g --cert-digest-algo SHA1 --allow-weak-key-signatures --quick-add-key \$(f) ed25519 sign 1y"
kind sha1-back 'SHA-1 back signature' "g --faked-system-time $(day -2) --quick-gen-key $A ed25519 \
	cert 1y
	g --faked-system-time $(day -2) --cert-digest-algo SHA1 --allow-weak-key-signatures \
		--quick-add-key \$(f) ed25519 sign 1y
	g --faked-system-time $(day -1) --cert-digest-algo SHA256 --quick-set-expire \$(f) 1y '*'"
kind expired 'expired on' "g --faked-system-time $(day -9) --quick-gen-key $A ed25519 sign 5d" \
	"echo faked-system-time $(day -8) >\$GNUPGHOME/gpg.conf; sign_release \$fpr
	rm \$GNUPGHOME/gpg.conf"
kind revoked 'is revoked' "g --quick-gen-key $A ed25519 sign 1y" \
	"sign_release \$fpr; sed s/^:// \$GNUPGHOME/openpgp-revocs.d/\$fpr.rev | g --import
	gpg --export \$fpr >ring.gpg"
# Rotation: two keys sign one Release, and a client knows either.
home two
"$DEBKIT" keys new --uid "$uid" >/dev/null 2>&1
"$DEBKIT" keys new --uid "another <another@debkit.invalid>" >/dev/null 2>&1
sign_release "debkit test" 2>/dev/null
rm -f repo/dists/stable/InRelease Release.sig
g --local-user "debkit test" --local-user another --output repo/dists/stable/InRelease \
	--clear-sign Release 2>/dev/null
g --local-user "debkit test" --local-user another --output Release.sig --detach-sign Release \
	2>/dev/null
ok "two keys sign a Release: apt and sqv accept it by the first" judges_accept
gpg --export another >ring.gpg
ok "and by the second" judges_accept

# apt 3 refuses these by its own configuration, which sqv 1.1 does not read.
home dsa
g --quick-gen-key 'A <a@debkit.invalid>' dsa2048 sign 1y 2>/dev/null
fails "dsa2048" 3 'dsa2048, which apt 3 refuses' "$DEBKIT" keys check "$(f)"

GNUPGHOME=$work/hnew
fpr=$(f)
fails "a keyring file that is none" 1 'holds no OpenPGP public key' \
	"$DEBKIT" keys check --keyring Release
fails "a keyring file that is not there" 1 'No such file' "$DEBKIT" keys check --keyring none.gpg
fails "no key to check" 2 'the form is' "$DEBKIT" keys check
ok "nothing is left in the temporary folder" bash -c "
	mkdir t && TMPDIR=$work/t '$DEBKIT' keys check --keyring k.gpg && rmdir t"
ok "keys policy prints the policy" bash -c "'$DEBKIT' keys policy $fpr | grep -q 'id=\"$fpr\"'"
done_testing
