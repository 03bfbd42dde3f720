#!/bin/bash
# debkit publish and its kin. The judges are this machine's apt, gpgv, apt-ftparchive and nginx.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
cd "$work" || exit 1
test_key
export SOURCE_DATE_EPOCH=1764500000
repo=$work/repo
pub() { "$DEBKIT" publish --repo "$repo" --suite stable --sign-key "$fpr" --unsigned-ok "$@"; }
key=$repo/debkit-archive-keyring.gpg

make_deb debs/a1.deb liba 1.0-1
make_deb debs/a2.deb liba 1:0.9-1
make_deb debs/b.deb tool-b 2.0~rc1+x-1
make_deb debs/c.deb tool-c 1.0 all
apt_root root "[signed-by=$key] file:$repo stable main"

# First publish.
ok "publish makes a repository" pub --url "file:$repo" debs/a1.deb debs/c.deb
ok "apt updates and sees both" updates root liba 1.0-1 tool-c 1.0
ok "packages lie below their source's name" test -f "$repo/pool/main/liba/liba/liba_1.0-1_amd64.deb" \
	-a -f "$repo/pool/main/t/tool-c/tool-c_1.0_all.deb"
fetches() { local dir=$1; shift; (mkdir -p dl && cd dl && apt_in "$work/$dir" download "$@" && ls ./*.deb); }
ok "apt fetches them and likes their hashes" fetches root liba tool-c
ok "gpgv accepts InRelease and Release.gpg" bash -c "cd '$repo/dists/stable' &&
	gpgv --keyring '$key' InRelease && gpgv --keyring '$key' Release.gpg Release"
ok "every file that Release names is what it says, by name and by hash" bash -c '
	cd "'"$repo"'/dists/stable" && sed -n "/^SHA256:/,\$s/^ //p" Release | while read -r hash size name; do
		file=$name; [ -f "$file" ] || { [[ $name == */Packages ]] && continue; exit 1; }
		echo "$hash  $file" | sha256sum -c --quiet && [ "$(stat -c %s "$file")" = "$size" ] &&
		cmp "$file" "$(dirname "$name")/by-hash/SHA256/$hash" || exit 1
	done'
ok "by-hash holds plain files" bash -c "! find '$repo/dists' -type l | grep ."
ok "gz, zst and plain are the same text" bash -c "cd '$repo/dists/stable/main/binary-amd64' &&
	zcat Packages.gz | cmp - Packages && zstd -qdc Packages.zst | cmp - Packages"
has() { grep -qx "$1" "$repo/dists/stable/Release"; }
for line in 'Origin: debkit' 'Label: debkit' 'Suite: stable' 'Codename: stable' 'Changelogs: no' \
	'Acquire-By-Hash: yes' 'Architectures: amd64' 'Components: main' "Signed-By: $fpr" \
	'Date: .* UTC' 'Valid-Until: .* UTC'; do
	ok "Release says '$line'" has "$line"
done
ok "debkit.sources alone configures apt" bash -c "mkdir r2 && . '$top/tests/e2e/repo.sh' && work=$work &&
	apt_root r2 x && rm r2/etc/apt/sources.list && cp '$repo/debkit.sources' r2/etc/apt/sources.list.d/ &&
	updates r2 liba 1.0-1 tool-c 1.0"

# The same stanzas as apt-ftparchive's, but for what it adds.
same_stanzas() {
	(cd "$repo" && apt-ftparchive -o APT::FTPArchive::MD5=false -o APT::FTPArchive::SHA1=false \
		-o APT::FTPArchive::SHA512=false packages pool) >theirs || return
	python3 - "$repo/dists/stable/main/binary-amd64/Packages.gz" theirs <<-'X'
		import gzip, sys
		def stanzas(text):
		    out = []
		    for block in text.strip().split("\n\n"):
		        fields, name = {}, None
		        for line in block.split("\n"):
		            if line[0] in " \t":
		                fields[name] += "\n" + line
		            else:
		                name, value = line.split(":", 1)
		                fields[name] = value.strip()
		        out.append(tuple(sorted(fields.items())))
		    return sorted(out)
		ours = stanzas(gzip.open(sys.argv[1], "rt").read())
		theirs = stanzas(open(sys.argv[2]).read())
		assert ours == theirs, (ours, theirs)
	X
}
ok "apt-ftparchive writes the same stanzas" same_stanzas

