#!/bin/bash
# The recipe flash-linear-attention from its wheels to an installed package: fetch, plan, steps,
# packages, repository, apt in a clean root. Wheels and build programs are small stand-ins with the
# same words and the same form of output (tests/data/fla); the index is on loopback.
. "$(dirname "$0")/lib.sh"
. "$top/tests/e2e/root.sh"
. "$top/tests/e2e/repo.sh"
unset PIP_CONFIG_FILE PIP_EXTRA_INDEX_URL SOURCE_DATE_EPOCH
export no_proxy='*' DEBKIT_CACHE=$work/cache DEBKIT_TEMPLATES=$work/templates
py=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') tag=cp${py/./}
recipe=$work/templates/flash-linear-attention log=$work/log
multi=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
root=usr/lib/$multi/debkit/flash-linear-attention

cp -r "$top/templates" "$work/"
mkdir -p "$work/wheels" "$recipe"/{kernels,debkit_triton}
rm -f "$recipe"/kernels/* "$recipe"/debkit_triton/*
sed -i 's/^Tritons:.*/Tritons: 3.5.1 3.6.0/; s/^Archs:.*/Archs: 9.0 10.0/' "$recipe/recipe"
printf 'Profile: small\nHeads: 2\n\nProfile: large\nHeads: 16\n' >"$recipe/profiles"
for program in compile merge; do
	sed "s,@LOG@,$log,g" "$top/tests/data/fla/$program.py" >"$recipe/kernels/$program.py"
done
echo 'hook = True' >"$recipe/fla_hook.py"
echo 'overlay = True' >"$recipe/debkit_triton/__init__.py"
touch "$recipe/debkit_triton/x.pyc"
python3 "$top/tests/data/fla/wheels.py" "$work/wheels" "$recipe/recipe" "$tag" cp399 >"$work/templates/lock"
serve_index "$work/wheels" "$work/requests"
index_server=$server
trap 'kill $index_server 2>/dev/null; umount_root; cleanup' EXIT
export PIP_INDEX_URL=$index/json

args="--recipe flash-linear-attention --cuda 12.8 --python $py"
build() { "$DEBKIT" build $args --unsigned "$@"; }
runs() { [ "$(wc -l <"$log")" = "$1" ] || { echo "$(wc -l <"$log") runs"; return 1; }; }
says() { # says PATTERN COMMAND...: it succeeds, and what it says has a line like that
	local pattern=$1
	shift
	"$@" >"$work/said" 2>&1 && grep -qE -e "$pattern" "$work/said" || { cat "$work/said"; return 1; }
}

ok "the plan names its steps and packages" says 'python3-gated-deltanet-cu128_0.6.0-1_all.deb' \
	"$DEBKIT" plan $args
ok "the plan says what is left out" grep -qx 'left out   Triton 3.4.0: the recipe builds no kernels for it' \
	"$work/said"
ok "the JSON plan has a step for each Triton, profile and arch" bash -c "'$DEBKIT' plan $args --json |
	python3 -c 'import json, sys; s = json.load(sys.stdin)[\"steps\"]
