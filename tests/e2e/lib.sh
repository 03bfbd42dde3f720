# Common part of the end-to-end tests: TAP on standard output, a private folder, the program.
# A test does:  . "$(dirname "$0")/lib.sh";  ok "what must hold" command args...;  done_testing
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
DEBKIT=${DEBKIT:-$top/build/release/debkit}
export LC_ALL=C.UTF-8
umask 022
work=$(mktemp -d "${TMPDIR:-/tmp}/debkit-test.XXXXXX")
n=0 failed=0

cleanup() {
	[ -d "$work/gnupg" ] && GNUPGHOME=$work/gnupg gpgconf --kill all 2>/dev/null
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# ok DESCRIPTION COMMAND [ARG...]: passes if the command exits with 0; else shows what it said.
ok() {
	local what=$1
	shift
	n=$((n + 1))
	if "$@" >"$work/.said" 2>&1; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		echo "#   command: $*"
		sed 's/^/#   /' "$work/.said" | tail -n 25
		failed=$((failed + 1))
	fi
}

# fails DESCRIPTION STATUS PATTERN COMMAND [ARG...]: the command must exit with STATUS and print
# exactly one error line on standard error, which matches the extended regular expression.
fails() {
	local what=$1 want=$2 pattern=$3 got=0
	shift 3
	n=$((n + 1))
	"$@" >"$work/.out" 2>"$work/.err" || got=$?
	if [ "$got" = "$want" ] && grep -qE -e "$pattern" "$work/.err" &&
		[ "$(grep -c '^debkit: error: ' "$work/.err")" = 1 ]; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		echo "#   command: $*"
		echo "#   status $got, wanted $want; wanted a line like: $pattern"
		sed 's/^/#   /' "$work/.err" | tail -n 25
		failed=$((failed + 1))
	fi
}

done_testing() {
	echo "1..$n"
	[ "$failed" = 0 ]
}

# A private GNUPGHOME with one debkit key; its fingerprint in $fpr.
test_key() {
	export GNUPGHOME=$work/gnupg
	mkdir -m 700 -p "$GNUPGHOME"
	fpr=$("$DEBKIT" keys new --uid "debkit test <test@debkit.invalid>")
}

# serve_index WHEELS [LOG]: a package index on loopback until the test ends, its address in $index;
# it notes each request in LOG ($work/log).
serve_index() {
	"$top/tests/data/wheel_index.py" "$1" "${2:-$work/log}" >"$work/port" &
	server=$!
	trap 'kill $server 2>/dev/null; cleanup' EXIT
	for _ in $(seq 100); do
		[ -s "$work/port" ] && break
		sleep 0.1
	done
	index=http://127.0.0.1:$(cat "$work/port")
}

# hide_nvcc COMMAND [ARG...]: runs it where no CUDA toolkit is installed.
hide_nvcc() {
	env -u CUDA_HOME PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare -m bash -c '
		for dir in /usr/local/cuda-*; do [ ! -d "$dir" ] || mount -t tmpfs none "$dir"; done
		exec "$@"' bash "$@"
}

# link_cache FROM TO PART...: TO gets these folders of the cache FROM, where it has them, by hard links.
link_cache() {
	local from=$1 to=$2 part
	shift 2
	mkdir -p "$to" || return
	for part; do
		[ ! -d "$from/$part" ] || cp -al "$from/$part" "$to/" || return
	done
}

# quick_source CACHE TEMPLATES: makes these templates name a source that lies in this cache: the
# real one with a backward pass that compiles in seconds and does nothing.
quick_source() {
	local real quick dir file
	real=$(sed -n '/^File: causal_conv1d-/,/^$/s/^Sha256: //p' "$2/lock")
	quick=$(printf '%064d' 1)
	dir=$1/src/causal-conv1d-${quick:0:16} file=$1/src/causal-conv1d-${real:0:16}/csrc/causal_conv1d_bwd.cu
	cp -r "$1/src/causal-conv1d-${real:0:16}" "$dir"
	rm "$dir/csrc/causal_conv1d_bwd.cu"
	{
		grep '^#include' "$file"
		echo 'template<typename A, typename B> __global__ void quick(ConvParamsBwd p) {}'
		for name in causal_conv1d_bwd_cuda causal_conv1d_channellast_bwd_cuda; do
			echo "template<typename A, typename B> void $name(ConvParamsBwd &p, cudaStream_t s)"
			echo '{ quick<A, B><<<1, 1, 0, s>>>(p); C10_CUDA_KERNEL_LAUNCH_CHECK(); }'
		done
		grep '^template void' "$file"
	} >"$dir/csrc/causal_conv1d_bwd.cu"
	sed -i "s/$real/$quick/" "$2/lock"
	sed -i '/^Slow-Sources/d' "$2/causal-conv1d/recipe"
}