# Again, and more.
before=$(cd "$repo" && find . -path ./.debkit -prune -o -type f -printf '%p %i %T@\n' | sort | sha256sum)
ok "the same again writes nothing" pub debs/a1.deb debs/c.deb
after=$(cd "$repo" && find . -path ./.debkit -prune -o -type f -printf '%p %i %T@\n' | sort | sha256sum)
ok "no file is touched by it" test "$before" = "$after"
ok "it needs no key on the command line any more" "$DEBKIT" publish --repo "$repo" --suite stable \
	--unsigned-ok debs/a2.deb debs
ok "apt sees the new ones" updates root liba 1.0-1 liba 1:0.9-1 tool-b '2.0~rc1+x-1' tool-c 1.0
ok "and apt-ftparchive still agrees" same_stanzas
ok "three generations are kept by hash" bash -c "
	[ \$(ls '$repo'/dists/stable/main/binary-amd64/by-hash/SHA256 | wc -l) = 6 ]"

# Other bytes under the same name and version.
payload=other make_deb other/a1.deb liba 1.0-1
old=$(sha256sum <debs/a1.deb | cut -c1-64) new=$(sha256sum <other/a1.deb | cut -c1-64)
says_both() {
	! pub other/a1.deb 2>said && grep -q "$old.*$new" said && [ "$(wc -l <said)" = 2 ]
}
ok "other bytes are refused with both hashes" says_both
ok "versions that differ in the epoch alone are refused" bash -c "
	. '$top/tests/e2e/repo.sh'; work=$work; make_deb e.deb liba 2:1.0-1
	! '$DEBKIT' publish --repo '$repo' --suite stable --unsigned-ok e.deb 2>said && grep -q 'same file name' said"
ok "nothing has changed by that" updates root liba 1.0-1 liba 1:0.9-1 tool-b '2.0~rc1+x-1' tool-c 1.0

# Architectures and components.
make_deb debs2/d.deb tool-d 1 arm64
ok "arm64 is published like any other" pub debs2/d.deb
archs=arm64,amd64 ok "apt sees it where arm64 is wanted" bash -c "
	. '$top/tests/e2e/repo.sh'; work=$work; export archs=arm64,amd64
	apt_root ra '[signed-by=$key] file:$repo stable main'
	updates ra liba 1.0-1 liba 1:0.9-1 tool-b '2.0~rc1+x-1' tool-c 1.0 tool-d 1"
ok "the new index lists packages for all" bash -c "
	zcat '$repo/dists/stable/main/binary-arm64/Packages.gz' | grep -qx 'Package: tool-c'"
make_deb debs2/e.deb tool-e 1
ok "another component" pub --component contrib debs2/e.deb
apt_root rc "[signed-by=$key] file:$repo stable contrib"
ok "has an index of its own" updates rc tool-e 1
ok "and the first one stays" updates root liba 1.0-1 liba 1:0.9-1 tool-b '2.0~rc1+x-1' tool-c 1.0

# Versions.
for v in 1 2 3 4; do make_deb "v/$v.deb" tool-v "$v.0"; done
ok "publish --keep 2 of four versions" pub --keep 2 v
apt_root rv "[signed-by=$key] file:$repo stable main"
base=(liba 1.0-1 liba 1:0.9-1 tool-b '2.0~rc1+x-1' tool-c 1.0)
ok "lists the newest two" updates rv "${base[@]}" tool-v 3.0 tool-v 4.0
make_deb v/5.deb tool-v 5.0
ok "a newer one pushes the oldest out" pub --keep 2 v/5.deb
ok "apt sees that" updates rv "${base[@]}" tool-v 4.0 tool-v 5.0

