#!/bin/bash
# What a Slurm job costs beside a bare srun, and how well `debkit plan --simulate` foretells a build:
# a cluster of two nodes of one core on this machine, which needs two idle CPUs for fair figures.
# Prints figures; fails only when something cannot be done.
#	make bench-slurm [RUNS=11]
# The sources are upstream's with a stand-in for bwd.cu.
set -u -o pipefail
. "$(dirname "$0")/../e2e/lib.sh"
. "$top/tests/e2e/slurm_cluster.sh"
trap 'cluster_stop; cleanup' EXIT
unset SOURCE_DATE_EPOCH
real=${DEBKIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/debkit}
runs=${RUNS:-11}
what="--cuda 12.8 --torch 2.9,2.10 --python 3.11 --arch 9.0"

die() {
	echo "bench-slurm: error: $*" >&2
	exit 1
}
# median COMMAND [ARG...]: wall seconds, the median of so many runs; $run is the number of each.
median() {
	local TIMEFORMAT=%R
	for run in $(seq "$runs"); do
		{ time "$@" >"$work/said" 2>&1 || echo failed; } 2>&1 || exit
	done | sort -n | tee "$work/times" | sed -n "$(((runs + 1) / 2))p"
	! grep -q failed "$work/times" || die "'$*' failed: $(tail -n 1 "$work/said")"
}

"$DEBKIT" build $what --launcher false --unsigned --out "$work/inputs" >"$work/said" 2>&1
for cache in first local slurm; do
	from=$([ $cache = first ] && echo "$real" || echo "$work/first")
	link_cache "$from" "$work/$cache" file src sdk part toolkit abi python || exit 1
	[ $cache != first ] && continue
	cp -r "$top/templates" "$work/templates"
	quick_source "$work/first" "$work/templates"
done
export DEBKIT_TEMPLATES=$work/templates
cluster_start "$work/cluster" || die "no cluster"

# One edge as ninja runs it, whose command does nothing but make its file.
mkdir -p "$work/edge/slurm" "$work/edge/running"
cd "$work/edge" || exit 1
printf bench >slurm/token
{
	printf 'Token: bench\nPartition: main\nMost-Minutes: 0\nMost-Memory: 8000\n'
	for run in $(seq "$runs"); do
		printf '\nKey: %064d\nMemory: 700\nMinutes: 10\n' "$run"
	done
} >slurm/jobs
mkdir "$work/objects"
edge() {
	"$@" "$DEBKIT" step --cache "$work/objects" --key "$(printf '%064d' "$run")" --name "edge $run" \
		--output "out$run" -- sh -c "echo $run >out$run"
}
bare=$(median srun --nodes=1 --ntasks=1 --mem=700M --input=none true) || exit 1
batch=$(runs=5; median sbatch --wait --output=/dev/null --mem=700M --wrap true) || exit 1
job=$(median edge env DEBKIT_JOBS=slurm/jobs) || exit 1
rm -rf "$work/objects" made
mkdir "$work/objects"
here=$(median edge env) || exit 1
echo "one edge that does nothing, wall seconds, median of $runs"
printf '  %-22s %s\n' 'here' "$here" 'bare srun' "$bare" 'an edge as a job' "$job" \
	'sbatch --wait, of 5' "$batch"
echo "  an edge costs $(awk "BEGIN { printf \"%.3f\", $job - $bare }") s beyond a bare srun"

# wall OUT: seconds from the first step's start to the last one's end, by ninja's log.
wall() {
	awk '!/^#/ { if (!n++ || $1 < from) from = $1; if ($2 > to) to = $2 }
		END { printf "%.1f", (to - from) / 1000 }' "$1"/work/*/.ninja_log
}
cd "$work" || exit 1
DEBKIT_CACHE=$work/local "$DEBKIT" build $what --compile-only --out local.out >said 2>&1 || die "$(tail -n 1 said)"
DEBKIT_CACHE=$work/local "$DEBKIT" plan $what --simulate 2x1 >simulated || exit 1
DEBKIT_CACHE=$work/slurm "$DEBKIT" build $what --compile-only --launcher slurm --out slurm.out >said 2>&1 ||
	die "$(tail -n 1 said)"
DEBKIT_CACHE=$work/slurm "$DEBKIT" plan $what --simulate 2x1 >again || exit 1
# The same schedule from the wall time of each job: what a busy machine adds to a step is no fault of
# the simulation.
grep -rl '^Wall-Seconds' "$work/slurm/object" | xargs sed -i -E '/^Cpu-Seconds/d; s/^Wall-Seconds/Cpu-Seconds/'
DEBKIT_CACHE=$work/slurm "$DEBKIT" plan $what --simulate 2x1 >walls || exit 1
walls=$(sed -n 's/^simulated .*: \([0-9]*\) seconds.*/\1/p' walls)
simulated=$(sed -n 's/^simulated .*: \([0-9]*\) seconds.*/\1/p' simulated)
again=$(sed -n 's/^simulated .*: \([0-9]*\) seconds.*/\1/p' again)
took=$(wall slurm.out)
echo "$(grep ^steps simulated | cut -d: -f1), $(grep -o '[0-9]* CPU seconds' simulated), on 2 nodes of 1 core"
printf '  %-44s %s s\n' 'simulated, from the CPU time of a build here' "$simulated" \
	'simulated, from the CPU time of the jobs' "$again" \
	'simulated, from the wall time of the jobs' "$walls" 'with Slurm, first start to last end' "$took" \
	'here, with as many CPUs as there are' "$(wall local.out)"
echo "  real / simulated = $(awk "BEGIN { printf \"%.2f\", $took / $simulated }")," \
	"of the jobs' CPU time $(awk "BEGIN { printf \"%.2f\", $took / $again }")," \
	"of their wall time $(awk "BEGIN { printf \"%.2f\", $took / $walls }")"
