#!/bin/bash
# debkit matrix and why: what a folder of packages holds, what was recorded, and what is empty.
. "$(dirname "$0")/lib.sh"
cp -r "$top/templates" "$work/templates"
rm -f "$work/templates/states"
export DEBKIT_TEMPLATES=$work/templates
cd "$work" || exit 1
version=$(sed -n 's/^Version: //p' templates/causal-conv1d/recipe)-$(sed -n 's/^Debian-Revision: //p' templates/causal-conv1d/recipe)

# make_deb DIR VERSION: a flavour package with a table of two bindings, as a stranger builds one.
make_deb() {
	local tree=$work/tree dir=$work/tree/usr/lib/x86_64-linux-gnu/debkit/causal-conv1d-cu128
	rm -rf "$tree"
	mkdir -p "$tree/DEBIAN" "$dir" "$1"
	printf 'File: torch2.9-cp312.so\nPython: cp312\nTorch: 2.9 2.8\nCuda: 12.8\n\n' >"$dir/bindings"
	printf 'File: torch2.10-cp312.so\nPython: cp312\nTorch: 2.10\nCuda: 12.8\n' >>"$dir/bindings"
	printf '%s\n' 'Package: python3-causal-conv1d-cu128' "Version: $2" 'Architecture: amd64' \
		'Maintainer: t <t@t.invalid>' 'Debkit-Cuda: 12.8' 'Debkit-Cuda-Archs: 9.0 9.0+PTX' \
		'Description: t' >"$tree/DEBIAN/control"
	dpkg-deb -b --root-owner-group -Zzstd "$tree" "$1/python3-causal-conv1d-cu128_$2_amd64.deb"
}
cell() { # cell TORCH CUDA PYTHON KEY: of --json
	"$DEBKIT" matrix --json --out out | python3 -c '
import json, sys
t, c, p, key = sys.argv[1:]
print(*[x[key] for x in json.load(sys.stdin)["cells"] if (x["torch"], x["cuda"], x["python"]) == (t, c, p)])' "$@"
}
is() { [ "$(cell "$1" "$2" "$3" "$4")" = "$5" ] || { cell "$1" "$2" "$3" "$4"; return 1; }; }
says() { "$DEBKIT" why --out out "${@:2}" | grep -qE -e "$1" || { "$DEBKIT" why --out out "${@:2}"; return 1; }; }

ok "the table without any package" sh -c "$DEBKIT matrix | grep -qE '^  2.9.1 .*not built'"
ok "a cell that is not built" is 2.10 12.8 3.12 why not-built
ok "packages are made" make_deb out "$version"
ok "a binding that was compiled for the torch" is 2.10 12.8 3.12 facts "['built', 'proved']"
ok "a torch that another's binding serves" is 2.8 12.8 3.12 facts "['proved']"
ok "which is named" is 2.8 12.8 3.12 binding torch2.9-cp312.so
ok "and marked in the table" sh -c "$DEBKIT matrix --cuda 12.8 --out out | grep -qE '^  2.8.0 .*proved\*'"
ok "the package's archs" is 2.9 12.8 3.12 archs "9.0 9.0+PTX"
rm out/*.deb
make_deb out "0.1-1" >/dev/null
ok "a package of another version does not count" is 2.10 12.8 3.12 state empty
rm out/*.deb
echo broken >"out/python3-causal-conv1d-cu128_${version}_amd64.deb"
fails "a package that is none" 1 "cu128_${version}_amd64.deb" "$DEBKIT" matrix --out out
rm out/*.deb

record="$DEBKIT matrix --record"
cell="--torch 2.10 --cuda 12.8 --python 3.12"
ok "an import is recorded" $record imported $cell --note "torch 2.10.0+cu128, CPU"
ok "and shown" is 2.10 12.8 3.12 state imported
ok "with its note" is 2.10 12.8 3.12 imported_note "torch 2.10.0+cu128, CPU"
ok "a run on a GPU is recorded" $record gpu $cell --note "H200"
ok "and comes first" is 2.10 12.8 3.12 state gpu
ok "why tells it with its note" says 'Python 3.12 is there: its kernels ran on a GPU \(H200\)' --torch 2.10 --cuda 12.8
cp templates/states once
ok "the same again" $record gpu $cell --note "H200"
ok "changes no byte" cmp templates/states once
sed -i "s/^Version: .*/Version: 0.1-1/" templates/states
ok "facts of another version do not count" is 2.10 12.8 3.12 state empty
fails "a state that is none" 2 "unknown state 'seen'" $record seen $cell
fails "no cell named" 2 'needs --torch, --cuda and --python' $record gpu --torch 2.10
fails "a pair that is none" 2 "no torch '2.12' for CUDA 12.8" $record gpu --torch 2.12 --cuda 12.8 --python 3.12
fails "a Python that it has not" 2 "no wheel for Python '3.7'" $record gpu --torch 2.10 --cuda 12.8 --python 3.7
echo "Stat: gpu" >templates/states
fails "a states file with a typo" 1 "states:1: found unknown field 'Stat', expected State" "$DEBKIT" matrix
rm templates/states

ok "why there is no such pair" says 'torch 2.12 for CUDA 12.8 is empty: PyTorch ships no such pair.*nearest that exist: torch 2.11 for CUDA 12.8, torch 2.12 for CUDA 13.0\.$' --torch 2.12 --cuda 12.8
ok "in one line" sh -c "[ \$($DEBKIT why --torch 2.12 --cuda 12.8 | wc -l) = 1 ]"
ok "why there is no wheel" says 'Python 3.10 is empty: torch 2.15.0 has no wheel for it' --torch 2.15.0 --cuda 13.2 --python 3.10
ok "why it is not pinned" says 'https://download.pytorch.org/whl/cu128 alone' --torch 2.11 --cuda 12.8
ok "why an arch is not built" says 'wrong numbers' --torch 2.14 --cuda 13.0 --arch 10.3
ok "a torch that nobody lists" says 'lists no torch 1.13; nearest' --torch 1.13 --cuda 12.6
fails "why without a pair" 2 'debkit why --torch' "$DEBKIT" why --torch 2.10
fails "an unknown CUDA" 2 "CUDA '11.1'; known are" "$DEBKIT" matrix --cuda 11.1
fails "two forms at once" 2 'exclude each other' "$DEBKIT" matrix --json --html

"$DEBKIT" matrix --html >page.html
ok "the page is whole, without script, and its tables have headers" python3 - page.html <<'END'
import html.parser, sys
class Check(html.parser.HTMLParser):
    open, seen, scopes = [], set(), 0
    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.scopes += dict(attrs).get("scope") in ("col", "row")
        if tag == "th": assert "scope" in dict(attrs)
        assert not [k for k, v in attrs if k.startswith("on")]
        if tag not in ("meta", "link"): self.open.append(tag)
    def handle_endtag(self, tag): assert self.open.pop() == tag, (tag, self.getpos())
c = Check()
c.feed(open(sys.argv[1]).read())
c.close()
assert not c.open and c.scopes > 20 and {"caption", "title", "h1", "main"} <= c.seen
assert "script" not in c.seen
END
done_testing
