#!/bin/bash
# debkit build --launcher slurm with the real munge, slurmctld and slurmd: the same bytes as here,
# and what happens when nodes die, the controller restarts, jobs are preempted, cancelled or too
# slow. The sources are stand-ins that compile in seconds, with a compiler that can be held up.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/slurm_cluster.sh"
trap 'cluster_stop; cleanup' EXIT
unset SOURCE_DATE_EPOCH
export LANG=C.UTF-8 DEBKIT_TEMPLATES=$work/templates
real=${DEBKIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/debkit}
# clang makes device code too, so that each step runs a compiler that can be held up.
cells="--cuda 12.8 --torch 2.9,2.10 --python 3.11 --arch 9.0 --toolchain clang"
nvrtc="--cuda 12.8 --torch 2.10 --python 3.11 --arch 9.0 --toolchain nvrtc --unsigned"
cp -r "$top/templates" "$work/templates"

# new_cache DIR [FROM]: fetched inputs, and no object.
new_cache() {
	link_cache "${2:-$real}" "$1" file src sdk part toolkit abi python
}

# Inputs that are not in the cache yet are fetched; then no step is run.
fails "inputs are there" 1 'could not be run|was not run|failed' "$DEBKIT" build $cells --launcher false --unsigned \
	--out "$work/inputs"
