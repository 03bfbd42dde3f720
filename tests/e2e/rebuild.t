#!/bin/bash
# A whole rebuild: everything is compiled again, in an object cache of its own, and the package is
# the same; the matrix then shows it. With a backward pass that compiles in seconds.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
unset SOURCE_DATE_EPOCH
cache=${DEBKIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/debkit}
link_cache "$cache" cache file src sdk part toolkit object python abi record wheel
cp -r "$top/templates" templates
quick_source "$work/cache" "$work/templates"
export DEBKIT_CACHE=$work/cache DEBKIT_TEMPLATES=$work/templates
one="--cuda 12.8 --torch 2.10 --python 3.11 --arch 9.0"
ok "build, unsigned" "$DEBKIT" build $one --unsigned --out out
info=$(ls out/python3-causal-conv1d-cu128_*.buildinfo)
ok "no cell is rebuilt yet" sh -c "! '$DEBKIT' matrix --cuda 12.8 --out out --json | grep -q '\"rebuilt\"'"
ok "rebuild and record" sh -c "'$DEBKIT' rebuild --unsigned-ok --record --work again '$info' >said"
ok "it says so" grep -q 'the same, byte for byte$' said
ok "it compiled: its own object cache is full" sh -c "[ \$(find again/object -name '*.cost' | wc -l) -gt 10 ]"
ok "templates/states has the cell" grep -A5 'State: rebuilt' templates/states
ok "the matrix shows it" sh -c "'$DEBKIT' matrix --cuda 12.8 --out out | grep -q 'proved=' &&
	'$DEBKIT' matrix --cuda 12.8 --out out | grep -q 'made again, byte for byte'"
ok "as JSON" sh -c "'$DEBKIT' matrix --cuda 12.8 --out out --json | grep '\"facts\": .*\"rebuilt\"'"
ok "and as a page" sh -c "'$DEBKIT' matrix --cuda 12.8 --out out --html | grep -q 'rebuilt byte for byte'"
done_testing
