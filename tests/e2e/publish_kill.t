#!/bin/bash
# Publishes that are killed, or meet a full or broken disk, at each of their steps. After each one
# apt must see the old list or the new one, and the same command must then succeed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
cd "$work" || exit 1
test_key
gpg -q --export "$fpr" >key.gpg
old=(liba 1.0-1 tool-b 1.0 tool-c 1.0)

for v in 1.0 2.0; do make_deb "b$v.deb" tool-b "$v"; done
make_deb a.deb liba 1.0-1
make_deb c.deb tool-c 1.0 all
make_deb n.deb libnew 0.1

# A scenario: the repository before, the command, what apt sees before and after.
setup() {
	rm -rf repo
	case $1 in
	first) mkdir repo ;;
	gc) cp -a "$work/removed" repo ;;
	*) cp -a "$work/base" repo ;;
	esac
}
command_of() {
	case $1 in
	first) set -- publish --suite stable --sign-key "$fpr" --unsigned-ok "$work"/{a,b1.0,c}.deb ;;
	more) set -- publish --suite stable --unsigned-ok "$work"/{n,b2.0}.deb ;;
	keep) set -- publish --suite stable --unsigned-ok --keep 1 "$work/b2.0.deb" ;;
	remove) set -- remove --suite stable liba tool-c ;;
	refresh) set -- refresh --suite stable ;;
	snapshot) set -- snapshot --suite stable day ;;
	gc) set -- gc --yes --grace 0 ;;
	esac
	run=("$DEBKIT" "$1" --repo "$repo" "${@:2}")
}
new_of() {
	case $1 in
	more) new=("${old[@]}" libnew 0.1 tool-b 2.0) ;;
	keep) new=(liba 1.0-1 tool-b 2.0 tool-c 1.0) ;;
	remove) new=(tool-b 1.0) ;;
	*) new=("${old[@]}") ;;
	esac
}
repo=$work/base
command_of first
"${run[@]}" 2>/dev/null && cp -a base removed &&
	"$DEBKIT" remove --repo removed --suite stable tool-b >/dev/null 2>&1

# What apt makes of the repository: its list, or an error. Trees that differ in nothing but the
# time and the bytes of good signatures are asked about once.
declare -A verdicts
tree_key() {
	(
		cd repo || exit
		find . -path ./.debkit -prune -o -path './.debkit-*' -prune -o -type f ! -name Release.gpg \
			! -name InRelease ! -name Release -exec sha256sum {} +
		find . -name Release.gpg
		for f in dists/*/InRelease dists/*/Release; do
			[ -f "$f" ] && echo "$f" && sed '/^Date:/d; /^Valid-Until:/d; /BEGIN PGP SIGNATURE/,$d' "$f"
		done
	) | sort | sha256sum
}
ask_apt() {
	rm -rf root
	apt_root "$job/root" "[signed-by=$work/key.gpg] file:$repo stable main"
	apt_in "$job/root" update >apt.said 2>&1 || { echo "update fails" && return; }
	apt_sees "$job/root" >seen
	# shellcheck disable=SC2046
	(cd root && apt_in "$job/root" download $(sed 's/ /=/' ../seen)) >apt.said 2>&1 || { echo "download fails" && return; }
	tr '\n' ' ' <seen
}
look() { # in $seen: what apt sees
	local key
	if [ ! -e repo/dists/stable/InRelease ] && [ "$scenario" = first ]; then
		seen= && return
	fi
	if ! gpgv -q --keyring "$work/key.gpg" repo/dists/stable/InRelease 2>/dev/null; then
		seen="bad signature" && return
	fi
	key=$(tree_key)
	[ -n "${verdicts[$key]-}" ] || verdicts[$key]=$(ask_apt)
	seen=${verdicts[$key]}
}

# All that the command could go on from, state and leftovers too.
whole_key() {
	(cd repo && find . ! -name lock -printf '%p %y\n' && find . -type f -exec sha256sum {} +) | sort | sha256sum
}

