#!/bin/bash
# debkit toolchain: a repository in NVIDIA's layout, with stand-ins of the same names, served on
# loopback: what apt would choose is what is unpacked, and all that is wrong is one line.
. "$(dirname "$0")/lib.sh"
export DEBKIT_CACHE=$work/cache no_proxy='*' GNUPGHOME=$work/gnupg
unset CUDA_HOME http_proxy https_proxy all_proxy
mkdir -m 700 "$GNUPGHOME"
mkdir -p "$work/served/good" "$work/tree"
served=$work/served

# pack MODE NAME VERSION ARCH DEPENDS [FIELD...]: a .deb of the folder $work/tree, then empties it.
pack() {
	local mode=$1 name=$2 version=$3 arch=$4 depends=$5
	shift 5
	mkdir -p "$work/tree/DEBIAN" "$work/tree/usr/share/doc/$name" "$served/$mode"
	echo "$name $version" >"$work/tree/usr/share/doc/$name/copyright"
	{
		printf 'Package: %s\nVersion: %s\nArchitecture: %s\n' "$name" "$version" "$arch"
		printf 'Maintainer: stand-in <a@debkit.invalid>\nDescription: stand-in\n'
		[ -z "$depends" ] || echo "Depends: $depends"
		for line in "$@"; do echo "$line"; done
	} >"$work/tree/DEBIAN/control"
	dpkg-deb -Zgzip --root-owner-group --build "$work/tree" \
		"$served/$mode/${name}_${version}_$arch.deb" >/dev/null
	rm -rf "$work/tree"
	mkdir "$work/tree"
}

# put FILE [MODE] <TEXT: a file of the next package, below usr/local/cuda-12.8.
put() {
	local file=$work/tree/usr/local/cuda-12.8/$1
	mkdir -p "$(dirname "$file")"
	cat >"$file"
	chmod "${2:-644}" "$file"
}

nvcc() { # nvcc RELEASE VERSION: the stand-in of nvcc
	printf '#!/bin/sh\necho "Cuda compilation tools, release %s, V%s"\n' "$1" "$2" |
		put bin/nvcc 755
}

# index MODE: Packages of the good packages and of those of the mode, which win.
index() {
	local dir=$work/index
	rm -rf "$dir" && mkdir "$dir"
	cp "$served"/good/*.deb "$dir"
	[ "$1" = good ] || cp "$served/$1"/*.deb "$dir" 2>/dev/null
	mkdir -p "$served/$1"
	(cd "$dir" && apt-ftparchive packages .) >"$served/$1/Packages"
}

# sign MODE KEY [GPG-OPTION...]: Packages.gz, Release and InRelease of the mode's Packages.
sign() {
	local mode=$1 key=$2 dir=$work/release
	shift 2
	gzip -9nc "$served/$mode/Packages" >"$served/$mode/Packages.gz"
	rm -rf "$dir" && mkdir "$dir"
	cp "$served/$mode/Packages" "$served/$mode/Packages.gz" "$dir"
	{
		printf 'Origin: NVIDIA\nLabel: NVIDIA CUDA\nArchitecture: x86_64\n'
		[ -z "$until" ] || echo "Valid-Until: $until"
		apt-ftparchive release "$dir"
	} >"$served/$mode/Release"
	gpg --batch --yes --quiet -u "$key!" "$@" --clearsign -o "$served/$mode/InRelease" \
		"$served/$mode/Release"
}

# new_key NAME [GPG-OPTION...]: a key that signs by its primary; its fingerprint in $fpr.
new_key() {
	local name=$1
	shift
	gpg --batch --quiet --no-auto-check-trustdb --passphrase '' "$@" --quick-gen-key "$name <$name@debkit.invalid>" \
		rsa2048 sign "${life:-1y}" 2>/dev/null
	fpr=$(gpg --with-colons --list-keys "$name@" | sed -n 's/^fpr:*//p' | tr -d : | head -n 1)
}

until='' life=''
new_key other
other=$fpr
new_key weak --cert-digest-algo SHA1
weak=$fpr
life=seconds=3600 new_key old --faked-system-time 20240101T000000
old=$fpr
new_key nvidia
key=$fpr
pub=$(echo "${key:32}" | tr A-F a-f).pub
gpg --export "$key" >"$served/good/$pub"

