#!/bin/bash
# A change of keys, rehearsed: clients with apt 2.6 (this machine's) and apt 3 (a Debian 13 root)
# update before, during and after it; one sleeps through the overlap and is rescued. First a new
# primary key, then a new subkey.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
. "$(dirname "$0")/root.sh"
cd "$work" || exit 1
test_key
url_port
old=$fpr repo=$work/repo root=$work/root
keyring() { # OUT [OPTION...]: the keyring package alone
	local out=$1
	shift
	"$DEBKIT" build --keyring-only --cuda 12.8 --repo-url "$url" --out "$out" "$@"
}
publish() { "$DEBKIT" publish --repo "$repo" --suite stable --url "$url" --unsigned-ok "$@"; }
make_deb tool.deb tool 1 all
ok "the keyring package alone needs no compiler's work" keyring k1 --sign-key "$old"
ok "it has papers" sh -c "ls k1/debkit-archive-keyring_*.intoto.json"
ok "publish" publish --sign-key "$old" tool.deb k1
serve "$repo"
trap 'kill "$server" 2>/dev/null; umount_root; cleanup' EXIT
ok "a Debian 13 root with apt 3" make_root trixie "$root"
rm -rf "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*
ok "this machine's apt is 2.6" sh -c 'apt-get --version | grep -q "^apt 2\.6"'

