#!/bin/bash
# Packages that are taken back, channels, snapshots by apt's own option, and what is kept how long.
# Judges: apt 2.6 (this machine's) and apt 3 in a Debian 13 root.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
. "$(dirname "$0")/root.sh"
cd "$work" || exit 1
test_key
url_port
repo=$work/repo root=$work/root
for v in 1 2; do make_deb debs/aa_$v.deb aa $v; done
make_deb debs/bb_1.deb bb 1
publish() { "$DEBKIT" publish --repo "$repo" --unsigned-ok "$@"; }
withdraw() { "$DEBKIT" withdraw --repo "$repo" "$@"; }
day() { DEBKIT_NOW=$(($(date +%s) + $1 * 86400)) "${@:2}"; }

ok "publish to testing" publish --suite testing --sign-key "$fpr" --url "$url" debs
ok "testing goes to stable" "$DEBKIT" copy --repo "$repo" --from testing --to stable
ok "and to cu128-lts" "$DEBKIT" copy --repo "$repo" --from testing --to cu128-lts
ok "a snapshot" "$DEBKIT" snapshot --repo "$repo" --suite stable stable-20260101
serve "$repo"
trap 'kill "$server" 2>/dev/null; umount_root; cleanup' EXIT
for s in testing stable cu128-lts stable-20260101; do
	apt_root "$work/$s" "[signed-by=$repo/debkit-archive-keyring.gpg] $url $s main"
	ok "apt 2.6 sees $s" updates "$work/$s" aa 1 aa 2 bb 1
done
ok "Origin, Label and Suite are those of the README" sh -c "
	grep -qx 'Origin: debkit' '$repo/dists/cu128-lts/Release' &&
	grep -qx 'Label: debkit' '$repo/dists/cu128-lts/Release' &&
	grep -qx 'Suite: cu128-lts' '$repo/dists/cu128-lts/Release'"

