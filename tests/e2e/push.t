#!/bin/bash
# A repository copied by rsync: whatever stops it, apt gets the old list or the new one from the
# target, with the packages that it names.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
cd "$work" || exit 1
test_key
repo=$work/repo dest=$work/dest
publish() { "$DEBKIT" publish --repo "$repo" --suite stable --unsigned-ok "$@"; }
push() { "$DEBKIT" push --repo "$repo" "$@"; }
# sees VERSION...: apt updates from the target, sees these versions and gets the newest.
sees() {
	local want=()
	for v; do want+=("tool $v"); done
	rm -rf client && apt_root client "[signed-by=$repo/debkit-archive-keyring.gpg] copy:$dest stable main"
	updates client "${want[@]}" && (cd client && apt_in "$work/client" download "tool=${!#}" && ls tool_*.deb)
}
updates() { # as in repo.sh, with "NAME VERSION" in one word
	local dir=$1
	shift
	apt_in "$dir" update && printf '%s\n' "$@" | sort >"$dir/want" && apt_sees "$dir" | diff "$dir/want" -
}

# Two megabytes that do not pack.
big_deb() { # FILE VERSION
	make_deb "$1" tool "$2" && rm -rf raw && dpkg-deb -R "$1" raw &&
		head -c 2000000 /dev/urandom >raw/usr/share/doc/tool/noise &&
		dpkg-deb -Zgzip -z1 --root-owner-group -b raw "$1" >/dev/null
}

big_deb one.deb 1.0
big_deb two.deb 2.0
ok "publish" publish --sign-key "$fpr" --url https://debkit.invalid/ one.deb
ok "site" "$DEBKIT" site --repo "$repo"
ok "push to a folder that is not there" push "$dest"
ok "it has all but the publisher's own" sh -c "
	diff -r '$repo' '$dest' | tee diff; grep -q 'Only in $repo: .debkit' diff && [ \$(wc -l <diff) = 1 ]"
ok "apt takes it" sees 1.0
ok "again: nothing to do" push "$dest"
cp -a "$dest" old
ok "the next version takes the place of the first" publish --keep 1 two.deb
ok "whose file goes" sh -c "'$DEBKIT' gc --repo '$repo' --yes --grace 0 && ! ls '$repo'/pool/main/t/tool/tool_1.0*"
ok "site" "$DEBKIT" site --repo "$repo"

# An rsync that is killed at its KILL_AT-th run: before it does anything, or in the middle.
mkdir bin
cat >bin/rsync <<'X'
#!/bin/bash
n=$(($(cat "$COUNT" 2>/dev/null || echo 0) + 1))
echo $n >"$COUNT"
[ $n = "$KILL_AT" ] || exec /usr/bin/rsync "$@"
[ "$KILL_HOW" = before ] && kill -9 $$
/usr/bin/rsync --bwlimit=800 "$@" &
sleep 0.4
kill -9 $!
exit 137
X
chmod +x bin/rsync
for how in before amid; do
	for at in 1 2 3 4 5 6; do
		rm -rf "$dest" count && cp -a old "$dest"
		COUNT=$work/count KILL_AT=$at KILL_HOW=$how PATH=$work/bin:$PATH push "$dest" 2>said
		code=$?
		# Past InRelease the list is the new one; the step after it may end before the kill.
		if [ $at = 6 ]; then want=2.0; else want=1.0; fi
		if [ $how = amid ] && [ $at = 5 ]; then want=either; fi
		if [ $want = either ]; then
			ok "killed $how step $at ($code): the old list or the new one" \
				eval 'sees 1.0 || sees 2.0'
		else
			ok "killed $how step $at ($code): the list of $want" sees $want
		fi
		ok "and the same command completes it" eval 'push "$dest" && sees 2.0'
	done
done
rm -rf "$dest" count && cp -a old "$dest"
COUNT=$work/count KILL_AT=1 KILL_HOW=amid PATH=$work/bin:$PATH push "$dest" 2>said
ok "what was transferred is kept for the next time" sh -c "find '$dest/pool' -path '*.debkit-partial/*' -type f | grep ."
ok "the line says what to do" grep -q 'has its old lists.*the same command goes on from there' said
ok "it goes on" push --delete "$dest"
ok "--delete removes what is gone" sh -c "! find '$dest' -name 'tool_1.0*' -o -name .debkit-partial | grep ."
ok "then both are alike" sh -c "diff -r '$repo' '$dest' | tee diff; [ \$(wc -l <diff) = 1 ]"
mkdir "$dest/mine" && echo mine >"$dest/mine/file"
ok "--delete leaves alone what is not the repository's" sh -c "
	'$DEBKIT' push --repo '$repo' --delete '$dest' && cat '$dest/mine/file'"

mkdir small && mount -t tmpfs -o size=3m none small
trap 'umount "$work/small"; cleanup' EXIT
cp -a old/. small/
fails "a full target: one line" 1 "has its old lists.*No space left on device" "$DEBKIT" push --repo "$repo" "$work/small"
dest=$work/small ok "and it has its old list" sees 1.0
mount -o remount,size=30m small
ok "with more room the same command completes it" push "$work/small"
dest=$work/small ok "which apt takes" sees 2.0

fails "a target inside the repository" 2 'lie in each other' push "$repo/copy"
fails "no repository" 2 'holds no repository' "$DEBKIT" push --repo "$work/none" "$work/x"
fails "a target that is an option" 2 "no folder and no HOST:PATH" "$DEBKIT" push --repo "$repo" -- -e
exec 8>"$repo/.debkit/lock" && flock 8
fails "while a publisher works: --no-wait" 1 'lock' push --no-wait "$dest"
exec 8>&-

# Over ssh, to a server of our own on loopback.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
ssh-keygen -q -t ed25519 -N '' -f hostkey && ssh-keygen -q -t ed25519 -N '' -f userkey
mkdir -p /run/sshd
cat >sshd.conf <<X
ListenAddress 127.0.0.1:$port
HostKey $work/hostkey
AuthorizedKeysFile $work/userkey.pub
StrictModes no
UsePAM no
PidFile none
X
/usr/sbin/sshd -D -e -f sshd.conf 2>sshd.log &
sshd=$!
trap 'kill $sshd; umount "$work/small"; cleanup' EXIT
for _ in $(seq 50); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.1; done
export RSYNC_RSH="ssh -p $port -i $work/userkey -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes -o LogLevel=ERROR"
mkdir far
ok "push over ssh" push "$(id -un)@127.0.0.1:$work/far"
dest=$work/far ok "apt takes it" sees 2.0
fails "a host that does not answer: one line" 1 'rsync ended with status' \
	env RSYNC_RSH="ssh -p 1 -o BatchMode=yes" "$DEBKIT" push --repo "$repo" "127.0.0.1:$work/far"
done_testing
