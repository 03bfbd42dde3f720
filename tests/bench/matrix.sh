#!/bin/bash
# What a matrix of packages costs: N cells (torch x Python) with debkit and one cell as upstream
# builds it, in one run, with the same sources, nvcc and GPU archs. Prints figures; fails only
# when something cannot be done, never because a figure is bad.
#   make bench-matrix [FULL=1] [CUDA=13.0] [TORCH=2.11,2.12] [PYTHON=3.11,3.12] [ARCH=9.0]
#                     [MORE_ARCH=8.0] [PEER=no]
# The short run takes one arch, four cells and, on both sides, an sdist whose bwd.cu is a stand-in
# without kernels. FULL=1 takes all sources, the default archs and all cells. MORE_ARCH=no leaves out
# the added arch, for which nvcc compiles all archs again. PEER=no leaves out upstream's cell, which
# needs an installed nvcc of that CUDA and a torch of several GB (kept in build/bench/peer).
set -u -o pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
DEBKIT=${DEBKIT:-$top/build/release/debkit}
inputs=${DEBKIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/debkit}
dir=$top/build/bench/matrix
cuda=${CUDA:-13.0} full=${FULL:-}
if [ -n "$full" ]; then
	arch=${ARCH:-} more=${MORE_ARCH:-8.6}
else
	arch=${ARCH:-9.0} more=${MORE_ARCH:-8.0}
fi
export LC_ALL=C.UTF-8 DEBKIT_CACHE=$dir/cache DEBKIT_TEMPLATES=$dir/templates
unset SOURCE_DATE_EPOCH

die() {
	echo "bench-matrix: error: $*" >&2
	exit 1
}
calc() { awk "BEGIN { printf \"%.${2:-1f}\", $1 }"; }

# measure NAME COMMAND...: the CPU seconds of it and all its children in $cpu, wall in $wall; what
# it says goes to NAME.log.
measure() {
	local log=$dir/$1.log TIMEFORMAT='%U %S %R' user sys
	shift
	{ time "$@" >"$log" 2>&1; } 2>"$dir/time" || die "'$*' failed: $(tail -n 1 "$log"); see '$log'"
	read -r user sys wall <"$dir/time"
	cpu=$(calc "$user + $sys")
}

# plan KEY...: of `debkit plan --json`, a list of strings as words.
plan() {
	"$DEBKIT" plan "${filter[@]}" --json >"$dir/plan.json" 2>"$dir/plan.log" ||
		die "$(tail -n 1 "$dir/plan.log")"
	python3 - "$dir/plan.json" "$1" <<-'PYTHON'
		import json, sys
		plan = json.load(open(sys.argv[1]))
		words = {
		    "archs": lambda: plan["archs"],
		    "compiler": lambda: [plan["compiler"].replace(" ", "-")],
		    "torch": lambda: [b["torch"] for b in plan["bindings"]],
		    "python": lambda: [b["python"] for b in plan["bindings"]],
		    "gencode": lambda: [w for s in plan["steps"] if s["kind"] == "nvcc"
		                        for w in s["argv"] if w.startswith("-gencode")],
		}[sys.argv[2]]()
		print(*dict.fromkeys(words))
	PYTHON
}

# debkit NAME TORCHES PYTHONS ARCHS: one build, into the same folder with the same cache.
debkit() {
	measure "$1" "$DEBKIT" build --cuda "$cuda" --torch "$2" --python "$3" --arch "$4" --unsigned \
		--out "$dir/out"
}