# After a stop: old or new, and then the same command. Where everything is as it was in the
# beginning, the same command is the first one, which need not be made again.
check_after() { # WHERE
	[ "$(whole_key)" != "$untouched" ] || return 0
	look
	if [ "$seen" != "$old_seen" ] && [ "$seen" != "$new_seen" ]; then
		echo "# $1: apt sees '$seen'" && bad=$((bad + 1)) && return
	fi
	if ! "${run[@]}" >again 2>&1; then
		# A snapshot that is there is the one thing that cannot be made twice.
		[ "$scenario" = snapshot ] && grep -q exists again || {
			echo "# $1: the same command again: $(tail -n 1 again)" && bad=$((bad + 1)) && return
		}
	fi
	look
	if [ "$seen" != "$new_seen" ]; then
		echo "# $1: after the same command again apt sees '$seen'" && bad=$((bad + 1))
	fi
	if compgen -G 'repo/.debkit-txn-*' >/dev/null; then
		echo "# $1: a staging folder is left" && bad=$((bad + 1))
	fi
}

sorted() { printf '%s %s\n' "$@" | sort | tr '\n' ' '; }
stop_everywhere() { # HOW
	local i rc
	bad=0 points=0
	setup "$scenario"
	untouched=$(whole_key)
	for ((i = 1; i < 400; i++)); do
		setup "$scenario"
		DEBKIT_FAULT=$i:$1 "${run[@]}" >said 2>&1
		rc=$?
		[ "$rc" != 0 ] || break
		points=$i
		if [ "$1" = kill ]; then
			[ "$rc" = 137 ] || { echo "# point $i: status $rc, not killed" && bad=$((bad + 1)); }
		elif [ "$rc" != 1 ] || [ "$(grep -c '^debkit: error: ' said)" != 1 ]; then
			echo "# point $i: status $rc: $(tail -n 1 said)" && bad=$((bad + 1))
		fi
		check_after "point $i"
	done
	echo "# $points points" && [ "$bad" = 0 ] && [ "$points" -gt "$2" ]
}

# The same by strace, which knows nothing of our injection and sees SQLite's calls, too: killed at
# each call that changes a disk, or told that the disk is broken.
trace_everywhere() { # LEAST CALL...
	local call how i rc before
	bad=0 points=0
	setup "$scenario"
	untouched=$(whole_key)
	for call in "${@:2}"; do
		for how in signal=KILL error=EIO; do
			[ "$how" != error=EIO ] || [ $call = pwrite64 ] || continue
			for ((i = 1; i < 100; i++)); do
				setup "$scenario"
				# One thread, so that strace sees all of it without following gpg.
				DEBKIT_FAULT=1000000 strace -qq -o trace -e trace=$call -e inject=$call:$how:when=$i \
					"${run[@]}" >said 2>&1
				rc=$?
				grep -qE 'INJECTED|killed by SIGKILL' trace || break
				points=$((points + 1))
				check_after "$call $how $i (status $rc)"
			done
		done
	done
	echo "# $points points" && [ "$bad" = 0 ] && [ "$points" -gt "$1" ]
}

# One job: a scenario and a way to stop it, in a folder of its own. At least so many points: a
# count that fell would mean that steps escape the injection.
run_job() {
	scenario=$1 job=$work/$1.$2 repo=$work/$1.$2/repo
	mkdir "$job" && cd "$job" || return
	command_of "$scenario"
	new_of "$scenario"
	old_seen=$(sorted "${old[@]}") new_seen=$(sorted "${new[@]}")
	[ "$scenario" != first ] || old_seen=
	[ "$scenario" != gc ] || old_seen=$(sorted liba 1.0-1 tool-c 1.0) new_seen=$old_seen
	if [ "$2" = trace ]; then trace_everywhere "${@:3}"; else stop_everywhere "$2" "$3"; fi
}
jobs=(
	first,kill,50 more,kill,45 remove,kill,30 keep,kill,45 refresh,kill,10 snapshot,kill,20 gc,kill,0
	more,ENOSPC,45 more,EIO,45 first,EIO,50 remove,ENOSPC,30
	more,trace,60,rename,link,linkat,fsync,fdatasync,write,pwrite64,ftruncate,unlink,mkdir
	remove,trace,15,rename,link,fsync,unlink
)
for spec in "${jobs[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge 3 ]; do wait -n; done
	(run_job ${spec//,/ } >"$work/$spec.out" 2>&1; echo $? >"$work/$spec.rc") &
done
wait
for spec in "${jobs[@]}"; do
	IFS=, read -r scenario how _ <<<"$spec"
	ok "$scenario: $how at each step" bash -c "grep -v Killed '$spec.out'; exit \$(cat '$spec.rc')"
	tail -n 1 "$spec.out"
done
done_testing
