#!/bin/bash
# Clocks that are wrong: a line that says so, nothing changed, and a way back from a wrong date.
# Judge: apt, with the right clock and strict about dates.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
cd "$work" || exit 1
export NO_FAKE_STAT=1 # only the clock is wrong, not the times of files
export GNUPGHOME=$work/gnupg
mkdir -m 700 "$GNUPGHOME"
fpr=$(faketime -f -9d "$DEBKIT" keys new --uid "debkit test <test@debkit.invalid>" 2>/dev/null)
gpgconf --kill all
repo=$work/repo
at() { faketime -f "$1" "${@:2}"; } # OFFSET COMMAND...
publish=("$DEBKIT" publish --suite stable --unsigned-ok --repo)
whole() { (cd "$1" && find . -path ./.debkit -prune -o ! -type d -printf '%y %p %l %i %T@\n' | sort); }
make_deb debs/a.deb tool 1
make_deb b.deb tool 2
ok "publish" "${publish[@]}" "$repo" --sign-key "$fpr" --url http://debkit.invalid/ debs
ok "a snapshot" "$DEBKIT" snapshot --repo "$repo" --suite stable stable-1
ok "pages" "$DEBKIT" site --repo "$repo"
printf 'Suite: stable\nKeep-Snapshots-Days: 9\n' >"$repo/retention"
"$DEBKIT" site --repo "$repo" 2>/dev/null
apt_root r "[signed-by=$repo/debkit-archive-keyring.gpg] file:$repo stable main"
whole "$repo" >before

# WHAT OFFSET: nothing that dates a suite works, and nothing changes.
refused() {
	local what=$1 offset=$2 command
	for command in 'publish --suite stable --unsigned-ok b.deb' 'refresh --suite stable' 'remove --suite stable tool' \
		'copy --from stable --to next' 'snapshot --suite stable' 'withdraw tool 1 --reason x' 'gc --yes --grace 0'; do
		fails "$what: debkit ${command%% *}" 1 "(suite 'stable'|repository '$repo') is dated .* this machine's clock says .* --trust-clock" \
			faketime -f "$offset" "$DEBKIT" $command --repo "$repo"
	done
	ok "$what: all is as it was" eval 'whole "$repo" | diff before -'
	ok "and apt goes on" updates r tool 1
}
refused "two days slow" -2d
refused "as after a dead battery" "$((1 - $(date +%s) / 86400))d"
refused "two years fast" +800d
for offset in -2d +800d; do
	ok "$offset: the pages are the same" eval 'at $offset "$DEBKIT" site --repo "$repo" && whole "$repo" | diff before -'
	rm -rf dest
	ok "$offset: push copies what is there" eval 'at $offset "$DEBKIT" push --repo "$repo" "$work/dest" &&
		diff -r "$repo" dest | grep -vx "Only in $repo: .debkit" | diff /dev/null -'
done

was=$(grep ^Date: "$repo/dists/stable/Release")
ok "an hour slow: another publisher's clock" at -3600s "${publish[@]}" "$repo" b.deb
ok "the Date does not go back" test "$(grep ^Date: "$repo/dists/stable/Release")" = "$was"
ok "apt updates" updates r tool 1 tool 2

fails "a first publish before the key was made" 3 'was made on .*clock says .*: set the clock' \
	faketime -f -3000d "${publish[@]}" "$work/first" --sign-key "$fpr" b.deb
ok "leaves no repository" test ! -e "$work/first/dists/stable/InRelease"
short=$("$DEBKIT" keys new --uid "short <short@debkit.invalid>" --expire 1y 2>/dev/null)
fails "and after it ended" 3 'expired on' \
	faketime -f +500d "${publish[@]}" "$work/first" --sign-key "$short" b.deb
ok "leaves none either" test ! -e "$work/first/dists/stable/InRelease"

# A date of the future that came out all the same: a first publish has nothing to compare with.
ok "a first publish, a year fast" at +300d "${publish[@]}" "$work/fast" --sign-key "$fpr" b.deb
apt_root f "[signed-by=$work/fast/debkit-archive-keyring.gpg] file:$work/fast stable main"
ok "apt refuses it" eval '! apt_in f update >said 2>&1 && grep -q "not valid yet" said'
fails "the next publish tells" 1 "suite 'stable' is dated .*--trust-clock" "${publish[@]}" "$work/fast" debs/a.deb
ok "with --trust-clock the date comes back" "$DEBKIT" refresh --repo "$work/fast" --suite stable --trust-clock
ok "and apt takes it" updates f tool 2
ok "after a long rest --trust-clock goes on" at +800d "$DEBKIT" refresh --repo "$work/fast" --suite stable --trust-clock --valid-days 30
done_testing