# row WHAT CELLS NEW: one line of the table, of what was measured last.
row() {
	device=$(grep -cE "^@step .*\.cu( |'|\$)" "$dir"/out/work/*/build.log)
	printf '  %-28s %5d %9d %12d %8.1f %8.1f\n' "$1" "$2" "$3" "$device" "$cpu" "$wall"
}

# fetched PATTERN: the bytes that debkit's notes tell of.
fetched() {
	cat "$dir"/*.log | sed -nE "s/^debkit: (fetched|read) .*($1).*[:,] ([0-9]+) bytes.*/\3/p" |
		awk '{ n += $1 } END { printf "%d", n }'
}
mb() { calc "$1 / 1e6"; }

# check_pin: the sdist in the cache is the one that the lock names.
check_pin() {
	sdist=$(ls "$DEBKIT_CACHE"/file/causal_conv1d-*.tar.gz) || die "no sdist: see '$dir/inputs.log'"
	pin=$(sed -n "/^File: ${sdist##*/}\$/,/^\$/s/^Sha256: //p" "$DEBKIT_TEMPLATES/lock")
	sha256sum --check --quiet <<<"$pin  $sdist" || die "'$sdist' is not the pinned one"
}

# short_source: puts into the copies of cache and lock an sdist whose bwd.cu defines the same
# symbols as upstream's, without a kernel.
short_source() {
	local new=$dir/short name=${sdist##*/} bwd sum
	mkdir "$new" && tar -xf "$sdist" -C "$new" --no-same-owner || die "cannot unpack '$sdist'"
	bwd=$(echo "$new"/*/csrc/causal_conv1d_bwd.cu)
	{
		grep '^#include' "$bwd"
		printf 'template <typename input_t, typename weight_t>\nvoid %s(ConvParamsBwd &, cudaStream_t) {}\n' \
			causal_conv1d_bwd_cuda causal_conv1d_channellast_bwd_cuda
		grep '^template void' "$bwd"
	} >"$dir/bwd.cu" && mv "$dir/bwd.cu" "$bwd" || die "cannot make a stand-in of '$bwd'"
	tar -czf "$dir/$name" -C "$new" "${name%.tar.gz}" && mv -f "$dir/$name" "$sdist" || exit 1
	sum=$(sha256sum "$sdist" | cut -d' ' -f1)
	mv "$new/${name%.tar.gz}" "$DEBKIT_CACHE/src/causal-conv1d-${sum:0:16}" || exit 1
	sed -i -e "/^File: $name\$/,/^\$/{s/^Size: .*/Size: $(stat -c %s "$sdist")/;s/^Sha256: .*/Sha256: $sum/}" \
		"$DEBKIT_TEMPLATES/lock"
}

[ -x "$DEBKIT" ] || die "no '$DEBKIT': run make"
rm -rf "$dir"
mkdir -p "$dir/cache" || exit 1
cp -r "$top/templates" "$dir/templates" || exit 1
# Objects, torch SDKs and export tables are made and fetched again; other inputs are taken over.
for part in "$inputs"/*/; do
	case $part in
	*/object/ | */sdk/ | */abi/ | '*/') ;;
	*) cp -al "$part" "$dir/cache/" 2>/dev/null || cp -a "$part" "$dir/cache/" || exit 1 ;;
	esac
done

# The cells: the first torch and Python are those of upstream's cell.
filter=(--cuda "$cuda")
[ -z "$arch" ] || filter+=(--arch "$arch")
torches=${TORCH:-$(plan torch | tr ' ' ,)} || exit 1
pythons=${PYTHON:-$(plan python | tr ' ' ,)} || exit 1
own=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
[ -n "${PYTHON:-}" ] || case ,$pythons, in
*,$own,*) pythons=$own,$(tr , '\n' <<<"$pythons" | grep -vx "$own" | paste -sd,) ;;
esac
[ -n "$full${TORCH:-}" ] || torches=$(cut -d, -f1-2 <<<"$torches")
[ -n "$full${PYTHON:-}" ] || pythons=$(cut -d, -f1-2 <<<"$pythons")
t1=${torches%%,*} t2=$(cut -d, -f1-2 <<<"$torches") p1=${pythons%%,*} p2=$(cut -d, -f1-2 <<<"$pythons")
[ "$t1" != "$t2" ] && [ "$p1" != "$p2" ] || die "two torches and two Pythons are needed"
filter+=(--torch "$t1" --python "$p1")
archs=$(plan archs | tr ' ' ,) && gencode=$(plan gencode) && compiler=$(plan compiler) &&
	torch=$(plan torch) || exit 1
