#!/bin/bash
# A torch whose headers do not compile: its cells fail, the others go on, the packages claim only
# what is there, the exit status and the last line say so, and the same command tries again.
. "$(dirname "$0")/lib.sh"
unset SOURCE_DATE_EPOCH
cache=${DEBKIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/debkit}

one="--cuda 12.8 --python 3.11 --arch 9.0 --unsigned"
two="$one --torch 2.9,2.10"
ok "both torches build" "$DEBKIT" build $two --out "$work/all"
deb=python3-causal-conv1d-cu128_1.7.0-1_amd64.deb

# A cache with a broken header of torch 2.9, and without the object that needs it.
mkdir "$work/aside"
link_cache "$cache" "$work/cache" file src sdk part toolkit object python abi
grep -rlE --include='*.cost' '^Step: binding torch 2\.9 Python 3\.11, causal' "$work/cache/object" |
	while read -r cost; do
		folder=$work/aside/$(basename "$(dirname "$cost")")
		mkdir -p "$folder" && mv "$cost" "${cost%.cost}" "$folder/"
	done
header=$(echo "$work"/cache/sdk/torch-2.9.1-*/torch/include/torch/csrc/utils/pybind.h)
mv "$header" "$work/kept.h" # of the same size: a header that is missing or shorter is fetched again
printf '%-*s\n' $(($(stat -c %s "$work/kept.h") - 1)) '#error "these headers are broken"' >"$header"
export DEBKIT_CACHE=$work/cache

claims() { dpkg-deb -f "$work/out/$deb" "$1"; }
hold() { dpkg-deb --fsys-tarfile "$work/out/$deb" | tar -t | grep -o 'torch2.*\.so' | tr '\n' ' '; }
build="$DEBKIT build $two --out $work/out"

fails "the broken cell fails and is named with the log" 1 \
	"1 of 2 bindings did not compile and are not in the packages: torch 2.9 with Python 3.11; see '.*build.log'" $build
ok "with the compiler's reason" grep -q 'warning: left out: torch 2.9 with Python 3.11: step .* broken' "$work/.err"
ok "all packages are printed" test "$(grep -c '\.deb$' "$work/.out")" = 3
ok "the package claims the torch that is there" test "$(claims Debkit-Torch)" = 2.10
ok "and holds its binding alone" test "$(hold)" = "torch2.10-cp311.so "
ok "its claims are what its binaries say" "$DEBKIT" verify --unsigned-ok "$work/out/$deb"
cp "$work/out/$deb" "$work/first.deb"
fails "the same command tries it again" 1 '1 of 2 bindings did not compile' $build
ok "and leaves the package as it is" cmp "$work/out/$deb" "$work/first.deb"

fails "nothing is packed where no binding compiles" 1 "step '.*' failed: .*broken.*build.log" \
	"$DEBKIT" build $one --torch 2.9 --out "$work/none"
ok "not even the packages for all" sh -c "! ls '$work'/none/*.deb 2>/dev/null | grep ."

mv -f "$work/kept.h" "$header"
cp -r "$work/aside/." "$work/cache/object/" # which saves half a minute
ok "the same command succeeds once the cause is gone" $build
ok "with both torches" test "$(claims Debkit-Torch)" = "$(dpkg-deb -f "$work/all/$deb" Debkit-Torch)"
ok "and the same bytes as a build without trouble" cmp "$work/out/$deb" "$work/all/$deb"
ok "then there is nothing to do" sh -c "$build 2>&1 | grep -q 'nothing to do'"
done_testing
