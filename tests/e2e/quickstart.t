#!/bin/bash
# The README's first command, on a machine that has nothing: a clean Debian 12 root gets make, and
# `make quickstart` does the rest. Then the lines that it prints are executed in another clean
# root. Compiled objects come from this machine's cache where it has them.
. "$(dirname "$0")/lib.sh"
. "$top/tests/e2e/root.sh"
url_port
cache=${DEBKIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/debkit}

ok "a clean Debian 12 root" make_root bookworm "$work/host"
cp /etc/ssl/certs/ca-certificates.crt "$work/host/etc/ssl/certs/ca-certificates.crt"
ok "make is all that is installed by hand" in_root "$work/host" sh -c \
	'apt-get update && apt-get install -y --no-install-recommends make'
mkdir -p "$work/host/src" "$work/host/cache"
(cd "$top" && git ls-files -z --cached --others --exclude-standard |
	tar --null -T - -cf -) | tar -xf - -C "$work/host/src"
[ ! -d "$cache/object" ] || cp -al "$cache/object" "$work/host/cache/" 2>/dev/null ||
	cp -a "$cache/object" "$work/host/cache/"

ok "make quickstart" in_root "$work/host" env DEBKIT_CACHE=/cache URL="$url" make -C /src quickstart
cp "$work/.said" "$work/quickstart.log"
ok "it prints the lines to paste" sh -c "sed -n '/paste these lines/,\$p' '$work/quickstart.log' |
	grep '^  ' >'$work/lines' && [ \$(wc -l <'$work/lines') = 4 ]"
ok "the same command again has nothing to build" sh -c "
	. '$top/tests/e2e/root.sh'
	in_root '$work/host' env DEBKIT_CACHE=/cache URL='$url' make -C /src quickstart 2>&1 |
		grep 'nothing to do'"
for kept in "$cache/object"; do
	# what was compiled in the root serves later tests on this machine
	mkdir -p "$kept" && cp -an "$work/host/cache/object/." "$kept/"
done
umount_root
serve "$work/host/src/out/repo"

ok "another clean root" make_root bookworm "$work/container"
sed 's/^/# /' "$work/lines"
ok "the pasted lines install the package" in_root "$work/container" sh -ec "$(cat "$work/lines")"
ok "without any compiler" no_compiler "$work/container"
ok "the keyring package has the same source file: dpkg asks nothing" in_root "$work/container" sh -c \
	'apt-get install -y debkit-archive-keyring </dev/null && apt-get update &&
	 ! ls /etc/apt/sources.list.d/*.dpkg-* 2>/dev/null | grep .'
ok "apt trusts the repository by the package's key file too" in_root "$work/container" sh -c \
	'apt-get check && apt-cache policy python3-causal-conv1d-cu128 | grep -q "o=debkit\|127.0.0.1"'
done_testing