assert [x[\"kind\"] for x in s].count(\"kernels\") == 8 and [x[\"kind\"] for x in s].count(\"store\") == 2'"
fails "an unknown recipe" 2 "no recipe 'fla'; known are: causal-conv1d flash-linear-attention, or all" \
	"$DEBKIT" plan --recipe fla --cuda 12.8

ok "build" build --out "$work/a"
ok "all kernels were compiled, each once" runs 8
ok "of torch's wheel its GPU libraries and headers were not fetched" \
	awk '/\/file\/torch/ && $1 > 100000 { bad = 1 } END { exit bad }' "$work/requests"
ok "of the other Pythons' wheels nothing at all" sh -c "test -s '$work/requests' && ! grep cp399 '$work/requests'"
: >"$work/requests"
ok "a second time there is nothing to do" says 'nothing to do: all 3 packages' build --out "$work/a"
ok "and nothing is fetched" test ! -s "$work/requests"
ok "another folder compiles nothing" build --out "$work/b" -j1
ok "as the log says" runs 8
ok "and makes the same bytes" bash -c "for f in '$work'/a/*.deb; do cmp \$f '$work'/b/\$(basename \$f); done"
ok "a machine that has nothing yet makes the same bytes" bash -c "
	DEBKIT_CACHE='$work/cache2' '$DEBKIT' build $args --unsigned --out '$work/c' &&
	for f in '$work'/a/*.deb; do cmp \$f '$work'/c/\$(basename \$f) || exit; done"
ok "which compiled again" runs 16
ok "for another CUDA the kernels of the shared Triton are not compiled again" \
	"$DEBKIT" build --recipe flash-linear-attention --cuda 13.0 --python "$py" --unsigned --out "$work/a"
ok "as the log says again" runs 16
sed -i 's/^Heads: 16/Heads: 17/' "$recipe/profiles"
ok "a changed profile" build --out "$work/b"
ok "compiles its own kernels alone" runs 20
sed -i 's/^Heads: 17/Heads: 16/' "$recipe/profiles"

modules=$work/a/python3-flash-linear-attention_0.6.0-1_all.deb
kernels=$work/a/python3-flash-linear-attention-cu128_0.6.0-1_amd64.deb
field() { dpkg-deb -f "$kernels" "$1"; }
is() { [ "$1" = "$2" ] || { echo "'$1', wanted '$2'"; return 1; }; }
ok "Debkit-Triton" is "$(field Debkit-Triton)" "3.5.1 3.6.0"
ok "Debkit-Python" is "$(field Debkit-Python)" "$py"
ok "Debkit-Cuda-Archs" is "$(field Debkit-Cuda-Archs)" "9.0 10.0"
ok "Debkit-Profiles" is "$(field Debkit-Profiles)" "large small"
ok "it depends on the modules and on libc6 of the launchers" bash -c "
	dpkg-deb -f '$kernels' Depends | grep -qE '^python3-flash-linear-attention \(= 0.6.0-1\), libc6 \(>= 2\.'"
ok "two CUDAs hold the same store" bash -c "cd '$work' && dpkg-deb -x '$kernels' x && dpkg-deb -x \
	a/python3-flash-linear-attention-cu130_0.6.0-1_amd64.deb x &&
	diff -r x/$root/cu128/triton-3.6.0 x/$root/cu130/triton-3.6.0"
ok "lintian has nothing to say" bash -c "[ -z \"\$(lintian --allow-root --profile debian '$work'/a/*.deb 2>&1 |
	grep -v 'running with root privileges')\" ]"

info=${kernels%.deb}.buildinfo
ok "its .buildinfo names each wheel that it is made from" bash -c "
	for name in fla_core flash_linear_attention einops triton-3.5.1 triton-3.6.0 torch; do
		sed -n '/^Debkit-Inputs-Sha256:/,\$p' '$info' | grep -q \" \$name\" || { echo \$name; exit 1; }; done"
ok "debkit rebuild makes all three again, the same" "$DEBKIT" rebuild --cached --unsigned-ok \
	--work "$work/again" "$info" "${modules%.deb}.buildinfo" "$work"/a/python3-gated-deltanet-cu128_*.buildinfo

# What is wrong.
touch "$log.lie"
sed -i '$a # another' "$recipe/kernels/merge.py"
fails "a manifest that names an arch without kernels" 3 'is not fit to ship.*Triton 3..*arch 7.5' \
	build --out "$work/l"
rm "$log.lie"
echo 3.5.1 >"$log.fail"
sed -i '$a # another' "$recipe/kernels/compile.py"
fails "one Triton that cannot be compiled for" 1 '1 of 2 Tritons did not compile.*Triton 3.5.1' \
	build --out "$work/f"
ok "its own words are told" grep -q 'left out: Triton 3.5.1: .*error: triton 3.5.1: this fails' "$work/.err"
ok "the others are packed" is \
	"$(dpkg-deb -f "$work"/f/python3-flash-linear-attention-cu128_*.deb Debkit-Triton)" 3.6.0
rm "$log.fail"
ok "the same command makes the rest" build --out "$work/f"
ok "and then all are there" is \
	"$(dpkg-deb -f "$work"/f/python3-flash-linear-attention-cu128_*.deb Debkit-Triton)" "3.5.1 3.6.0"
touch "$log.slow"
sed -i '$a # a third' "$recipe/kernels/compile.py"
env --default-signal=INT "$DEBKIT" build $args --unsigned --out "$work/f" >"$work/i.out" 2>"$work/i.err" &
pid=$!
for _ in $(seq 200); do
	ls "$work"/f/work/*/running/* >/dev/null 2>&1 && break
	sleep 0.1
done
kill -INT $pid
wait $pid
ok "a signal ends it with 130" is $? 130
ok "no step runs on" sh -c "! pgrep -f 'step --cache $work/cach[e]' | grep ."
rm "$log.slow"
ok "the same command goes on" build --out "$work/f"
fails "one recipe of two that is not in the lock" 3 \
	'1 of 2 recipes are not built, or not whole: causal-conv1d; the same command' \
	"$DEBKIT" build --recipe all --cuda 12.8 --python "$py" --unsigned --out "$work/all"
ok "its own error is told" grep "warning: recipe 'causal-conv1d': ." "$work/.err"
ok "and the other is built" test -f "$work/all/$(basename "$kernels")"
sed -i '/^File: einops/,/^$/s/^Record-Sha256: ./Record-Sha256: x/;s/: x\(.*\)/: 0\1/' "$work/templates/lock"
fails "a wheel that is not the pinned one" 3 "wheel 'einops.*RECORD" env DEBKIT_CACHE="$work/cache3" \
	"$DEBKIT" build $args --unsigned --out "$work/w"

# Signed, published, installed.
test_key
unset PIP_INDEX_URL
url_port
ok "signed, from the cache" bash -c "mkdir '$work/s' && cp '$work'/a/*.deb '$work/s/' &&
	for f in '$work'/s/*.deb; do '$DEBKIT' sign --sign-key '$fpr' \$f || exit; done &&
	'$DEBKIT' keys export --out '$work/key' '$fpr'"
ok "debkit verify reads it back" "$DEBKIT" verify --keyring "$work/key" "$work/s/$(basename "$kernels")"
make_deb "$work/s/conv.deb" python3-causal-conv1d-cu128 1.7.0-1
ok "publish, beside a stand-in for causal-conv1d" "$DEBKIT" publish --repo "$work/repo" --suite stable \
	--url "$url" --sign-key "$fpr" --unsigned-ok "$work"/s/*.deb
serve "$work/repo"
trap 'kill $index_server $server 2>/dev/null; umount_root; cleanup' EXIT
ok "a clean Debian 12 root" make_root bookworm "$work/root"
ok "there is no compiler in it" no_compiler "$work/root"
ok "dpkg --unpack takes the kernels" bash -c "cp '$kernels' '$work/root/tmp/k.deb' &&
	chroot '$work/root' dpkg --unpack /tmp/k.deb && chroot '$work/root' dpkg -r python3-flash-linear-attention-cu128"
ok "one download configures the source" in_root "$work/root" /usr/lib/apt/apt-helper download-file \
	"$url/debkit.sources" /etc/apt/sources.list.d/debkit.sources
ok "apt-get update" in_root "$work/root" apt-get -o Acquire::Languages=none update
ok "apt-get install python3-gated-deltanet-cu128" in_root "$work/root" \
	apt-get install -y --no-install-recommends python3-gated-deltanet-cu128
ok "the kernels came with it" in_root "$work/root" test -s "/$root/cu128/triton-3.6.0/sm_90.pack"
ok "dpkg finds every file as packed" in_root "$work/root" dpkg --verify
ok "the modules, the hook before upstream's text, and the overlay are there" in_root "$work/root" python3 -c '
import fla, fla.layers, fla.ops, einops, debkit_triton
assert fla.hook and fla.core and fla.layers.layers and einops.name == "einops" and debkit_triton.overlay
assert fla.__file__ == "/usr/lib/debkit/python/fla/__init__.py"
from importlib.metadata import version, packages_distributions as names
assert version("fla-core") == version("flash-linear-attention") == "0.6.0"
assert sorted(names()["fla"]) == ["fla-core", "flash-linear-attention"]'
ok "only Python files were taken of them" in_root "$work/root" sh -c \
	'! find /usr/lib/debkit/python -name "*.bin" -o -name RECORD -o -name x.pyc | grep .'
ok "both CUDAs side by side" in_root "$work/root" \
	apt-get install -y --no-install-recommends python3-flash-linear-attention-cu130
ok "purge leaves nothing behind" in_root "$work/root" sh -c \
	'apt-get purge -y python3-flash-linear-attention && ! find /usr/lib -path "*debkit*" | grep .'
done_testing