# NVIDIA's packages of one release, their dependencies, a loop, and neighbours.
nvcc 12.8 12.8.61
pack good cuda-nvcc-12-8 12.8.61-1 amd64 'build-essential, cuda-crt-12-8, cuda-nvvm-12-8'
nvcc 12.8 12.8.93
pack good cuda-nvcc-12-8 12.8.93-1 amd64 \
	'build-essential, cuda-crt-12-8, cuda-nvvm-12-8 (>= 12.8.93), gcc | clang, libc6 (>= 2.17)'
nvcc 12.6 12.6.85
pack good cuda-nvcc-12-6 12.6.85-1 amd64 ''
echo crt | put targets/x86_64-linux/include/crt/host_config.h
pack good cuda-crt-12-8 12.8.93-1 all 'cuda-nvcc-12-8'
printf '#!/bin/sh\n' | put nvvm/bin/cicc 755
pack good cuda-nvvm-12-8 12.8.93-1 amd64 ''
pack good cuda-nvvm-12-8 12.8.61-1 amd64 ''
echo runtime | put targets/x86_64-linux/include/cuda_runtime.h
pack good cuda-cudart-dev-12-8 12.8.90-1 amd64 \
	'cuda-driver-dev-12-8,
 cuda-cccl-12-8 (>= 12.8.90), cuda-cudart-12-8 (= 12.8.90-1)'
echo so | put targets/x86_64-linux/lib/libcudart.so.12.8.90
ln -s libcudart.so.12.8.90 "$work/tree/usr/local/cuda-12.8/targets/x86_64-linux/lib/libcudart.so.12"
pack good cuda-cudart-12-8 12.8.90-1 amd64 'cuda-toolkit-12-8-config-common'
pack good cuda-cudart-12-8 12.8.57-1 amd64 'cuda-toolkit-12-8-config-common'
echo stub | put targets/x86_64-linux/lib/stubs/libcuda.so
pack good cuda-driver-dev-12-8 12.8.90-1 amd64 ''
echo cccl | put targets/x86_64-linux/include/cub/cub.cuh
pack good cuda-cccl-12-8 12.8.90-1 amd64 ''
pack good cuda-toolkit-12-8-config-common 12.8.90-1 all ''
index good
cp "$served/good/Packages" "$work/Packages"
# As seen in NVIDIA's own index: entries without a name, of no bytes, of another architecture.
printf '\nFilename: ./x.deb\nSize: 0\n\nPackage: cuda-nvcc-12-8\nVersion: 12.8.99-1\nSize: 0\n' \
	>>"$served/good/Packages"
printf 'Architecture: amd64\n\n\nPackage: cuda-nvcc-12-8\nVersion: 13-1\nArchitecture: arm64\n' \
	>>"$served/good/Packages"
sign good "$key"
gpg --export "$weak" >"$served/weak.pub"

python3 "$top/tests/data/flat.py" "$served" >"$work/port" &
server=$!
stop() { kill $server 2>/dev/null; cleanup; }
trap stop EXIT
for _ in $(seq 100); do
	[ ! -s "$work/port" ] || break
	sleep 0.05
done
url=http://127.0.0.1:$(cat "$work/port")

# get MODE [ARG...]: from the repository of that mode into a prefix of its own.
get() {
	local mode=$1
	shift
	"$DEBKIT" toolchain --cuda 12.8 --repo "$url/$mode" --key "$key" --prefix "$work/p/$mode" "$@"
}
absent() { [ ! -e "$work/p/$1" ] && [ ! -e "$work/p/$1.tmp" ]; }
says() { # says PATTERN COMMAND...: succeeds and its standard error matches
	local pattern=$1
	shift
	"$@" >"$work/.o" 2>"$work/.e" && grep -qE -e "$pattern" "$work/.e" || { cat "$work/.e"; return 1; }
}

# The judge: apt, with a copy of the index without the broken entries, which apt does not read.
mkdir -p "$work"/apt/{state/lists/partial,cache/archives/partial}
mkdir -p "$served/apt"
cp "$work/Packages" "$served/apt/Packages"
sign apt "$key"
echo "deb [signed-by=$served/good/$pub] $url/apt/ /" >"$work/apt/list"
apt_get() {
	apt-get -qq -o Dir::Etc::sourcelist="$work/apt/list" -o Dir::Etc::sourceparts=- \
		-o Dir::State="$work/apt/state" -o Dir::Cache="$work/apt/cache" \
		-o Dir::State::status=/var/lib/dpkg/status -o APT::Sandbox::User=root "$@"
}
ok "apt reads the stand-in repository" apt_get update
apt_get --print-uris -y install cuda-nvcc-12-8 cuda-cudart-dev-12-8 2>&1 |
	sed -n "s,^'$url/apt/\./\([^']*\).*,\1,p" | sort >"$work/apt.want"