fails "no reason" 2 'give --reason' withdraw aa 2
fails "a package that nobody has" 2 'has no package aa of version 3' withdraw aa 3 --reason x
fails "a reason of two lines" 2 'one line of text' withdraw aa 2 --reason "$(printf 'x\ny')"
ok "withdraw" withdraw aa 2 --reason 'wrong numbers on sm_103: use 3'
ok "no channel lists it" eval 'for s in testing stable cu128-lts; do updates "$work/$s" aa 1 bb 1 || exit; done'
ok "the snapshot does" updates "$work/stable-20260101" aa 1 aa 2 bb 1
reads_list() { gpgv --keyring "$repo/debkit-archive-keyring.gpg" "$repo/withdrawn.asc" "$repo/withdrawn" &&
	python3 -c '
import sys
s = dict(l.split(": ", 1) for l in open(sys.argv[1]).read().strip().split("\n"))
assert s["Package"] == "aa" and s["Version"] == "2" and s["Suites"] == "cu128-lts stable testing", s
assert s["Reason"] == "wrong numbers on sm_103: use 3" and s["Date"].endswith(" UTC"), s' "$repo/withdrawn"; }
ok "the list says so, under the key's signature" reads_list
told() { # NAME VERSION REASON: each channel's signed Release says so, and apt has it
	local s
	for s in testing stable cu128-lts; do
		gpgv --keyring "$repo/debkit-archive-keyring.gpg" -o - "$repo/dists/$s/InRelease" 2>/dev/null |
			sed -n '/^X-Debkit-Withdrawn:/,/^[^ X]/p' | grep -qx " $1 $2 $3" || return
		apt_in "$work/$s" update && grep -qx " $1 $2 $3" "$work/$s"/var/lib/apt/lists/*_InRelease || return
	done
}
ok "each channel's Release tells apt" told aa 2 'wrong numbers on sm_103: use 3'
ok "not the snapshot's, which never changes" eval '! grep -q X-Debkit-Withdrawn "$repo/dists/stable-20260101/InRelease"'
make_deb debs/ee_1.deb ee 1
ok "what left its suite long ago is withdrawn, too" eval 'publish --suite testing debs/ee_1.deb &&
	"$DEBKIT" remove --repo "$repo" --suite testing ee && withdraw ee 1 --reason "reads beyond the end"'
ok "and each channel tells, old and new" eval 'told ee 1 "reads beyond the end" && told aa 2 "wrong numbers on sm_103: use 3"'
ok "a channel that is made later tells" eval '"$DEBKIT" copy --repo "$repo" --from stable --to late &&
	grep -q "^ ee 1 reads" "$repo/dists/late/InRelease" && rm -r "$repo/dists/late"'
fails "a reason that no Release can hold" 2 'at most 1000 bytes' withdraw bb 1 --reason "$(printf '%01001d' 0)"
fails "nor one that is no text" 2 'in UTF-8' withdraw bb 1 --reason $'\xff'
ok "once more does nothing" sh -c "'$DEBKIT' withdraw --repo '$repo' aa 2 --reason x 2>&1 | grep -q 'nothing to do' &&
	[ \$(grep -c ^Package '$repo/withdrawn') = 2 ]"
fails "it cannot be published again" 1 'aa 2 was withdrawn \(wrong numbers' publish --suite stable debs/aa_2.deb
fails "nor copied from the snapshot" 1 'aa 2 was withdrawn' "$DEBKIT" copy --repo "$repo" --from stable-20260101 \
	--to stable aa
ok "a second one joins the list" withdraw bb 1 --reason 'built from the wrong source'
ok "in its order" sh -c "[ \"\$(sed -n 's/^Package: //p' '$repo/withdrawn' | tr '\n' ' ')\" = 'aa ee bb ' ]"
ok "signed again" gpgv --keyring "$repo/debkit-archive-keyring.gpg" "$repo/withdrawn.asc" "$repo/withdrawn"
ok "gc leaves what the snapshot has" eval '"$DEBKIT" gc --repo "$repo" --grace 0 --yes && updates "$work/stable-20260101" aa 1 aa 2 bb 1 &&
	(cd "$work" && apt_in "$work/stable-20260101" download aa=2)'

# A killed withdraw leaves the old or the new, and the same command completes it.
make_deb debs/cc_1.deb cc 1
publish --suite stable debs/cc_1.deb >/dev/null 2>&1
killed() {
	local i kills=0
	for i in $(seq 1 5 600); do
		rm -rf copy && cp -a "$repo" copy
		DEBKIT_FAULT=$i:kill "$DEBKIT" withdraw --repo copy cc 1 --reason r >/dev/null 2>&1 && break
		kills=$((kills + 1))
		apt_root "$work/k" "[signed-by=$repo/debkit-archive-keyring.gpg] file:$work/copy stable main"
		apt_in "$work/k" update >/dev/null 2>&1 || return 1
		"$DEBKIT" withdraw --repo copy cc 1 --reason r >/dev/null 2>&1 || return 1
		[ "$(grep -l '^ cc 1 r$' copy/dists/{testing,stable,cu128-lts}/InRelease | wc -l)" = 3 ] || return 1
		[ "$(grep -c '^Package: cc' copy/withdrawn)" = 1 ] && ! zgrep -q '^Package: cc' copy/dists/stable/main/binary-amd64/Packages.gz ||
			return 1
	done
	echo "$kills kills" && [ $kills -gt 10 ]
}
ok "kill -9 at any step: apt goes on, and the same command completes it" killed

# apt's own option: Snapshot.
ok "Release has the field" grep -qx "Snapshots: $url/snapshots/@SNAPSHOTID@/" "$repo/dists/stable/Release"
ok "a Debian 13 root" make_root trixie "$root"
rm -rf "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*
source3() { # [SNAPSHOT]
	mkdir -p "$root/etc/apt/keyrings"
	cp "$repo/debkit-archive-keyring.gpg" "$root/etc/apt/keyrings/debkit.gpg"
	printf '%s\n' 'Types: deb' "URIs: $url" 'Suites: stable' 'Components: main' \
		'Signed-By: /etc/apt/keyrings/debkit.gpg' ${1:+"Snapshot: $1"} >"$root/etc/apt/sources.list.d/debkit.sources"
}
versions() { in_root "$root" apt-cache madison aa | awk '{print $3}' | sort -u | tr '\n' ' '; }
update3() { in_root "$root" apt-get -q update -o APT::Update::Error-Mode=any -o Acquire::Languages=none 2>&1 | tee u3
	! grep -E '^[WE]:' u3; }
source3
ok "apt 3 updates" update3
ok "and sees what is listed now" test "$(versions)" = '1 '
source3 20260101
ok "Snapshot: 20260101" update3
ok "apt 3 sees what was listed then" test "$(versions)" = '1 2 '

# What was pushed serves snapshots as well.
ok "push" "$DEBKIT" push --repo "$repo" "$work/dest"
ok "with its links" sh -c "[ -L '$work/dest/snapshots/20260101/dists/stable' ] && [ -L '$work/dest/snapshots/20260101/pool' ]"
kill "$server"
wait "$server" 2>/dev/null
serve "$work/dest"
rm -rf "$root"/var/lib/apt/lists/*
source3
ok "apt 3 updates from the target" eval 'update3 && [ "$(versions)" = "1 " ]'
source3 20260101
ok "Snapshot: 20260101, from the target" eval 'update3 && [ "$(versions)" = "1 2 " ]'
kill "$server"
wait "$server" 2>/dev/null
serve "$repo"

# A file that somebody edited: what is no line of a Release stays out of it.
cp "$repo/withdrawn" withdrawn.good
{ cat withdrawn.good; echo; printf '%s\n' 'Package: a b' 'Version: 1' 'Reason: x' '' 'Package: yy' 'Version: 1' 'Reason: first' \
	' Suite: evil' ' .'; echo; printf '%s\n' 'Package: zz' 'Version: 1' "Reason: $(printf '%030000d' 0)"; } >"$repo/withdrawn"
ok "an edited list" "$DEBKIT" refresh --repo "$repo" --suite stable
ok "apt updates" eval 'apt_in "$work/stable" update && grep -qx " yy 1 first" "$work/stable"/var/lib/apt/lists/*_InRelease'
ok "without what is no line" sh -c "! grep -E '^ (a b|Suite)' '$repo/dists/stable/InRelease' &&
	[ \$(wc -L <'$repo/dists/stable/InRelease') -lt 1100 ]"
cp withdrawn.good "$repo/withdrawn"
ok "a publish with nothing new brings Releases up to date" eval 'publish --suite stable debs/cc_1.deb &&
	! grep -q "^ yy 1" "$repo/dists/stable/InRelease"'

# Retention.
printf '%s\n' '# what is kept' 'Suite: stable' 'Keep-Snapshots-Days: 90' '' 'Suite: cu128-lts' 'Frozen: yes' \
	>"$repo/retention"
make_deb debs/dd_1.deb dd 1
fails "a frozen channel takes nothing" 1 "suite 'cu128-lts' is frozen" publish --suite cu128-lts debs/dd_1.deb
fails "by no way" 1 'is frozen' "$DEBKIT" copy --repo "$repo" --from stable --to cu128-lts cc
fails "and loses nothing" 1 'is frozen' "$DEBKIT" remove --repo "$repo" --suite cu128-lts aa
ok "but is signed again" "$DEBKIT" refresh --repo "$repo" --suite cu128-lts
ok "and what is bad is withdrawn" withdraw aa 1 --reason 'bad too'
ok "which leaves it empty" updates "$work/cu128-lts"
ok "a snapshot stays for 90 days" sh -c "DEBKIT_NOW=$(($(date +%s) + 90 * 86400)) '$DEBKIT' gc --repo '$repo' --yes &&
	[ -e '$repo/dists/stable-20260101/InRelease' ]"
ok "without --yes gc only says so" sh -c "DEBKIT_NOW=$(($(date +%s) + 92 * 86400)) '$DEBKIT' gc --repo '$repo' 2>&1 |
	grep -q 'snapshot stable-20260101 is 92 days old' && [ -e '$repo/dists/stable-20260101/InRelease' ]"
ok "then it goes" sh -c "DEBKIT_NOW=$(($(date +%s) + 92 * 86400)) '$DEBKIT' gc --repo '$repo' --yes &&
	[ ! -e '$repo/dists/stable-20260101' ] && [ ! -e '$repo/snapshots/20260101' ]"
ok "push --delete takes it from the target" sh -c "'$DEBKIT' push --repo '$repo' --delete '$work/dest' &&
	[ ! -e '$work/dest/dists/stable-20260101' ] && [ ! -L '$work/dest/snapshots/20260101/dists/stable' ] &&
	! find '$work/dest' -xtype l | grep ."
ok "and next what it alone listed" sh -c "DEBKIT_NOW=$(($(date +%s) + 93 * 86400)) '$DEBKIT' gc --repo '$repo' --yes &&
	! find '$repo/pool' -name 'aa_2_*' | grep ."
echo 'Suite: x
Frozen: maybe' >"$repo/retention"
fails "a wrong line" 2 "retention:2: Frozen is 'maybe'" publish --suite stable debs/dd_1.deb
done_testing
