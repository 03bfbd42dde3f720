# Clean Debian roots, a loopback server and a real torch, for end-to-end tests.

# A port on loopback that was free a moment ago, and the URL under it.
url_port() {
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	url=http://127.0.0.1:$port
}

# serve DIR: a web server on $port until the test ends.
serve() {
	python3 -m http.server --bind 127.0.0.1 -d "$1" "$port" >"$work/server.log" 2>&1 &
	server=$!
	trap 'kill "$server" 2>/dev/null; umount_root; cleanup' EXIT
	for _ in $(seq 50); do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
		sleep 0.1
	done
	echo "Bail out! the web server does not answer"
	exit 1
}

# make_root SUITE DIR: python3, apt and ca-certificates and what they need, nothing else, from
# the packages that this machine's apt uses. The root is made once and kept under build/.
make_root() {
	local suite=$1 dir=$2 tar=$top/build/roots/$1.tar sources
	if [ ! -f "$tar" ]; then
		mkdir -p "$top/build/roots"
		sources=$(ls /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -1)
		grep -q "$suite" "$sources" || sources=
		mmdebstrap --mode=root --format=tar --variant=apt --include=python3,ca-certificates "$suite" \
			"$tar.tmp" ${sources:+"$sources"} && mv "$tar.tmp" "$tar" || return
	fi
	mkdir -p "$dir" && tar -xf "$tar" -C "$dir" --exclude='./dev/*' || return
	cp /etc/resolv.conf "$dir/etc/resolv.conf"
	mount -t tmpfs tmpfs "$dir/dev" && mount -t proc proc "$dir/proc" || return
	mounted=$dir
	for node in null zero random urandom; do
		mknod -m 666 "$dir/dev/$node" c $(stat -c '0x%t 0x%T' /dev/$node)
	done
	mkdir -m 1777 "$dir/dev/shm"
}

umount_root() {
	[ -n "${mounted:-}" ] || return 0
	[ ! -x "$mounted/usr/bin/gpgconf" ] || in_root "$mounted" gpgconf --kill all
	umount "$mounted/proc"
	umount "$mounted/dev" || umount -l "$mounted/dev"
	mounted=
}

# in_root DIR COMMAND...: with an environment of its own.
in_root() {
	local dir=$1
	shift
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive chroot "$dir" "$@"
}

no_compiler() {
	[ -x "$1/usr/bin/python3" ] && [ -x "$1/usr/bin/apt-get" ] || return
	! find "$1"/usr/bin "$1"/usr/local "$1"/usr/lib/gcc "$1"/usr/include \
		\( -name 'gcc*' -o -name 'cc' -o -name 'g++*' -o -name 'nvcc*' -o -name 'clang*' \
		-o -name Python.h -o -name 'ptxas*' \) 2>/dev/null | grep .
}

# import_says DIR PYTHON REGEX: importing the extension fails with one line that matches.
import_says() {
	in_root "$1" "$2" -c 'import causal_conv1d_cuda' >"$work/import" 2>&1 && return 1
	cat "$work/import"
	tail -n 1 "$work/import" | grep -qE "(ImportError|ModuleNotFoundError): .*$3"
}

# install_torch VERSION SITE: from this machine's index for CPython 3.11; kept under build/ and
# linked into SITE.
install_torch() {
	local kept=$top/build/torch/$1-cp311
	if [ ! -d "$kept" ]; then
		rm -rf "$kept.tmp"
		python3 -m pip install -q --no-compile --python-version 3.11 --only-binary=:all: \
			--target "$kept.tmp" "torch==$1" && mv "$kept.tmp" "$kept" || return
	fi
	cp -al "$kept/." "$2/" 2>/dev/null || cp -a "$kept/." "$2/"
}

# install_transformers VERSION SITE: without torch; from this machine's index for CPython 3.11; kept
# under build/ and linked into SITE.
install_transformers() {
	local kept=$top/build/torch/transformers-$1-cp311
	if [ ! -d "$kept" ]; then
		rm -rf "$kept.tmp"
		python3 -m pip install -q --no-compile --python-version 3.11 --only-binary=:all: \
			--target "$kept.tmp" "transformers==$1" && mv "$kept.tmp" "$kept" || return
	fi
	cp -aln "$kept/." "$2/" 2>/dev/null || cp -an "$kept/." "$2/"
}