new_cache "$work/first"
quick_source "$work/first" "$work/templates"
csrc=$(echo "$work"/first/src/*0000000/csrc)
quick() { # quick FILE: standard input as that source
	rm "$csrc/$1" && cat >"$csrc/$1"
}
for source in fwd bwd update; do
	echo "__global__ void quick_$source(int *p) { *p = 1; }
		template<int N> void run_$source(int *p) { quick_$source<<<N, 1>>>(p); }
		template void run_$source<1>(int *p);" | quick causal_conv1d_$source.cu
done
quick causal_conv1d.cpp <<'CPP'
#include <Python.h>
static PyModuleDef def = {PyModuleDef_HEAD_INIT, "causal_conv1d_cuda"};
PyMODINIT_FUNC PyInit_causal_conv1d_cuda(void) { return PyModule_Create(&def); }
CPP

# Compilers that tell on which node they run, and that wait while the file $work/hold/NAME is there
# and NAME stands in their words.
mkdir "$work/bin" "$work/hold"
for tool in clang++-22 g++; do
	cat >"$work/bin/$tool" <<-SH
		#!/bin/bash
		[ "\$*\$SLURMD_NODENAME" != --versionnode3 ] || exec echo "$tool 99"
		echo "\${SLURMD_NODENAME:-here} \$*" >>"$work/calls"
		for name in \$(ls "$work/hold"); do
			case "\$*" in
			*\$name*) while [ -e "$work/hold/\$name" ]; do sleep 0.1; done ;;
			esac
		done
		exec $(command -v $tool) "\$@"
	SH
done
chmod 755 "$work"/bin/*
export PATH=$work/bin:$PATH
calls() { grep -cE -e "$1" "$work/calls"; }
here="$DEBKIT build $cells --unsigned"
slurm="$here --launcher slurm"

new_cache "$work/cache0" "$work/first"
export DEBKIT_CACHE=$work/cache0
ok "a build here" $here --out "$work/here"
same() { # same DIR: the packages of the build here
	for deb in "$work"/here/*.deb; do
		cmp "$deb" "$1/$(basename "$deb")" || return
	done
}
queue_is_empty() { [ -z "$(squeue -h)" ]; }

# Slurm is not there, or does not answer.
mkdir "$work/none"
for dir in /usr/bin /bin; do ln -sf $dir/* "$work/none/" 2>/dev/null; done
rm -f "$work/none/srun"
new_cache "$work/cache1" "$work/first"
export DEBKIT_CACHE=$work/cache1
fails "no Slurm here" 1 "no 'srun' in PATH.*apt-get install slurm-client" env PATH="$work/bin:$work/none" \
	$slurm --out "$work/s1"
printf 'ClusterName=none\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=%s\nMessageTimeout=2\nNodeName=n\n' \
	"$(free_ports 1)" >"$work/none.conf"
fails "no controller" 1 "Slurm does not answer \(is slurmctld running\?\): .*contact slurm controller" \
	env SLURM_CONF="$work/none.conf" $slurm --out "$work/s1"
fails "--partition without --launcher slurm" 2 'go with --launcher slurm' $here --partition main

ok "a cluster of three nodes" cluster_start "$work/cluster"
fails "an unknown partition" 2 "no partition 'nope'; it has: main, urgent, apart" \
	$slurm --partition nope --out "$work/s1"

# All goes well.
: >"$work/calls"
ok "a build by Slurm" sh -c "$slurm --out '$work/s1' 2>'$work/notes'"
ok "it tells of the cluster" grep -q "partition main: nodes 2, cores 2, large steps at once 2" "$work/notes"
ok "the same bytes as here" same "$work/s1"
ok "both nodes worked" sh -c "grep -q '^node1 ' '$work/calls' && grep -q '^node2 ' '$work/calls'"
ok "device code and bindings ran on nodes alone" [ "$(calls '^here .*( -c | -S )')" = 0 ]
ok "bindings, too" grep -q "^node.*torch2.10-cp311/check.o" "$work/calls"
ok "links and stubs ran here" [ "$(calls '^node.* -shared ')" = 0 ]
scontrol -o show job >"$work/jobs"
ok "each job bears the name of what it makes" grep -q 'JobName=debkit:cu128/causal_conv1d_bwd.sm_90.ptx ' "$work/jobs"
ok "and asks for memory and time" grep -qE 'JobName=debkit:.*TimeLimit=00:1[0-9]:00.*TRES=cpu=1,mem=[0-9]+M' "$work/jobs"
ok "what it cost is in the cache" sh -c "grep -rl '^Bytes: [1-9]' '$work/cache1/object' | grep -q ."
cost() { "$DEBKIT" plan $cells "$@" >"$work/cost"; }
ok "plan --cost" cost --cost
ok "knows every step from the measured table" grep -qE '^steps +25: 25 measured, 0 as .* 0 typical$' "$work/cost"
ok "plan --simulate" cost --simulate 1x1
total=$(sed -n 's/^total *\([0-9]*\) CPU.*/\1/p' "$work/cost")
ok "takes on one core as long as all steps together" \
	grep -q "^simulated  1 nodes of 1 cores: ${total:-no total} seconds" "$work/cost"
ok "plan --simulate --json" cost --simulate 99x1 --json
ok "takes on many cores as long as the longest path" python3 -c "
import json; c = json.load(open('$work/cost'))
assert len(c['steps']) == 25 and all(s['bytes'] > 0 and s['max_rss'] > 0 for s in c['steps'])
assert c['simulated'] == {'nodes': 99, 'cores': 1, 'wall_s': c['longest_path']['cpu_s']}"
fails "a cluster that is none" 2 "'2x' is no cluster: .*such as 10x16" "$DEBKIT" plan $cells --simulate 2x
jobs=$(wc -l <"$work/jobs")
rm -r "$work/s1"
ok "what is in the cache needs no job" $slurm --out "$work/s1"
ok "none was started" [ "$(scontrol -o show job | wc -l)" = "$jobs" ]
ok "with the same bytes" same "$work/s1"
ok "a build here in the folder of one by Slurm has nothing to do" sh -c \
	"$here --out '$work/s1' 2>&1 | grep -q 'nothing to do'"

# NVRTC, which debkit itself runs.
new_cache "$work/cache8" "$work/first"
new_cache "$work/cache9" "$work/first"
ok "a build by NVRTC here" env DEBKIT_CACHE="$work/cache8" "$DEBKIT" build $nvrtc --out "$work/n0"
ok "and by Slurm" env DEBKIT_CACHE="$work/cache9" "$DEBKIT" build $nvrtc --launcher slurm --out "$work/n1"
ok "with the same bytes" cmp "$work/n0/python3-causal-conv1d-cu128_1.7.0-1_amd64.deb" \
	"$work/n1/python3-causal-conv1d-cu128_1.7.0-1_amd64.deb"
scontrol -o show job >"$work/jobs"
ok "its host half and its device code were jobs" sh -c "
	grep -q 'JobName=debkit:cu128/causal_conv1d_fwd.launches.o ' '$work/jobs'"

# build_held NAME CACHE OUT: starts a build and waits until the compiler of NAME is held up on a node,
# which is then in $on, and its job in $job.
build_held() {
	new_cache "$2" "$work/first"
	: >"$work/calls"
	touch "$work/hold/$1"
	DEBKIT_CACHE=$2 env --default-signal=INT $slurm --out "$3" >"$work/held.out" 2>"$work/held.err" &
	build=$!
	until_true grep -q "^node.*$1" "$work/calls" || return
	on=$(sed -n "s/^\(node[0-9]\) .*$1.*/\1/p" "$work/calls" | tail -n 1)
	job=$(squeue -h -w "$on" -o %i)
}
held_ends() { # held_ends STATUS: within some minutes
	for _ in $(seq 600); do
		kill -0 $build 2>/dev/null || break
		sleep 0.2
	done
	wait $build
	got=$?
	[ $got = "$1" ] || { echo "status $got"; tail "$work/held.err"; return 1; }
}

# A node dies, and then the controller restarts, in the middle.
build_held causal_conv1d_fwd.cu "$work/cache2" "$work/s2"
node_kill "${on#node}"
controller_stop
controller_start
rm "$work/hold/causal_conv1d_fwd.cu"
ok "a build goes on when a node dies and the controller restarts" held_ends 0
other=$([ "$on" = node1 ] && echo node2 || echo node1)
ok "what ran on the dead node was run again on the other" grep -q "^$other .*causal_conv1d_fwd.cu" "$work/calls"
ok "its log names the job and the reason" grep -qE "^job $job on $on: NODE_FAIL" "$work/s2/work/causal-conv1d-cu128/build.log"
ok "the same bytes" same "$work/s2"
node_start "${on#node}"

# Preempted: run again. Out of time: run again, with twice as much.
build_held causal_conv1d_fwd.cu "$work/cache3" "$work/s3"
ok "an urgent job takes all nodes" srun -p urgent -N2 --mem=8000 sleep 0.1
until_true sh -c "[ \$(grep -c '^node.*causal_conv1d_fwd.cu' '$work/calls') = 2 ]"
job=$(squeue -h -t R -o '%i %j' | sed -n 's/ debkit:.*fwd.*//p')
until_true scontrol update JobId="$job" EndTime=now # not within the second of its start
until_true sh -c "[ \$(grep -c '^node.*causal_conv1d_fwd.cu' '$work/calls') = 3 ]"
rm "$work/hold/causal_conv1d_fwd.cu"
ok "a build goes on when jobs are preempted and out of time" held_ends 0
ok "its log tells of both" sh -c "grep -qE '^job [0-9]+ on node.: (PREEMPTED|CANCELLED)' '$work'/s3/work/*/build.log &&
	grep -qE '^job $job on node.: TIMEOUT' '$work'/s3/work/*/build.log"
ok "the third job had twice the time" sh -c "scontrol -o show job | grep -q 'JobName=debkit:cu128/causal_conv1d_fwd.* TimeLimit=00:20:00'"
ok "the same bytes" same "$work/s3"

# Cancelled by hand.
build_held 2.9-cp311 "$work/cache4" "$work/s4"
scancel "$job"
until_true sh -c "! squeue -h -o %i | grep -qx $job"
rm -f "$work"/hold/*
ok "a job that was cancelled by hand is no success" held_ends 1
ok "the line names job, node and log" grep -qE \
	"left out: torch 2.9 with Python 3.11: .*job $job on $on was cancelled" "$work/held.err"
ok "and the log" grep -q "see '.*build.log'" "$work/held.err"
ok "all else was made" grep -q '2\.10' <(dpkg-deb -f "$work/s4/python3-causal-conv1d-cu128_1.7.0-1_amd64.deb" Debkit-Torch)
ok "the same command makes the rest" env DEBKIT_CACHE="$work/cache4" $slurm --out "$work/s4"
ok "with the same bytes" same "$work/s4"

# Ctrl-C, with jobs that run and jobs that wait.
build_held causal_conv1d "$work/cache5" "$work/s5"
kill -INT $build
ok "a signal ends it with 130" held_ends 130
ok "it says that the same command goes on" grep -q 'the same command goes on' "$work/held.err"
ok "no job is left in the queue" queue_is_empty
ok "no step runs on" sh -c "! pgrep -f 'step --cache $work/cache[5]'"
rm -f "$work"/hold/*
# Killed without a chance to tidy up: the next build does it.
build_held causal_conv1d "$work/cache5" "$work/s5"
kill -KILL $build
wait $build 2>/dev/null
rm -f "$work"/hold/*
ok "the same command goes on" env DEBKIT_CACHE="$work/cache5" $slurm --nodes 1 --out "$work/s5"
ok "on one node, as --nodes says" grep -q 'depth = 1' "$work"/s5/work/*/build.ninja
ok "with the same bytes" same "$work/s5"
ok "and an empty queue" queue_is_empty

# A step that fails says the same as here.
cp -r "$work/templates" "$work/broken"
sed -i 's/^Clang-Flags: /&--nonsense /' "$work/broken/causal-conv1d/recipe"
fails "a compiler error comes back, with the job" 1 "step '.*' failed: .*error: .*\(job [0-9]+ on node[12]\).*build.log" \
	env DEBKIT_TEMPLATES="$work/broken" $slurm --out "$work/s6"

# A node without the folder, and the way without one: its own cache, then carried over.
new_cache "$work/cluster/shared/cache" "$work/first"
fails "a node that does not see the folder" 1 \
	"job [0-9]+ on node3 does not see '$work/cluster/shared/.*folders that all nodes share" \
	env DEBKIT_CACHE="$work/cluster/shared/cache" $slurm --partition apart --out "$work/cluster/shared/out"
new_cache "$work/cache7" "$work/first"
fails "a node with another compiler" 1 \
	"job [0-9]+ on node3: 'g\+\+' says 'g\+\+ 99', here 'g\+\+ .*: all nodes need the compilers" \
	env DEBKIT_CACHE="$work/cache7" $slurm --partition apart --out "$work/s7"
new_cache "$work/cache8" "$work/first"
sed -i /--versionnode3/d "$work"/bin/*
ok "a node fills a cache of its own" srun -p apart env DEBKIT_CACHE="$work/cache7" $here --compile-only \
	--out "$work/s7"
cp -r "$work/cache7/object" "$work/cache8/"
: >"$work/calls"
ok "a build here with what was carried over" env DEBKIT_CACHE="$work/cache8" $here --out "$work/s8"
ok "compiles nothing" [ "$(calls ' -c | -S ')" = 0 ]
ok "and has the same bytes" same "$work/s8"
done_testing
