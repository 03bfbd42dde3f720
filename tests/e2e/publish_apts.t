#!/bin/bash
# A large index, in pieces, before this machine's apt and before apt 3 in a Debian 13 root: over
# file: and over http: from nginx, in each compression.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
. "$(dirname "$0")/root.sh"
cd "$work" || exit 1
trap 'kill $server 2>/dev/null; umount_root; cleanup' EXIT
test_key
root=$work/root repo=$work/root/srv/repo
ok "a Debian 13 root" make_root trixie "$root"
ok "has apt 3" bash -c "chroot '$root' apt-get --version | grep -q '^apt 3'"
rm -rf "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*

"$top/tests/bench/gen_debs.py" debs 1800
"$top/tests/bench/gen_debs.py" more 40 --first 5000
make_deb tool-a1.deb tool-a 1 all
mkdir -p "$repo"
url_port
cat >nginx.conf <<X
daemon off; master_process off; pid $work/nginx.pid; error_log stderr;
events {}
http { access_log $work/access.log; client_body_temp_path $work/n1; proxy_temp_path $work/n2;
	fastcgi_temp_path $work/n3; uwsgi_temp_path $work/n4; scgi_temp_path $work/n5;
	server { listen 127.0.0.1:$port; root $repo; } }
X
nginx -e stderr -p "$work" -c "$work/nginx.conf" 2>nginx.err &
server=$!

ok "publish 1800 packages" "$DEBKIT" publish --repo "$repo" --suite stable --sign-key "$fpr" --unsigned-ok \
	--url "$url" debs
ok "one of them again, then more" "$DEBKIT" publish --repo "$repo" --suite stable --unsigned-ok \
	debs/python3-apex-cu128-n000000_* more tool-a1.deb
ok "some leave from the middle" "$DEBKIT" remove --repo "$repo" --suite stable 'python3-gsplat-cu128-n0010*'
members() { python3 - "$1" <<-'X'
	import sys, zlib
	data, n = open(sys.argv[1], "rb").read(), 0
	while data:
	    d = zlib.decompressobj(31); d.decompress(data); data = d.unused_data; n += 1
	print(n)
	X
}
index=$repo/dists/stable/main/binary-amd64
ok "Packages.gz has several members" test "$(members "$index/Packages.gz")" -gt 1
ok "Packages.zst is the same text" bash -c "zcat '$index/Packages.gz' | cmp - <(zstd -qdc '$index/Packages.zst')"
"$DEBKIT" list --repo "$repo" 2>/dev/null | cut -f 3,4 | tr '\t' ' ' | sort >want
echo "# $(wc -l <want) packages"

apt3() { # COMMAND...: in the Debian 13 root
	in_root "$root" apt-get -q -o Acquire::Languages=none -o APT::Update::Error-Mode=any -o Acquire::Retries=0 \
		-o Acquire::Check-Valid-Until=true -o Acquire::Check-Date=true "$@"
}
apt3_sees() {
	in_root "$root" apt-cache dump | awk '/^Package: / {sub(":.*", "", $2); p = $2}
		/^ Version: / && $2 != "(null)" {print p, $2}' | sort -u >seen
	# The root has packages of its own.
	in_root "$root" dpkg-query -f '${Package} ${Version}\n' -W | sort | comm -13 - seen | diff want -
}
apt3_reads() { # SOURCE KIND
	rm -rf "$root"/var/lib/apt/lists/* "$root"/etc/apt/sources.list.d/*
	echo "$1" >"$root/etc/apt/sources.list"
	apt3 -o Acquire::CompressionTypes::Order::="$2" update && apt3_sees
}
apt2_reads() { # SOURCE KIND
	rm -rf r2
	apt_root "$work/r2" x
	echo "$1" >r2/etc/apt/sources.list
	apt_in "$work/r2" -o Acquire::CompressionTypes::Order::="$2" update &&
		apt_sees "$work/r2" | diff want -
}
key=/srv/repo/debkit-archive-keyring.gpg
# The digest of an index file in Release, by the best algorithm there.
hash_of() { # KIND
	awk -v field="$best:" -v name="main/binary-amd64/Packages.$1" '
		/^[^ ]/ {in_field = $1 == field} in_field && $3 == name {print $1}' "$repo/dists/stable/Release"
}
best=SHA256
read_all() { # KIND...
	for kind; do
		ok "apt 3 reads .$kind from file:" apt3_reads "deb [signed-by=$key] file:/srv/repo stable main" "$kind"
		ok "apt 3 reads .$kind from http:" apt3_reads "deb [signed-by=$key] $url stable main" "$kind"
		ok "this machine's apt reads .$kind from http:" \
			apt2_reads "deb [signed-by=$root$key] $url stable main" "$kind"
		ok "by hash" grep -q "/by-hash/$best/$(hash_of "$kind")" access.log
	done
}
read_all zst gz
ok "--compat" "$DEBKIT" publish --repo "$repo" --suite stable --unsigned-ok --compat debs/python3-apex-cu128-n000000_*
ok "one more in compat" "$DEBKIT" remove --repo "$repo" --suite stable tool-a
grep -v '^tool-a ' want >want.new && mv want.new want
best=SHA512
read_all xz zst gz

# One download configures a container.
sources_alone() {
	rm -rf "$root"/var/lib/apt/lists/* "$root/etc/apt/sources.list"
	in_root "$root" /usr/lib/apt/apt-helper download-file "$url/debkit.sources" \
		/etc/apt/sources.list.d/debkit.sources && apt3 update && apt3_sees
}
ok "apt 3 takes debkit.sources with its embedded key" sources_alone
fpr2=$("$DEBKIT" keys new --uid "second <second@debkit.invalid>")
ok "two keys sign" "$DEBKIT" publish --repo "$repo" --suite stable --sign-key "$fpr,$fpr2" --unsigned-ok --url "$url" \
	debs/python3-apex-cu128-n000000_*
ok "apt 3 still updates with the first" apt3 update
ok "apt 3 takes debkit.sources with two keys" sources_alone
ok "the first key leaves" "$DEBKIT" refresh --repo "$repo" --suite stable --sign-key "$fpr2"
ok "apt 3 follows" apt3 update
fetches() {
	in_root "$root" sh -c 'cd /tmp && apt-get download python3-natten-cu128-n000008' &&
		cmp "$root"/tmp/python3-natten-*.deb debs/python3-natten-cu128-n000008_*.deb
}
ok "and fetches a package" fetches
done_testing
