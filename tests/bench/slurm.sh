#!/bin/bash
# What a Slurm job costs beside a bare srun, and how well `debkit plan --simulate` foretells a build:
# a cluster of two nodes of one core on this machine, which needs two idle CPUs for fair figures.
# Prints figures; fails only when something cannot be done.
#	make bench-slurm [RUNS=11] [BUILDS=5]
# The sources are upstream's with a stand-in for bwd.cu.
set -u -o pipefail
. "$(dirname "$0")/../e2e/lib.sh"
. "$top/tests/e2e/slurm_cluster.sh"
trap 'cluster_stop; cleanup' EXIT
unset SOURCE_DATE_EPOCH
real=${DEBKIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/debkit}
runs=${RUNS:-11} builds=${BUILDS:-5}
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
inputs="file src sdk part toolkit abi python"
link_cache "$real" "$work/first" $inputs || exit 1
cp -r "$top/templates" "$work/templates"
quick_source "$work/first" "$work/templates"
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
		END { printf "%.1f\n", (to - from) / 1000 }' "$1"/work/*/.ninja_log
}
# simulate CACHE: seconds.
simulate() {
	DEBKIT_CACHE=$1 "$DEBKIT" plan $what --simulate 2x1 >simulated || exit 1
	sed -n 's/^simulated .*: \([0-9]*\) seconds.*/\1/p' simulated
}
# build OUT [OPTION...]: with a cache of its own, OUT.cache, that holds inputs alone.
build() {
	link_cache "$work/first" "$1.cache" $inputs &&
		DEBKIT_CACHE=$1.cache "$DEBKIT" build $what --compile-only --out "$@" >said 2>&1 ||
		die "$(tail -n 1 said)"
}
# middle NAME: the median of what the builds put into the file.
middle() {
	sort -n "$1" | sed -n "$(((builds + 1) / 2))p"
}
cd "$work" || exit 1
for n in $(seq "$builds"); do
	build "local$n"
	simulate "local$n.cache" >>from_here
	wall "local$n" >>took_here
	build "slurm$n" --launcher slurm
	simulate "slurm$n.cache" >>from_jobs
	took=$(wall "slurm$n")
	echo "$took" >>took_jobs
	awk "BEGIN { printf \"%.2f\n\", $took / $(tail -n 1 from_here) }" >>ratio
	# The same schedule from the wall time of each job: what a busy machine adds to a step is no
	# fault of the simulation.
	grep -rl '^Wall-Seconds' "slurm$n.cache/object" |
		xargs sed -i -E '/^Cpu-Seconds/d; s/^Wall-Seconds/Cpu-Seconds/'
	simulate "slurm$n.cache" >>from_walls
done
echo "$(grep ^steps simulated | cut -d: -f1), on 2 nodes of 1 core, seconds, median of $builds builds"
printf '  %-44s %s\n' 'simulated, from the CPU time of a build here' "$(middle from_here)" \
	'simulated, from the CPU time of the jobs' "$(middle from_jobs)" \
	'simulated, from the wall time of the jobs' "$(middle from_walls)" \
	'with Slurm, first start to last end' "$(middle took_jobs)" \
	'here, with as many CPUs as there are' "$(middle took_here)" \
	'with Slurm / simulated from here' "$(middle ratio) ($(sort -n ratio | paste -sd' '))"