# Without root, into a folder of its own.
mkdir -m 777 "$work/p"
chmod 755 "$work"
install -m 755 "$DEBKIT" "$work/debkit"
ok "the toolchain is made, without root" setpriv --reuid 65534 --regid 65534 --clear-groups \
	env HOME=/nonexistent DEBKIT_TEMPLATES="$top/templates" "$work/debkit" toolchain --cuda 12.8 \
	--repo "$url/good" --key "$key" --prefix "$work/p/good"
root=$work/p/good/usr/local/cuda-12.8
sed -n 's/^ \(cuda-[^ ]*\) \([^ ]*\) .*/\1_\2/p' "$work/p/good/debkit-toolchain" | sort >"$work/got"
sed 's/_[a-z0-9]*\.deb$//' "$work/apt.want" >"$work/want"
ok "with the packages and versions that apt chooses" diff "$work/want" "$work/got"
ok "there are eight" [ "$(wc -l <"$work/want")" = 8 ]
ok "its nvcc runs" sh -c "'$root/bin/nvcc' --version | grep -q V12.8.93"
ok "lib64 and include lead to the files" \
	sh -c "[ -e '$root/lib64/libcudart.so.12' ] && [ -e '$root/include/cub/cub.cuh' ]"
ok "nothing else is left" [ "$(ls -A "$work/p" | xargs)" = 'good good.lock' ]
ok "nothing of another release was fetched" sh -c "! grep -E '12-6|12\.8\.61|arm64' '$served/log'"
kill -STOP $server
ok "a second call does nothing and says so" says 'nothing to do: nvcc 12\.8\.93 is there' get good
kill -CONT $server
ok "the needs of the system are named" sh -c "grep -A9 '^Needs' '$work/p/good/debkit-toolchain' |
	grep -q 'libc6 (>= 2.17)'"

ok "into the cache" says 'left to this system: build-essential' "$DEBKIT" toolchain --cuda 12.8 \
	--repo "$url/good/" --key "$key" --keyring "$served/good/$pub"
ok "debkit build takes that nvcc" sh -c "$(declare -f hide_nvcc); DEBKIT='$DEBKIT'
	hide_nvcc '$DEBKIT' plan --cuda 12.8 | grep -q '^compiler  *nvcc 12.8.93'"

# Release with Release.gpg, as older repositories have it.
mkdir "$served/detached"
touch "$served/detached/InRelease.404"
gpg --batch --quiet -u "$key" -ab -o "$served/detached/Release.gpg" "$served/good/Release"
ok "Release and Release.gpg serve too" get detached
mkdir "$served/unsigned"
touch "$served/unsigned/"{InRelease,Release.gpg}.404
fails "no signature" 3 'is not signed' get unsigned
mkdir "$served/none"
touch "$served/none/"{InRelease,Release,Release.gpg}.404
fails "no repository" 1 'no flat apt repository' get none

# Signatures and keys. variant MODE KEY [GPG-OPTION...]: the good index, signed otherwise.
variant() {
	mkdir "$served/$1"
	cp "$served/good/Packages" "$served/$1/"
	sign "$@"
}
mkdir "$served/forged"
sed 's/^Label: NVIDIA/Label: nvidia/' "$served/good/InRelease" >"$served/forged/InRelease"
fails "a bad signature" 3 "'$url/forged/InRelease' cannot be trusted: the signature is bad" get forged
variant another "$other"
fails "signed by another key" 3 'signed by another key' get another
variant sha1 "$key" --digest-algo SHA1
fails "a SHA-1 signature" 3 'weak digest' get sha1
variant expired "$old" --faked-system-time 20240101T000100
gpg --export "$old" >"$served/expired/old.pub"
fails "a key that has expired" 3 'expired' get expired --key "$old" --keyring "$served/expired/old.pub"
until='Tue, 01 Oct 2024 00:00:00 UTC' variant stale "$key"
fails "a Release that has expired" 3 'has expired .Valid-Until' get stale
mkdir "$served/otherkey"
gpg --export "$other" >"$served/otherkey/$pub"
fails "the key served is not the pinned one" 3 "holds the key $other, expected $key" get otherkey
mkdir "$served/nokey"
touch "$served/nokey/"{$pub,"${key:32}.pub",cuda-archive-keyring.gpg}.404
fails "no key served" 1 'give its file with --keyring' get nokey
mkdir "$served/noise"
echo '<html>' >"$served/noise/$pub"
fails "a page where the key should be" 1 'holds no OpenPGP public key' get noise

