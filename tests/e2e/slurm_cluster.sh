# A Slurm cluster of three nodes on loopback, with its own munge: for tests and benchmarks. Needs
# Debian's slurm-wlm and munge, and root.
#	cluster_start DIR [CPUS]   partitions main (node1, node2), urgent (the same; it preempts) and
#	                           apart (node3, which does not see DIR/shared)
#	cluster_stop               ends every process that was started, by its id
# All of it lies in DIR; SLURM_CONF is exported.
cluster_pids=()

# free_ports N: as many TCP ports of loopback that nobody listens on.
free_ports() {
	python3 -c 'import socket, sys
all = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(s.getsockname()[1] for s in all))' "$1"
}

# until_true COMMAND...: tries it for up to a minute.
until_true() {
	for _ in $(seq 300); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.2
	done
	echo "never true: $*" >&2
	return 1
}

munge_start() {
	mkdir -m 755 -p "$cluster/munge"
	head -c 128 /dev/urandom >"$cluster/munge/key"
	chmod 600 "$cluster/munge/key"
	munged --foreground --force --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" \
		--pid-file="$cluster/munge/pid" --log-file="$cluster/munge/log" \
		--seed-file="$cluster/munge/seed" >"$cluster/munge/said" 2>&1 &
	cluster_pids+=($!)
	until_true test -S "$cluster/munge/socket"
}

controller_start() {
	slurmctld -D >"$cluster/controller.said" 2>&1 &
	controller=$!
	until_true sinfo
}

controller_stop() {
	kill "$controller" && wait "$controller"
	controller=
}

# node_start N: a slurmd, whose folder is also how its job steps are found.
node_start() {
	local dir=$cluster/node$1
	mkdir -p "$dir/spool" "$cluster/shared"
	(
		cd "$dir" || exit
		[ "$1" != 3 ] || exec unshare -m sh -c "mount -t tmpfs none '$cluster/shared' &&
			exec slurmd -D -N node3"
		exec slurmd -D -N "node$1"
	) >"$dir/said" 2>&1 &
	node_pid[$1]=$!
	until_true sh -c "sinfo -h -n node$1 -o %t | grep -qE '^(idle|mix|alloc)$'"
}

# node_steps N: the process ids of its job steps and of what they run.
node_steps() {
	local pid
	for pid in $(pgrep -x slurmstepd); do
		[ "$(readlink "/proc/$pid/cwd")" = "$cluster/node$1" ] || continue
		echo "$pid"
		descendants "$pid"
	done
}
descendants() {
	local child
	for child in $(pgrep -P "$1"); do
		echo "$child"
		descendants "$child"
	done
}

# node_kill N: as if its power were cut.
node_kill() {
	local steps
	kill -9 "${node_pid[$1]}"
	wait "${node_pid[$1]}" 2>/dev/null
	node_pid[$1]=
	steps=$(node_steps "$1")
	[ -z "$steps" ] || kill -9 $steps 2>/dev/null
}

cluster_start() {
	cluster=$1 node_pid=()
	local cpus=${2:-1} ports
	mkdir -m 755 -p "$cluster/state"
	read -ra ports <<<"$(free_ports 4)"
	export SLURM_CONF=$cluster/slurm.conf
	cat >"$SLURM_CONF" <<-CONF
		ClusterName=debkit
		SlurmctldHost=localhost(127.0.0.1)
		SlurmctldPort=${ports[0]}
		AuthType=auth/munge
		AuthInfo=socket=$cluster/munge/socket
		CredType=cred/munge
		SlurmUser=root
		SlurmdUser=root
		StateSaveLocation=$cluster/state
		SlurmdSpoolDir=$cluster/%n/spool
		SlurmctldPidFile=$cluster/controller.pid
		SlurmdPidFile=$cluster/%n/pid
		SlurmctldLogFile=$cluster/controller.log
		SlurmdLogFile=$cluster/%n/log
		SlurmdParameters=config_overrides
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core_Memory
		PreemptType=preempt/partition_prio
		PreemptMode=CANCEL
		ReturnToService=2
		SlurmdTimeout=5
		KillWait=5
		MpiDefault=none
		SwitchType=switch/none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		NodeName=node1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=$cpus RealMemory=8000
		NodeName=node2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=${ports[2]} CPUs=$cpus RealMemory=8000
		NodeName=node3 NodeHostname=localhost NodeAddr=127.0.0.1 Port=${ports[3]} CPUs=$cpus RealMemory=8000
		PartitionName=main Nodes=node1,node2 Default=YES MaxTime=12:00:00 PriorityTier=1 PreemptMode=CANCEL
		PartitionName=urgent Nodes=node1,node2 PriorityTier=9 PreemptMode=OFF
		PartitionName=apart Nodes=node3 PriorityTier=1
	CONF
	munge_start && controller_start && node_start 1 && node_start 2 && node_start 3
}

cluster_stop() {
	local n pid steps
	[ -n "${cluster:-}" ] || return 0
	for n in 1 2 3; do
		steps=$(node_steps $n)
		for pid in ${node_pid[$n]:-} $steps; do
			kill -9 "$pid" 2>/dev/null
			wait "$pid" 2>/dev/null
		done
	done
	for pid in ${controller:-} "${cluster_pids[@]}"; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	cluster_pids=() controller= node_pid=()
}
