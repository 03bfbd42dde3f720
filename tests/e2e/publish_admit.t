#!/bin/bash
# Admission: what would break a client is refused, one line each, and nothing is published then.
# Behind it stands a publish of odd but good packages, which dpkg and apt must like.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
cd "$work" || exit 1
repo=$work/repo
mkdir bad
"$top/tests/e2e/bad_debs.py" bad >list
make_deb good.deb good 1.0
ok "a good package is published" "$DEBKIT" publish --repo "$repo" --suite stable --unsigned good.deb
tree() { (cd "$repo" && find . -path ./.debkit -prune -o -printf '%p %i\n' | sort); }
tree >before
while IFS=$'\t' read -r file reason; do
	refused() {
		! "$DEBKIT" publish --check-only --unsigned-ok "bad/$file" 2>said && [ "$(wc -l <said)" = 2 ] &&
			grep -qE "^debkit: warning: refused: .*$file.*($reason)" said &&
			grep -qx 'debkit: error: 1 of 1 files refused; nothing was published' said || { cat said && false; }
	}
	ok "$file is refused with its reason" refused
done <list
count=$(wc -l <list)
all_at_once() {
	! "$DEBKIT" publish --repo "$repo" --suite stable --unsigned bad good.deb 2>said || return
	[ "$(grep -c '^debkit: warning: refused: ' said)" = "$count" ] && [ "$(wc -l <said)" = $((count + 1)) ] &&
		grep -q "$count of $((count + 1)) files refused" said
}
ok "all of them with a good one: a line for each" all_at_once
ok "nothing of that call is left in the repository" bash -c "$(declare -f tree); repo='$repo'; tree | diff before -"
ok "nothing is left outside it" bash -c "! find '$work' -newer before -name x -path '*etc*' | grep ."

# Odd but good.
make_deb odd/1.deb odd-1 '1:2.0+dfsg~rc1-3+b1' all 'Multi-Arch: foreign'
make_deb odd/2.deb lib0.1+x 0~ amd64 'Depends: a (<< 1:2), b | c (= 3~) | d:any, libc6 (>= 2.34)'
make_deb odd/3.deb odd-3 1 amd64 'Source: other-source (0.9)'
make_deb odd/4.deb odd-4 1 amd64 $'pre-depends: dpkg (>= 1.0)\nX-Utf8: gr\xc3\xbc\xc3\x9fe\nTag: a::b,\n c::d'
make_deb odd/5.deb odd-5 1 amd64 $'SHA256: 00\nFilename: /etc/passwd\nSize: 1'
ok "odd packages are published" "$DEBKIT" publish --repo "$repo" --suite stable --unsigned odd
apt_root root "[trusted=yes] file:$repo stable main"
ok "apt reads them all" updates root good 1.0 odd-1 '1:2.0+dfsg~rc1-3+b1' lib0.1+x 0~ odd-3 1 odd-4 1 odd-5 1
ok "and fetches them" bash -c ". '$top/tests/e2e/repo.sh'; mkdir dl; cd dl && apt_in '$work/root' download \
	good odd-1 lib0.1+x odd-3 odd-4 odd-5"
ok "a Source field names the folder" test -f "$repo/pool/main/o/other-source/odd-3_1_amd64.deb"
ok "lib packages lie below four letters" test -d "$repo/pool/main/lib0/lib0.1+x"
ok "they can be removed again" "$DEBKIT" remove --repo "$repo" --suite stable 'odd-*'
ok "which apt sees" updates root good 1.0 lib0.1+x 0~
done_testing