# Remove, list, gc.
says() { # WHAT COMMAND...: standard output is WHAT
	local want=$1
	shift
	diff <(printf '%s\n' "$want") <("$@" 2>/dev/null)
}
l() { "$DEBKIT" "$1" --repo "$repo" "${@:2}"; }
ok "list" says $'stable\tmain\ttool-v\t4.0\tamd64\tpool/main/t/tool-v/tool-v_4.0_amd64.deb
stable\tmain\ttool-v\t5.0\tamd64\tpool/main/t/tool-v/tool-v_5.0_amd64.deb' l list --suite stable 'tool-v*'
ok "remove --dry-run changes nothing" l remove --suite stable --dry-run tool-v
ok "so list says the same" bash -c "[ \$('$DEBKIT' list --repo '$repo' tool-v | wc -l) = 2 ]"
ok "remove one version" l remove --suite stable tool-v=4.0 tool-b
ok "apt sees that it has gone" updates rv liba 1.0-1 liba 1:0.9-1 tool-c 1.0 tool-v 5.0
fails "remove of what is not there" 2 "lists no package 'nosuch'" l remove --suite stable nosuch
ok "gc keeps young leftovers" bash -c "[ -z \"\$('$DEBKIT' gc --repo '$repo' 2>/dev/null)\" ]"
ok "gc says what would go" bash -c "'$DEBKIT' gc --repo '$repo' --grace 0 | grep -q tool-v_4.0_amd64.deb"
ok "and leaves it" test -f "$repo/pool/main/t/tool-v/tool-v_4.0_amd64.deb"
ok "gc --yes" l gc --grace 0 --yes
ok "removes it, and its empty folder" test ! -e "$repo/pool/main/t/tool-v/tool-v_4.0_amd64.deb" \
	-a ! -e "$repo/pool/main/t/tool-b"
ok "what is listed stays" fetches rv tool-v
ok "gc finds nothing more" bash -c "[ -z \"\$('$DEBKIT' gc --repo '$repo' --grace 0 2>/dev/null)\" ]"
ok "a version that was removed and collected comes back" pub v/4.deb
l remove --suite stable tool-v=4.0 >/dev/null 2>&1

# Snapshots and copies.
ok "snapshot" says day1 l snapshot --suite stable day1
fails "a second one of that name" 1 "exists" l snapshot --suite stable day1
apt_root rs "[signed-by=$key] file:$repo day1 main"
later=$(($(date +%s) + 3600)) dated=stable-$(date -u -d '+1 hour' +%Y%m%d)
ok "a dated name by default" bash -c "DEBKIT_NOW=$later '$DEBKIT' snapshot --repo '$repo' --suite stable |
	grep -qx $dated"
rm -rf "$repo/dists/$dated"
ok "remove from the suite" l remove --suite stable tool-v
ok "the suite no longer lists it" updates rv liba 1.0-1 liba 1:0.9-1 tool-c 1.0
ok "the snapshot is a suite that does" updates rs liba 1.0-1 liba 1:0.9-1 tool-c 1.0 tool-v 5.0
ok "gc spares what a snapshot lists" bash -c "'$DEBKIT' gc --repo '$repo' --grace 0 --yes 2>/dev/null;
	test -f '$repo/pool/main/t/tool-v/tool-v_5.0_amd64.deb'"
fails "a snapshot cannot be published into" 2 "never changes" "$DEBKIT" publish --repo "$repo" \
	--suite day1 --unsigned-ok debs/b.deb
ok "diff" says $'-\tmain\ttool-v\t5.0\tamd64' l diff day1 stable
ok "copy from the snapshot" l copy --from day1 --to stable tool-v
ok "the suite lists it again" updates rv liba 1.0-1 liba 1:0.9-1 tool-c 1.0 tool-v 5.0
ok "diff finds nothing" says '' bash -c "'$DEBKIT' diff --repo '$repo' day1 stable; echo"
ok "copy all to a new suite" l copy --from stable --to next
apt_root rn "[signed-by=$key] file:$repo next main"
ok "which apt reads" updates rn liba 1.0-1 liba 1:0.9-1 tool-c 1.0 tool-v 5.0
ok "list --suites" bash -c "'$DEBKIT' list --repo '$repo' --suites | grep -c ^Suite: | grep -qx 3"