# A client is a root for this machine's apt, or "3" for the Debian 13 root.
apt_of() {
	local who=$1
	shift
	if [ "$who" = 3 ]; then
		in_root "$root" apt-get -q -y -o APT::Update::Error-Mode=any -o Acquire::Retries=0 \
			-o Acquire::Languages=none "$@"
	else
		apt_in "$work/$who" "$@"
	fi
}
configure() { # WHO...: the README's line
	for who; do
		[ "$who" = 3 ] && to=$root || to=$work/$who
		[ "$who" = 3 ] || { apt_root "$to" "x"; : >"$to/etc/apt/sources.list"; }
		rm -f "$to/etc/apt/sources.list.d/debkit.sources"
		/usr/lib/apt/apt-helper download-file "$url/debkit.sources" \
			"$to/etc/apt/sources.list.d/debkit.sources" || return
	done
}
update() { for who; do apt_of "$who" update || return; done; }
fails_to_update() { ! apt_of "$1" update; }
upgrade() { # WHO...: the keyring package that is offered now
	for who; do
		if [ "$who" = 3 ]; then
			apt_of 3 install debkit-archive-keyring </dev/null || return
			! ls "$root"/etc/apt/sources.list.d/*.dpkg-* 2>/dev/null | grep . || return
		else
			(cd "$work/$who" && rm -f ./*.deb && apt_in "$work/$who" download debkit-archive-keyring &&
				dpkg-deb -x debkit-archive-keyring_*.deb .) || return
		fi
	done
}
knows() { # WHO KEY: its installed keyring holds it
	[ "$1" = 3 ] && to=$root || to=$work/$1
	gpg --show-keys --with-colons "$to/usr/share/keyrings/debkit-archive-keyring.gpg" | grep -q "fpr:*$2:"
}

ok "before: clients are configured" configure awake asleep 3
ok "before: all update" update awake asleep 3
ok "before: two of them take the keyring package" upgrade awake 3

new=$("$DEBKIT" keys rotate --uid "next <next@debkit.invalid>" "$old" 2>said)
ok "keys rotate makes a new primary key and says what is next" grep -q -- "--next-key $new" said
ok "and where its revocation certificate is" grep -q "$new.rev" said
fails "no second one of that name" 1 'exists in' "$DEBKIT" keys rotate --uid "next <next@debkit.invalid>" "$old"
ok "a keyring package with both keys" keyring k2 --sign-key "$old" --next-key "$new"
version() { dpkg-deb -f "$1"/debkit-archive-keyring_*.deb Version; }
ok "it is newer" dpkg --compare-versions "$(version k2)" gt "$(version k1)"
ok "the next key is out before it signs" publish k2
ok "still one signature" test "$(gpg --verify "$repo/dists/stable/InRelease" 2>&1 | grep -c 'Good signature')" = 1
ok "they update and upgrade" eval 'update awake 3 && upgrade awake 3 && knows awake "$new" && knows 3 "$new"'
ok "overlap: both keys sign" "$DEBKIT" refresh --repo "$repo" --suite stable --sign-key "$old,$new"
ok "overlap: two good signatures" test "$(gpg --verify "$repo/dists/stable/InRelease" 2>&1 | grep -c 'Good signature')" = 2
ok "overlap: those with both keys update" update awake 3
ok "overlap: one with the old key alone does" eval 'cp -a asleep onlyold && update onlyold'
ok "overlap: the published files have both keys" sh -c "gpg --show-keys --with-colons \
	'$repo/debkit-archive-keyring.gpg' | grep -c ^pub: | grep -qx 2"
ok "overlap: a new client has both" eval 'configure fresh && update fresh'

ok "after: a keyring package with the new key alone" keyring k3 --sign-key "$new"
ok "it is newer again" dpkg --compare-versions "$(version k3)" gt "$(version k2)"
ok "after: the new key signs alone" publish --sign-key "$new" k3
ok "after: clients with both keys update" update awake 3 fresh
ok "after: and drop the old key" eval 'upgrade awake 3 && ! knows awake "$old" && ! knows 3 "$old" && update awake 3'
ok "the one that slept through it is refused" fails_to_update asleep
ok "apt 3 with the old source too" eval 'cp "$root/etc/apt/sources.list.d/debkit.sources" kept &&
	cp asleep/etc/apt/sources.list.d/debkit.sources "$root/etc/apt/sources.list.d/" && fails_to_update 3'
ok "one line rescues each: the README's first" eval 'configure asleep 3 && update asleep 3'

# A new subkey of the same primary key: clients that never heard of it go on.
sleep 1
sub=$("$DEBKIT" keys rotate "$new" 2>said)
ok "keys rotate makes a subkey" test "${#sub}" = 40 -a "$sub" != "$new"
ok "and says how it ends" grep -q -- "--finish $new" said
ok "a newer keyring package" keyring k4 --sign-key "$new"
ok "publish it: both subkeys sign" publish k4
ok "two good signatures" test "$(gpg --verify "$repo/dists/stable/InRelease" 2>&1 | grep -c 'Good signature')" = 2
ok "clients that know the first subkey alone update" update awake 3 asleep
ok "and take the keyring package" upgrade awake 3
ok "finish" "$DEBKIT" keys rotate --finish "$new"
ok "the new subkey signs alone" "$DEBKIT" refresh --repo "$repo" --suite stable
ok "by its fingerprint" sh -c "gpg --status-fd 1 --verify '$repo/dists/stable/InRelease' 2>/dev/null |
	grep VALIDSIG | grep -q ' $sub '"
ok "clients update" update awake 3
ok "the one without it is refused" fails_to_update asleep
ok "and rescued" eval 'configure asleep && update asleep'
fails "finish makes no key" 2 'makes no key' "$DEBKIT" keys rotate --finish --expire 1y "$new"

# The end of a key is told 60 days ahead, by publish and refresh.
ends=$(gpg --with-colons --list-keys "$new" | awk -F: '$1 == "pub" {print $7}')
warns() { # DAYS COMMAND...
	local now=$((ends - $1 * 86400))
	shift
	DEBKIT_NOW=$now "$@" 2>&1 | grep -q "warning: the key $new ends on .*keys rotate"
}
quiet() { ! warns "$@"; }
refresh=("$DEBKIT" refresh --repo "$repo" --suite stable --trust-clock)
ok "61 days before: nothing" quiet 61 "${refresh[@]}"
ok "59 days before: a warning" warns 59 "${refresh[@]}"
ok "by publish too" warns 58 publish --trust-clock tool.deb
done_testing