variant weak "$weak"
fails "a key bound by SHA-1" 3 'SHA-1 self-signature' get weak --key "$weak" --keyring "$served/weak.pub"
cp -r "$top/templates" "$work/templates"
cat >"$work/templates/nvidia" <<-END
	Suite: pinned
	Url: $url/weak/
	Key: $weak
	Key-File: weak.pub
	Sha1-Binding: yes
END
cp "$served/weak.pub" "$served/weak/"
export DEBKIT_TEMPLATES=$work/templates
ok "unless the suite's data names it by fingerprint" "$DEBKIT" toolchain --cuda 12.8 --suite pinned \
	--prefix "$work/p/pinned"
sed -i 's/^Sha1-Binding: yes/Sha1-Bindings: yes/' "$work/templates/nvidia"
fails "a typo in the data" 1 'nvidia:5:.*Sha1-Bindings' "$DEBKIT" toolchain --cuda 12.8
unset DEBKIT_TEMPLATES

# A repository in mid-update, and files that are not there or not whole.
mkdir "$served/flux" "$served/torn" "$served/lost" "$served/gone" "$served/short" "$served/cut"
echo more | gzip -9n >"$served/flux/Packages.gz.1"
head -c "$(stat -c %s "$served/good/Packages.gz")" /dev/zero >"$served/flux/Packages.gz.2"
ok "Packages changes while it is read" says 'reading the repository again' get flux
cp "$served/flux/Packages.gz.1" "$served/torn/Packages.gz"
fails "Packages is never the one of Release" 3 "has 25 bytes, expected .* mid-update; try again" get torn
touch "$served/lost/Packages.gz.404"
fails "Packages is not there" 1 'Packages.gz. is not there .404' get lost
deb=cuda-nvvm-12-8_12.8.93-1_amd64.deb
touch "$served/gone/$deb.404"
fails "a .deb is not there" 1 "'$url/gone/$deb': the server answered 404" get gone
head -c 300 "$served/good/$deb" >"$served/short/$deb"
fails "a .deb is truncated" 3 "$deb' has SHA-256 [0-9a-f]{64}, expected [0-9a-f]{64}" get short
cp "$served/good/$deb" "$served/cut/$deb.1.cut"
ok "a connection that breaks once" get cut
for mode in forged torn short; do ok "nothing is left of $mode" absent $mode; done

# Indexes that are signed and wrong. index_with MODE SED-EXPRESSION...
index_with() {
	local mode=$1
	shift
	mkdir -p "$served/$mode"
	sed "$@" "$served/good/Packages" >"$served/$mode/Packages"
	sign "$mode" "$key"
}
index_with up -e 's,^Filename: ./cuda-crt,Filename: ../cuda-crt,'
fails "a file outside the repository" 1 \
	"needs cuda-crt-12-8, but its entry cannot be used: its Filename is '../cuda-crt" get up
index_with absolute -e 's,^Filename: ./cuda-crt,Filename: http://127.0.0.1/cuda-crt,'
fails "a file on another server" 1 "its Filename is 'http://127.0.0.1/cuda-crt" get absolute
index_with without -e 's/^Package: cuda-nvvm-12-8/Package: cuda-nvvm-12-9/'
fails "a part of CUDA is missing" 1 'cuda-nvcc-12-8 12.8.93-1 needs cuda-nvvm-12-8 .>= 12.8.93., but it is not there' \
	get without
index_with older -e 's/^Version: 12.8.93-1/Version: 12.8.62-1/'
fails "a part of CUDA is too old" 1 'its newest there is 12.8.62-1' get older
index_with release -e 's/^Package: cuda-nvcc-12-8/Package: cuda-nvcc-13-0/'
fails "the release is not there" 1 'cuda-nvcc-12-8: it is not there .of its kind there are cuda-nvcc-12-6 cuda-nvcc-13-0' \
	get release