# Dates and keys.
refreshes() {
	local was
	was=$(grep ^Valid-Until "$repo/dists/stable/Release")
	DEBKIT_NOW=$(($(date +%s) + 5)) l refresh --suite stable --valid-days 30 &&
		[ "$was" != "$(grep ^Valid-Until "$repo/dists/stable/Release")" ]
}
ok "refresh renews Valid-Until" refreshes
ok "apt accepts it" updates rv liba 1.0-1 liba 1:0.9-1 tool-c 1.0 tool-v 5.0
expired() {
	DEBKIT_NOW=$(($(date +%s) - 40 * 86400)) "$DEBKIT" publish --repo old --suite stable --sign-key "$fpr" \
		--unsigned-ok --valid-days 30 debs/b.deb || return
	apt_root ro "[signed-by=$key] file:$work/old stable main"
	! apt_in ro update >said 2>&1 && grep -q 'expired' said || return
	"$DEBKIT" refresh --repo old --suite stable && updates ro tool-b '2.0~rc1+x-1'
}
ok "an expired Release is refused by apt, and refreshed" expired
fpr2=$("$DEBKIT" keys new --uid "second <second@debkit.invalid>")
both() {
	"$DEBKIT" refresh --repo "$repo" --suite stable --sign-key "$fpr,$fpr2" || return
	for f in "$fpr" "$fpr2"; do
		gpg -q --export "$f" >one.gpg
		apt_root "rk.$f" "[signed-by=$work/one.gpg] file:$repo stable main"
		updates "rk.$f" liba 1.0-1 liba 1:0.9-1 tool-c 1.0 tool-v 5.0 || return
	done
	[ "$(gpgv --keyring "$key" "$repo/dists/stable/InRelease" 2>&1 | grep -c 'Good signature')" = 2 ]
}
ok "two keys sign, and clients of either are content" both
ok "debkit.sources follows with both keys" bash -c "
	'$DEBKIT' publish --repo '$repo' --suite stable --unsigned-ok --url 'file:$repo' debs/a1.deb &&
	. '$top/tests/e2e/repo.sh'; work=$work; apt_root r5 x; rm r5/etc/apt/sources.list
	cp '$repo/debkit.sources' r5/etc/apt/sources.list.d/
	apt_in r5 update"
fails "a signed suite is not published without a signature" 3 "is signed" \
	"$DEBKIT" publish --repo "$repo" --suite stable --unsigned debs/b.deb
fails "a new suite needs a key or --unsigned" 2 "no key to sign with" \
	"$DEBKIT" publish --repo "$repo" --suite other debs/b.deb
fails "a key that is not there" 3 "no key" "$DEBKIT" publish --repo "$repo" --suite other \
	--sign-key 0123456789ABCDEF0123456789ABCDEF01234567 debs/b.deb
unsigned() {
	"$DEBKIT" publish --repo plain --suite stable --unsigned --url "file:$work/plain" debs/b.deb || return
	apt_root rp "[trusted=yes] file:$work/plain stable main"
	updates rp tool-b '2.0~rc1+x-1' && grep -qx 'Trusted: yes' plain/debkit.sources
}
ok "an unsigned suite, for tests" unsigned

# All digests, and .xz.
compat() {
	pub --compat debs/b.deb || return
	cd "$repo/dists/stable/main/binary-amd64" || return
	xz -dc Packages.xz | cmp - Packages || return
	[ "$(xz --robot --list Packages.xz | awk '$1 == "file" {print $2}')" = 1 ] || return
	grep -q '^SHA512: ' Packages && grep -q '^MD5sum: ' Packages && grep -q '^SHA512:$' ../../Release || return
	cd "$work" && updates rv liba 1.0-1 liba 1:0.9-1 tool-b '2.0~rc1+x-1' tool-c 1.0 tool-v 5.0
}
ok "--compat: all digests, and .xz of one stream" compat
ok "it stays so" pub debs2/d.deb v/4.deb
ok "and apt reads the .xz" bash -c "cd '$work/root' && . '$top/tests/e2e/repo.sh' && work=$work &&
	apt_in '$work/root' -o Acquire::CompressionTypes::Order::=xz update"
ok "--no-compat: back to SHA-256" bash -c "'$DEBKIT' publish --repo '$repo' --suite stable --unsigned-ok \
	--no-compat debs/b.deb && ! grep -q '^SHA512:' '$repo/dists/stable/Release' &&
	! zgrep -q ^MD5sum '$repo/dists/stable/main/binary-amd64/Packages.gz' &&
	! test -e '$repo/dists/stable/main/binary-amd64/Packages.xz'"
now=(liba 1.0-1 liba 1:0.9-1 tool-b '2.0~rc1+x-1' tool-c 1.0 tool-v 4.0 tool-v 5.0)
ok "apt sees the same" updates rv "${now[@]}"

no_gz() {
	pub --no-gz debs/b.deb && ! test -e "$repo/dists/stable/main/binary-amd64/Packages.gz" &&
		updates rv "${now[@]}" && pub debs2/e.deb --component main &&
		! grep -q 'Packages[.]gz' "$repo/dists/stable/Release" && updates rv "${now[@]}" tool-e 1 &&
		l remove --suite stable --component main tool-e && pub --gz debs/b.deb &&
		zcat "$repo/dists/stable/main/binary-amd64/Packages.gz" |
		cmp - <(zstd -qdc "$repo/dists/stable/main/binary-amd64/Packages.zst")
}
ok "--no-gz, for as long as is wanted" no_gz
ok "apt sees the same without it and with it" updates rv "${now[@]}"