# Where the sdist is not in the cache yet, a build whose every step fails fetches it.
ls "$DEBKIT_CACHE"/file/*.tar.gz >/dev/null 2>&1 || "$DEBKIT" build "${filter[@]}" --unsigned \
	--launcher false --out "$dir/inputs" >"$dir/inputs.log" 2>&1
check_pin
[ -n "$full" ] || short_source

echo "causal-conv1d for CUDA $cuda, ${compiler/-/ }, GPU archs $archs and PTX, $(nproc) CPUs," \
	"$("${CXX:-g++}" -dumpfullversion) as host compiler"
[ -n "$full" ] || echo "short run: a stand-in for bwd.cu on both sides; FULL=1 takes the real one, all archs and cells"
echo "debkit, object cache empty at the start, packing counted each time"
printf '  %-28s %5s %9s %12s %8s %8s\n' run cells bindings 'device steps' 'CPU s' 'wall s'
debkit first "$t1" "$p1" "$archs"
row "first cell" 1 1
first=$cpu total=$cpu cells=1
debkit python "$t1" "$p2" "$archs"
row "one Python more" 2 1
total=$(calc "$total + $cpu") python_device=$device
debkit torch "$t2" "$p2" "$archs"
row "one torch more" 4 2
total=$(calc "$total + $cpu") cells=4
if [ "$t2/$p2" != "$torches/$pythons" ]; then
	filter=(--cuda "$cuda" --torch "$torches" --python "$pythons")
	plan torch >/dev/null
	all=$(grep -o '"torch"' "$dir/plan.json" | wc -l)
	debkit all "$torches" "$pythons" "$archs"
	row "all others" "$all" $((all - 4))
	total=$(calc "$total + $cpu") cells=$all
fi
for i in 1 2 3 4 5; do
	debkit again "$torches" "$pythons" "$archs"
	grep -q 'nothing to do' "$dir/again.log" || die "a run without a change did something"
	echo "$wall $cpu"
done | sort -n >"$dir/again"
[ "$(wc -l <"$dir/again")" = 5 ] || exit 1
read -r again again_cpu <<<"$(sed -n 3p "$dir/again")"
sdk=$(fetched 'headers of torch') abi=$(fetched 'exports of')
other=$(fetched 'parts of|\.tar\.gz|headers of Python')
if [ "$more" != no ]; then
	debkit arch "$torches" "$pythons" "$archs,$more"
	row "one arch more ($more)" $cells 0
fi
binding=$(calc "($total - $first) / ($cells - 1)")
n_torch=$(tr , '\n' <<<"$torches" | wc -l)
limit=$(calc "1.3 * $first + 25 * ($cells - 1)")
echo "  a further binding: $binding CPU s; $cells cells: $total CPU s," \
	"$(calc "$total / $cells") a cell (1.3 x the first + 25 s for each further: $limit)"
echo "  no-change run: $again s wall ($again_cpu CPU s), median of 5"
echo "  fetched: $(mb "$sdk") MB as SDKs of $n_torch torches, $(mb "$abi") MB of export tables for the" \
	"proof, $(mb "$other") MB of other inputs" \
	"(what this machine had is not counted)"

ours="bench-matrix: $cells cells with debkit $total CPU s, no-change run $again s, a Python more:\
 $python_device device steps"
[ "${PEER:-}" != no ] || { echo "$ours; without upstream's cell, as PEER=no asks"; exit 0; }
. "$top/tests/bench/matrix_peer.bash"
peer_cell
wheels=$((peer_torch + peer_nvidia + peer_other))
echo "upstream, one cell: torch $torch, Python $p1, pip wheel of the same sdist with these archs"
echo "  $peer_cpu CPU s, $peer_wall s wall, with torch already there"
echo "  fetched: $(mb $wheels) MB: torch $(mb "$peer_torch"), NVIDIA's $(mb "$peer_nvidia")," \
	"others $(mb "$peer_other")"
ratio=$(calc "$peer_cpu / ($total / $cells)")
each=$(calc "$sdk / $n_torch" 0f)
echo "side by side"
echo "  CPU a cell at $cells cells: upstream / debkit = $ratio"
for n in 12 16; do
	echo "  projection to $n cells, from the first cell and the further bindings above:" \
		"$(calc "$first + ($n - 1) * $binding" 0f) CPU s against $(calc "$n * $peer_cpu" 0f):" \
		"$(calc "$n * $peer_cpu / ($first + ($n - 1) * $binding)") times less"
done
echo "  bytes for one torch: SDK $(mb "$each") MB; its wheel is $(calc "$peer_torch / $each") times that," \
	"with all that pip fetches $(calc "$wheels / $each")"
echo "$ours; upstream's cell $peer_cpu CPU s: $ratio times less a cell, $(calc "$wheels / $each" 0f)" \
	"times fewer bytes for a torch"