index_with renamed -e 's/^Package: cuda-cccl-12-8/Package: cuda-driver-dev-12-9/' \
	-e 's/cuda-cccl-12-8 (>= 12.8.90)/cuda-driver-dev-12-9/'
fails "a .deb is another package than the index says" 3 \
	"its Package is 'cuda-cccl-12-8', expected 'cuda-driver-dev-12-9'" get renamed
index_with nohash -e '/^SHA256:/d'
fails "no SHA256 in the index" 1 'it has no SHA256' get nohash

# Packages that are signed and wrong. package MODE NAME DEPENDS: of the next tree.
package() {
	pack "$1" "$2" 12.8.95-1 amd64 "$3"
	index "$1"
	sign "$1" "$key"
}
mkdir "$work/outside"
ln -s "$work/outside" "$work/tree/way"
pack links cuda-crt-12-8 12.8.94-1 amd64 ''
mkdir "$work/tree/way"
echo x >"$work/tree/way/x"
package links cuda-nvvm-12-8 cuda-crt-12-8
fails "a package that leads out through another's link" 1 "behind a link that leads out" get links
ok "nothing was written there" [ -z "$(ls -A "$work/outside")" ]
echo other | put targets/x86_64-linux/include/cub/cub.cuh
package twice cuda-crt-12-8 ''
fails "two packages with one file" 1 'another package has .usr/local/.*cub.cuh. too' get twice
nvcc 12.6 12.6.85
package wrong cuda-nvcc-12-8 ''
fails "an nvcc of another release" 1 'no nvcc of CUDA 12.8 that runs on this machine' get wrong
pack big cuda-crt-12-8 12.8.94-1 amd64 ''
package big cuda-nvvm-12-8 ''
sed -i 's/^Version:/Installed-Size: 400000\n&/' "$served/big/Packages"
sign big "$key"
mkdir "$work/small"
mount -t tmpfs -o size=4m tmpfs "$work/small"
fails "a disk without room" 1 '[0-9]+ MB are needed in .* to fetch, [0-9]+ unpacked., [0-9] are free' \
	"$DEBKIT" toolchain --cuda 12.8 --repo "$url/big" --key "$key" --prefix "$work/small/x"
umount "$work/small"

# Stopped in the middle; the same command goes on and fetches no package twice.
mkdir "$served/slow"
cp "$served/good/$deb" "$served/slow/$deb.1.slow"
env --default-signal=INT "$DEBKIT" toolchain --cuda 12.8 --repo "$url/slow" --key "$key" --prefix "$work/p/slow" \
	>"$work/slow.out" 2>"$work/slow.err" &
pid=$!
for _ in $(seq 200); do
	grep -q "/slow/$deb" "$served/log" && break
	sleep 0.05
done
sleep 0.2
kill -INT $pid
wait $pid
status=$?
ok "a signal ends it with 130" [ $status = 130 ]
ok "and leaves no folder" absent slow
ok "two at once are refused" sh -c "exec 9>'$work/p/slow.lock'; flock 9; ! '$DEBKIT' toolchain \
	--cuda 12.8 --repo '$url/slow' --key $key --prefix '$work/p/slow' 2>&1 | grep -v 'another debkit'"
ok "the same command goes on" get slow
ok "and fetches nothing twice that was there" \
	[ "$(grep -c '/slow/cuda-nvcc-12-8' "$served/log")" = 1 ]

# What people type.
mkdir "$work/p/full"
touch "$work/p/full/x"
fails "the prefix is something else" 1 'holds something else than a toolchain' get full
fails "no CUDA named" 2 'such as --cuda 12.8' "$DEBKIT" toolchain
fails "no CUDA release" 2 "'12' is no CUDA release" "$DEBKIT" toolchain --cuda 12
fails "a repository without a key" 2 'needs --key FPR' "$DEBKIT" toolchain --cuda 12.8 --repo "$url"
fails "a short key" 2 'expected 40 hex digits' "$DEBKIT" toolchain --cuda 12.8 --repo "$url" --key 3bf863cc
fails "an unknown suite" 2 'known are: ubuntu2404 debian12' "$DEBKIT" toolchain --cuda 12.8 --suite foo
fails "NVIDIA's host out of reach" 1 \
	'developer.download.nvidia.com.*check the network.; a mirror can be named with --repo' \
	unshare -n "$DEBKIT" toolchain --cuda 12.6
done_testing