# The state is never the truth.
ok "without its state the repository goes on" bash -c "rm -r '$repo'/.debkit/state.db* &&
	'$DEBKIT' publish --repo '$repo' --suite stable --unsigned-ok v/1.deb"
ok "and lists what it did" updates rv "${now[@]}" tool-v 1.0
ok "rubbish for a state is made again" bash -c "rm -f '$repo'/.debkit/state.db*;
	echo rubbish >'$repo/.debkit/state.db'; '$DEBKIT' remove --repo '$repo' --suite stable tool-v=1.0"
ok "with the same list" updates rv "${now[@]}"
ok "publish --rebuild reads the pool again" bash -c "'$DEBKIT' publish --repo '$repo' --suite stable --rebuild"
ok "with the same list again" updates rv "${now[@]}"
ok "a rebuild finds a damaged file" bash -c "cp -r '$repo' hurt && cd hurt/pool/main/t/tool-v &&
	cp '$work/debs/b.deb' tool-v_5.0_amd64.deb && cd '$work' &&
	! '$DEBKIT' publish --repo hurt --suite stable --rebuild 2>said && grep -q 'tool-v_5.0_amd64.deb' said"
ok "a rebuild without dists/ lists the pool" bash -c "cp -r '$repo' lost && rm -r lost/dists &&
	'$DEBKIT' publish --repo lost --suite stable --rebuild --unsigned-ok --sign-key '$fpr' &&
	'$DEBKIT' list --repo lost | grep -q tool-v_5.0"
ok "a file that the pool lost comes back" bash -c "rm '$repo/pool/main/t/tool-v/tool-v_5.0_amd64.deb' &&
	'$DEBKIT' publish --repo '$repo' --suite stable --unsigned-ok v/5.deb &&
	test -f '$repo/pool/main/t/tool-v/tool-v_5.0_amd64.deb'"

# Signatures of packages.
ok "a package that the key has signed is admitted" bash -c "cp debs/b.deb s.deb &&
	'$DEBKIT' sign --sign-key '$fpr' s.deb && '$DEBKIT' publish --repo sig --suite stable --sign-key '$fpr' s.deb"
not_signed() { ! "$DEBKIT" publish --repo sig --suite stable debs/c.deb 2>said || return
	grep -q "refused.*c.deb" said && grep -q 'nothing was published' said; }
ok "one that it has not is refused" not_signed

# Two at once.
exec 9>"$repo/.debkit/lock"
flock 9
fails "--no-wait" 1 "locked" pub --no-wait debs/b.deb
waits() {
	pub debs/b.deb 9>&- 2>waiting &
	local pid=$!
	for _ in $(seq 100); do grep -q 'waiting for another' waiting && break; sleep 0.05; done
	flock -u 9
	wait $pid && grep -q 'waiting for another' waiting
}
ok "a second publisher says that it waits, and goes on" waits
exec 9>&-

ok "--link makes hard links" bash -c "'$DEBKIT' publish --repo linked --suite stable --unsigned --link debs/b.deb &&
	test debs/b.deb -ef linked/pool/main/t/tool-b/tool-b_2.0~rc1+x-1_amd64.deb"
ok "publish makes copies" bash -c "! test debs/b.deb -ef '$repo/pool/main/t/tool-b/tool-b_2.0~rc1+x-1_amd64.deb'"

# A disk that is really full, and then no longer.
full_disk() {
	mkdir small && mount -t tmpfs -o size=600k tmpfs small || return
	head -c 500000 /dev/urandom >random
	mkdir -p big/DEBIAN && cp random big/ && printf '%s\n' 'Package: big' 'Version: 1' 'Architecture: amd64' \
		'Maintainer: Test <test@debkit.invalid>' 'Description: big' >big/DEBIAN/control
	dpkg-deb --root-owner-group -Znone -b big big.deb >/dev/null || return
	"$DEBKIT" publish --repo small/r --suite stable --sign-key "$fpr" --unsigned-ok debs/b.deb || return
	apt_root rf "[signed-by=$key] file:$work/small/r stable main"
	! "$DEBKIT" publish --repo small/r --suite stable --unsigned-ok big.deb 2>said || return
	grep -q 'No space left' said && [ "$(grep -c '^debkit: error' said)" = 1 ] || return
	updates rf tool-b '2.0~rc1+x-1' && ! find small/r -name 'big*' | grep . || return
	mount -o remount,size=3m small && "$DEBKIT" publish --repo small/r --suite stable --unsigned-ok big.deb &&
		updates rf tool-b '2.0~rc1+x-1' big 1
}
full_disk_and_back() {
	full_disk
	local rc=$?
	umount small 2>/dev/null
	return $rc
}
ok "a full disk: one line, the old list, and then the new one" full_disk_and_back

