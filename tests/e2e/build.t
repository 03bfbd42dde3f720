#!/bin/bash
# debkit build: what it makes, that it makes it once, the same bytes anywhere, and what it says
# when something is wrong. Where a test needs a cache of its own, that begins with the inputs and
# the objects of the slow source alone: all else is compiled again.
. "$(dirname "$0")/lib.sh"
unset SOURCE_DATE_EPOCH
one="--cuda 12.8 --torch 2.10 --python 3.11 --arch 9.0"
cache=${DEBKIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/debkit}

# templates DIR [SED-EXPRESSION FILE]...: a changed copy of the templates.
templates() {
	local dir=$1
	shift
	rm -rf "$dir"
	cp -r "$top/templates" "$dir"
	while [ $# -gt 1 ]; do
		sed -i -e "$1" "$dir/$2"
		shift 2
	done
}

# new_cache DIR: the fetched inputs of the real cache, and its objects of the slow source.
new_cache() {
	link_cache "$cache" "$1" file src sdk part toolkit abi
	grep -rl --include='*.cost' 'causal_conv1d_bwd.cu sm_' "$cache/object" | while read -r cost; do
		mkdir -p "$1/object/$(basename "$(dirname "$cost")")"
		cp "$cost" "${cost%.cost}" "$1/object/$(basename "$(dirname "$cost")")/"
	done
}

build() { "$DEBKIT" build $one --unsigned "$@"; }

says() { # says PATTERN COMMAND...: succeeds and its standard error matches
	local pattern=$1
	shift
	"$@" >"$work/.o" 2>"$work/.e" && grep -qE -e "$pattern" "$work/.e" || { cat "$work/.e"; return 1; }
}

plan="$DEBKIT plan $one"
ok "plan names the packages" sh -c "$plan | grep -q 'python3-causal-conv1d-cu128_1.7.0-1_amd64.deb'"
ok "plan --json is JSON" sh -c "$plan --json | python3 -m json.tool"
ok "plan writes nothing" sh -c "cd '$work' && mkdir empty && cd empty && $plan >/dev/null && [ -z \"\$(ls -A)\" ]"

ok "build" build --out "$work/a"
ok "a second build does nothing and says so" says 'nothing to do' build --out "$work/a"
ok "lintian finds no error" lintian --fail-on error --allow-root "$work"/a/*.deb
for deb in "$work"/a/*.deb; do
	ok "dpkg unpacks $(basename "$deb")" sh -c "mkdir -p '$work/root/var/lib/dpkg/updates' \
		'$work/root/var/lib/dpkg/info' && touch '$work/root/var/lib/dpkg/status' && \
		dpkg --root='$work/root' --force-not-root --force-depends --unpack '$deb'"
done
packages=debkit-cudart-12-8,python3-causal-conv1d
ok "--package makes those alone" build --package $packages --out "$work/few"
ok "with the bytes of a whole build" sh -c "cd '$work/few' && [ \$(ls *.deb | wc -l) = 2 ] &&
	for deb in *.deb; do cmp \$deb ../a/\$deb || exit; done"
ok "without a compilation" sh -c "[ ! -e '$work/few/work/causal-conv1d-cu128/build.log' ]"
fails "--package of another CUDA" 2 'no package .python3-causal-conv1d-cu130.*python3-causal-conv1d-cu128' \
	build --package python3-causal-conv1d-cu130 --out "$work/few"
flavour=$work/a/python3-causal-conv1d-cu128_1.7.0-1_amd64.deb
ok "it depends on cuda-cudart-12-8" sh -c "dpkg-deb -f '$flavour' Depends | grep -q 'cuda-cudart-12-8'"
ok "the archs are those of the binary" sh -c "[ \"\$(dpkg-deb -f '$flavour' Debkit-Cuda-Archs)\" = '9.0 9.0+PTX' ]"
ok "the kernel library has no torch symbol" sh -c "dpkg-deb -x '$flavour' '$work/x' && \
	! nm -D --undefined-only '$work'/x/usr/lib/*/debkit/causal-conv1d-cu128/libcausal_conv1d_cu128.so.1 | grep -E 'c10|torch|at[0-9]'"
ok "debkit verify accepts it unsigned" "$DEBKIT" verify --unsigned-ok "$flavour"

new_cache "$work/cache2"
mkdir -p "$work/elsewhere/with space"
ok "build in another folder, umask, time zone and clock, on one CPU, compiling again" \
	sh -c "cd '$work/elsewhere' && umask 077 && TZ=Pacific/Auckland DEBKIT_NOW=4000000000 \
	DEBKIT_CACHE='$work/cache2'	taskset -c 0 '$DEBKIT' build $one --unsigned --jobs 1 --out 'with space'"
for deb in "$work"/a/*.deb; do
	ok "the same bytes: $(basename "$deb")" cmp "$deb" "$work/elsewhere/with space/$(basename "$deb")"
done

# Trouble. Each is one line, and the same command works once the cause is gone.
fails "unknown arch" 2 "unknown GPU arch '9.7'; known are: .*9.0" "$DEBKIT" plan --cuda 12.8 --arch 9.7
fails "an arch that the toolkit cannot build" 2 'needs CUDA 12.9' "$DEBKIT" plan --cuda 12.8 --arch 10.3
fails "an arch on the denylist" 2 'wrong numbers' "$DEBKIT" plan --cuda 13.0 --arch 10.3
fails "unknown torch" 2 "no torch '1.13' for CUDA 12.8: .*2.7 is the first .*; known are: 2.8" \
	"$DEBKIT" plan --cuda 12.8 --torch 1.13
fails "unknown CUDA" 2 "for CUDA '11.1'; known are" "$DEBKIT" plan --cuda 11.1
fails "a Python without a wheel" 2 "for Python '3.7'" "$DEBKIT" plan --cuda 12.8 --python 3.7
fails "no CUDA named" 2 'such as --cuda 12.8' "$DEBKIT" build --unsigned
fails "neither key nor --unsigned" 2 'sign-key' "$DEBKIT" build $one
fails "a key that is not there" 3 '0123456789' "$DEBKIT" build $one --out "$work/b" \
	--sign-key 0123456789012345678901234567890123456789
fails "a dead index" 1 'cannot|refused|connect' env PIP_INDEX_URL=http://127.0.0.1:1/simple \
	DEBKIT_CACHE="$work/cache3" "$DEBKIT" build $one --unsigned --out "$work/b"

templates "$work/lying" 's/^Sha256: 32027584/Sha256: 42027584/' lock
fails "a source that is not the pinned one" 3 '42027584.*32027584|32027584.*42027584' env \
	DEBKIT_CACHE="$work/cache4" DEBKIT_TEMPLATES="$work/lying" \
	"$DEBKIT" build $one --unsigned --out "$work/b"
templates "$work/torn" '/^File: torch-2.10.0.*cp311/,/^$/s/^Record-Sha256: ../Record-Sha256: 00/' lock \
	'/^File: torch-2.10.0.*cp310/,/^$/d' lock
fails "headers that are not the pinned ones" 3 'RECORD' env \
	DEBKIT_CACHE="$work/cache4" DEBKIT_TEMPLATES="$work/torn" \
	"$DEBKIT" build $one --unsigned --out "$work/b"

templates "$work/broken" 's/^Clang-Flags: /&-DBFloat16=+ /' causal-conv1d/recipe
fails "a compiler error" 1 "step '.*' failed.*error.*build.log" env DEBKIT_CACHE="$work/cache2" \
	DEBKIT_TEMPLATES="$work/broken" "$DEBKIT" build $one --unsigned --out "$work/b"
ok "nothing was packed" sh -c "! ls '$work'/b/*.deb 2>/dev/null | grep ."
ok "the same folder builds once the cause is gone" build --out "$work/b"

mkdir "$work/bin"
for dir in /usr/bin /bin; do ln -sf $dir/* "$work/bin/" 2>/dev/null; done
rm -f "$work"/bin/clang* "$work"/bin/nvcc
fails "no clang and no nvcc" 1 'apt-get install clang-22' env -u CUDA_HOME PATH="$work/bin" \
	"$DEBKIT" build --cuda 12.8 --toolchain clang --unsigned --out "$work/b"
fails "nvcc is wanted and not there" 1 'no nvcc of CUDA 12.8' env -u CUDA_HOME PATH="$work/bin" \
	"$DEBKIT" build --cuda 12.8 --toolchain nvcc --unsigned --out "$work/b"
rm -f "$work/bin/ninja"
fails "no ninja" 1 'apt-get install ninja-build' env PATH="$work/bin" "$DEBKIT" plan --cuda 12.8

mkdir -p "$work/b"
(flock 9; sleep 3) 9>"$work/b/.debkit.lock" &
sleep 0.5
fails "two builds in one folder" 1 'another debkit works here' build --out "$work/b" --arch 8.0
wait

mkdir "$work/small"
mount -t tmpfs -o size=2m tmpfs "$work/small"
fails "a disk without room" 1 'MB are needed' build --out "$work/small/out"
umount "$work/small"

# Stopped in the middle: 130, nothing half-written, and the same command goes on.
new_cache "$work/cache5"
DEBKIT_CACHE=$work/cache5 env --default-signal=INT "$DEBKIT" build $one --unsigned \
	--out "$work/c" >"$work/c.out" 2>"$work/c.err" &
pid=$!
for _ in $(seq 200); do
	grep -q '\[[1-9]' "$work"/c/work/*/build.log 2>/dev/null ||
		grep -q '@step [1-9]' "$work"/c/work/*/build.log 2>/dev/null && break
	sleep 0.1
done
kill -INT $pid
wait $pid
status=$?
ok "a signal ends it with 130" [ $status = 130 ]
ok "it says that the same command goes on" grep -q 'the same command goes on' "$work/c.err"
ok "no step runs on" sh -c "! pgrep -f 'step --cache $work/cache[5]' | grep ."
ok "the same command goes on" env DEBKIT_CACHE="$work/cache5" \
	"$DEBKIT" build $one --unsigned --out "$work/c"
ok "with the same bytes" cmp "$flavour" "$work/c/$(basename "$flavour")"

new_cache "$work/cache6"
ok "device objects from the headers of torch 2.8 are the same" sh -c "
	DEBKIT_CACHE='$work/cache6' '$DEBKIT' build --cuda 12.8 --torch 2.8 \
		--python 3.11 --arch 9.0 --unsigned --out '$work/d' &&
	for o in fwd update; do cmp '$work'/a/work/causal-conv1d-cu128/cu128/causal_conv1d_\$o.o \
		'$work'/d/work/causal-conv1d-cu128/cu128/causal_conv1d_\$o.o || exit 1; done"
done_testing