# A repository that reprepro made, and files that were damaged in the pool.
adopt() {
	mkdir -p foreign/conf && printf '%s\n' 'Codename: stable' 'Suite: stable' 'Architectures: amd64 arm64' \
		'Components: main' "SignWith: $fpr" >foreign/conf/distributions
	reprepro --silent -P optional -S misc -b foreign includedeb stable debs/a1.deb debs/c.deb || return
	apt_root rt "[signed-by=$key] file:$work/foreign stable main"
	"$DEBKIT" publish --repo foreign --suite stable --sign-key "$fpr" --unsigned-ok debs/b.deb &&
		updates rt liba 1.0-1 tool-b '2.0~rc1+x-1' tool-c 1.0
}
ok "a repository that reprepro made goes on" adopt
heal() {
	local file=$work/foreign/pool/main/t/tool-b/tool-b_2.0~rc1+x-1_amd64.deb
	printf x | dd of="$file" bs=1 seek=300 conv=notrunc 2>/dev/null
	"$DEBKIT" publish --repo foreign --suite stable --unsigned-ok debs/b.deb && ! cmp -s debs/b.deb "$file" &&
		"$DEBKIT" publish --repo foreign --suite stable --unsigned-ok --paranoid debs/b.deb &&
		cmp debs/b.deb "$file"
}
ok "--paranoid reads the pool, and replaces what is damaged" heal
keep_all() {
	"$DEBKIT" publish --repo foreign --suite stable --unsigned-ok v/1.deb v/2.deb v/3.deb &&
		"$DEBKIT" publish --repo foreign --suite stable --keep 1 &&
		updates rt liba 1.0-1 tool-b '2.0~rc1+x-1' tool-c 1.0 tool-v 3.0
}
ok "--keep without files looks at all packages" keep_all

# Only a check.
ok "--check-only says yes" "$DEBKIT" publish --check-only --unsigned-ok debs
ok "and writes nothing" bash -c "'$DEBKIT' publish --check-only --unsigned-ok --repo none --suite x debs && ! test -e none"
fails "--check-only says no to other bytes" 1 "1 of 1 files refused" "$DEBKIT" publish --check-only \
	--unsigned-ok --repo "$repo" --suite stable other/a1.deb
fails "no file" 2 "no .deb file" pub
fails "no repository" 2 "holds no repository" "$DEBKIT" list --repo "$work/nowhere"
fails "no such suite" 2 "has no suite" l list --suite nosuch
fails "a bad name for a suite" 2 "expected letters" "$DEBKIT" publish --repo "$repo" --suite ../x --unsigned debs

# A real web server.
cat >nginx.conf <<X
daemon off; master_process off; pid $work/nginx.pid; error_log stderr;
events {}
http { access_log $work/access.log; client_body_temp_path $work/n1; proxy_temp_path $work/n2;
	fastcgi_temp_path $work/n3; uwsgi_temp_path $work/n4; scgi_temp_path $work/n5;
	server { listen unix:$work/nginx.sock; listen 127.0.0.1:PORT; root $repo; } }
X
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
sed -i "s/PORT/$port/" nginx.conf
nginx -e stderr -p "$work" -c "$work/nginx.conf" 2>nginx.err &
server=$!
trap 'kill $server 2>/dev/null; cleanup' EXIT
for _ in $(seq 50); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.1; done
apt_root rh "[signed-by=$key] http://127.0.0.1:$port stable main"
ok "apt updates from nginx" updates rh "${now[@]}"
ok "by hash" grep -q 'GET /dists/stable/main/binary-amd64/by-hash/SHA256/' access.log

ok "and fetches packages" fetches rh liba tool-c
# Two changes within one second: the second must not pass for "not modified".
quick() {
	for v in 6 7; do make_deb "q/$v.deb" tool-q "$v"; done
	pub q/6.deb && updates rh "${now[@]}" tool-q 6 && pub q/7.deb && updates rh "${now[@]}" tool-q 6 tool-q 7
}
ok "two publishes within a second are both seen" quick
done_testing
