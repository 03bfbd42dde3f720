#!/bin/bash
# The pages of a repository: whole, whatever it holds and whenever debkit stops.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
cd "$work" || exit 1
test_key
repo=$work/repo
pages="$top/tests/e2e/pages.py"
publish() { "$DEBKIT" publish --repo "$repo" --suite stable --unsigned-ok "$@"; }
site() { "$DEBKIT" site --repo "$repo" "$@"; }
page() { cat "$repo/packages/$1/index.html"; }

fails "no repository: one line" 2 "holds no repository; debkit publish makes one" \
	"$DEBKIT" site --repo "$work/none"
make_deb one.deb tool 1.0
ok "publish without an address" publish --sign-key "$fpr" one.deb
ok "site" site
ok "the pages are whole" "$pages" "$repo"
ok "the front page says that no address is known" grep -q 'publish --url URL' "$repo/index.html"
ok "a second run has nothing to do" sh -c "'$DEBKIT' site --repo '$repo' 2>&1 | grep 'nothing to do: the 5 pages'"
"$DEBKIT" remove --repo "$repo" --suite stable tool 2>/dev/null
ok "site of an empty repository" site
ok "its pages are whole" "$pages" "$repo"
ok "and say so" grep -q 'lists no package yet' "$repo/index.html" "$repo/packages.html"
ok "the page of the package that went is gone, with its folder" test ! -e "$repo/packages/tool"

make_deb hostile.deb hostile 1.0 amd64 \
	"Homepage: javascript:alert(1)\"><script>alert(2)</script>
X-Note: </script><script>alert(3)</script>"
mkdir raw && dpkg-deb -R hostile.deb raw
sed -i 's|^Description:.*|Description: <script>alert(4)</script><img src=x onerror=alert(5)> \&lt; "x"|
	s|^ It holds.*| </p></main><script>alert(6)</script>|' raw/DEBIAN/control
printf '%s\n' 'hostile (1.0) stable; urgency=low' '' '  * <script>alert(7)</script>' '' |
	gzip -9n >raw/usr/share/doc/hostile/changelog.gz
dpkg-deb -Zgzip --root-owner-group -b raw hostile.deb >/dev/null
make_deb plus.deb "libx++-1.0" "2:1.0~rc1+b2"
"$DEBKIT" sign --sign-key "$fpr" --out signed plus.deb >/dev/null 2>&1 ||
	"$DEBKIT" sign --sign-key "$fpr" plus.deb
ok "publish with an address" publish --url "https://debkit.invalid/some/path" hostile.deb plus.deb
ok "site" site --title 'A & <B>'
ok "the pages are whole" "$pages" "$repo"
ok "no tag of the package's is one" sh -c "! grep -rhoE '<(script|img)[^>]*>' '$repo/packages' '$repo/packages.html' | grep ."
ok "the description is there, escaped" grep -q 'alert(4)&lt;/script&gt;' "$repo/packages/hostile/index.html"
ok "so is the changelog" grep -q 'alert(7)&lt;/script&gt;' "$repo/packages/hostile/index.html"
ok "the package's page has version, size and hash" sh -c "
	grep -q '2:1.0~rc1+b2' '$repo/packages/libx++-1.0/index.html' &&
	grep -q \$(sha256sum plus.deb | cut -d' ' -f1) '$repo/packages/libx++-1.0/index.html'"
ok "and who signed it" grep -q "good, by <code>$fpr" "$repo/packages/libx++-1.0/index.html"
ok "or that nobody did" grep -q 'Origin signature: none' "$repo/packages/hostile/index.html"
ok "the front page has the key's fingerprint" grep -q "$(echo "$fpr" | sed 's/..../& /g; s/ $//; s/^\(.\{24\}\) /\1  /')" "$repo/index.html"
ok "the lines for https bring the certificates first" grep -q 'ca-certificates' "$repo/index.html"
ok "the feed has both packages" test "$(grep -c '<entry>' "$repo/feed.atom")" = 2

echo mine >mine.html
cp "$repo/index.html" ours.html && cp mine.html "$repo/index.html"
fails "an index.html of somebody else's stays" 1 "was not made by debkit: move it away" site
ok "with its bytes" cmp mine.html "$repo/index.html"
cp ours.html "$repo/index.html"

# Stopped at each step: each page is the old one or the new one, and no link leads nowhere.
ok "snapshot" "$DEBKIT" snapshot --repo "$repo" --suite stable stable-1
make_deb next.deb fresh 2.0
ok "one package more, without new pages" env DEBKIT_TEMPLATES="$work/none" "$DEBKIT" publish --repo "$repo" --suite stable \
	--unsigned-ok next.deb
cp -a "$repo" before
broken=0 n_kills=0
for step in $(seq 1 4 200); do
	rm -rf "$repo" && cp -a before "$repo"
	DEBKIT_FAULT=$step:kill "$DEBKIT" site --repo "$repo" 2>/dev/null && break
	n_kills=$((n_kills + 1))
	"$pages" "$repo" >>broken.txt || broken=$((broken + 1))
	site 2>/dev/null && "$pages" "$repo" >>broken.txt && grep -q fresh "$repo/index.html" || broken=$((broken + 1))
done
ok "killed at $n_kills steps: never half, and the same command completes it" sh -c "
	cat broken.txt | sort | uniq -c; [ $n_kills -gt 5 ] && [ $broken = 0 ]"
rm -rf "$repo" && cp -a before "$repo"
fails "a full disk: one line" 1 'No space left' env DEBKIT_FAULT=6:ENOSPC "$DEBKIT" site --repo "$repo"
ok "and the old pages" "$pages" "$repo"

# From the first site on the pages follow every command that changes the repository.
follow=$work/follow
d() { local verb=$1; shift; "$DEBKIT" "$verb" --repo "$follow" "$@"; }
add() { d publish --suite stable --unsigned-ok "$@"; }
shows() { grep -q -e "$1" "$follow/index.html" && "$pages" "$follow"; }
make_deb f1.deb tool 1.0
make_deb f2.deb tool 2.0
make_deb f3.deb other 1.0
add --sign-key "$fpr" --url http://debkit.invalid/ f1.deb 2>/dev/null
ok "a repository without pages gets none" test ! -e "$follow/index.html"
d site --title 'My <packages>' 2>/dev/null
ok "publish writes the pages" eval 'add f2.deb && shows "</a> 2.0</dt>"'
ok "with the title that was given once" grep -q '<h1>My &lt;packages&gt;</h1>' "$follow/index.html"
stamp() { find "$follow" -name '*.html' -printf '%P %i %T@\n' | sort; }
stamp >stamp
ok "a publish that changes nothing writes none" eval 'add f2.deb && stamp | diff stamp -'
ok "snapshot does" eval 'd snapshot --suite stable stable-20260101 && shows stable-20260101'
ok "copy does" eval 'd copy --from stable --to testing && shows "<th scope=\"row\">testing</th>"'
ok "remove does" eval 'add f3.deb && shows packages/other/ && d remove --suite stable other && ! shows packages/other/'
ok "withdraw does" eval 'd withdraw tool 2.0 --reason "wrong & <numbers>" && shows "wrong &amp; &lt;numbers&gt;"'
ok "refresh does" eval 'd refresh --suite stable --valid-days 10 && shows "$(date -u -d "+10 days" +%F)"'
printf 'Suite: stable\nKeep-Snapshots-Days: 9\n' >"$follow/retention"
ok "gc does, when a snapshot goes" eval 'DEBKIT_NOW=$(date -d "+30 days" +%s) d gc --yes &&
	! grep -q stable-20260101 "$follow/index.html" && "$pages" "$follow"'
ok "a dry run does not" eval 'stamp >stamp && d remove --suite stable --dry-run tool && stamp | diff stamp -'
cp "$follow/index.html" kept.html && echo mine >"$follow/index.html"
ok "a front page that is not debkit's is left alone" eval 'add f3.deb && grep -qx mine "$follow/index.html"'
cp kept.html "$follow/index.html"
mkdir t && cp -r "$top/templates/." t && rm t/site/page.html.in
make_deb f4.deb tool 4.0
ok "pages that cannot be written: the publish stands, and one line says what is old" eval '
	DEBKIT_TEMPLATES=$work/t add f4.deb 2>said && cat said &&
	[ "$(grep -c "that is done, but the pages are older: .*debkit site --repo" said)" = 1 ] &&
	zgrep -q "^Version: 4.0" "$follow/dists/stable/main/binary-amd64/Packages.gz" && ! grep -q "</a> 4.0<" "$follow/index.html"'
ok "and the same command then writes them" eval 'add f4.deb && shows "</a> 4.0</dt>"'

# Killed anywhere between the publish and its pages: apt goes on, the pages are whole, and the same
# command completes both.
make_deb f5.deb tool 5.0
cp -a "$follow" before-follow
broken=0 n_kills=0
for step in $(seq 1 7 400); do
	rm -rf "$follow" && cp -a before-follow "$follow"
	DEBKIT_FAULT=$step:kill add f5.deb 2>/dev/null && break
	n_kills=$((n_kills + 1))
	rm -rf r && apt_root r "[signed-by=$follow/debkit-archive-keyring.gpg] file:$follow stable main"
	{ apt_in "$work/r" update && "$pages" "$follow" && add f5.deb && shows '</a> 5.0</dt>'; } >>broken2.txt 2>&1 ||
		broken=$((broken + 1))
done
ok "killed at $n_kills steps of publish and pages" eval 'tail -n 20 broken2.txt; [ $n_kills -gt 8 ] && [ $broken = 0 ]'
# A disk that is full at any step: the publish fails and nothing is new, or it stands and apt has it; the
# pages are whole in any case.
rm -rf before-follow && cp -a "$follow" before-follow
make_deb f6.deb tool 6.0
broken=0 n_full=0
for step in $(seq 3 13 400); do
	rm -rf "$follow" && cp -a before-follow "$follow"
	code=0 new=0
	DEBKIT_FAULT=$step:ENOSPC add f6.deb 2>said || code=$?
	grep -q 'No space left' said || break
	n_full=$((n_full + 1))
	rm -rf r && apt_root r "[signed-by=$follow/debkit-archive-keyring.gpg] file:$follow stable main"
	{ apt_in "$work/r" update && "$pages" "$follow"; } >>broken3.txt 2>&1 || broken=$((broken + 1))
	apt_sees "$work/r" | grep -qx 'tool 6.0' && new=1
	[ $((code == 0)) = $new ] || { echo "step $step: status $code, listed $new"; broken=$((broken + 1)); } >>broken3.txt
	{ add f6.deb && shows '</a> 6.0</dt>'; } >>broken3.txt 2>&1 || broken=$((broken + 1))
done
ok "full at $n_full steps of publish and pages" eval 'tail -n 20 broken3.txt; [ $n_full -gt 4 ] && [ $broken = 0 ]'
two() { # two publishers at once: the last pages show what both brought
	make_deb g1.deb left 1 && make_deb g2.deb right 1 || return
	add g1.deb & local other=$!
	add g2.deb && wait $other && shows packages/left/ && shows packages/right/
}
ok "two publishers at once" two

# Both recipes, a metapackage, papers, retention, and what was rebuilt.
both=$work/both conv=$(sed -n 's/^Version: //p' "$top/templates/causal-conv1d/recipe")-9
make_deb raw.deb python3-causal-conv1d-cu128 "$conv" amd64 "Section: misc
Debkit-Cuda: 12.8
Debkit-Torch: 2.10 2.11
Debkit-Python: 3.11
Debkit-Cuda-Archs: 9.0 12.0+PTX"
rm -rf raw && dpkg-deb -R raw.deb raw && mkdir -p raw/usr/lib/x86_64-linux-gnu/debkit/c
printf 'File: torch2.10-cp311.so\nPython: cp311\nTorch: 2.10 2.11\n' >raw/usr/lib/x86_64-linux-gnu/debkit/c/bindings
mkdir built && dpkg-deb -Zgzip --root-owner-group -b raw built/conv.deb >/dev/null
make_deb built/fla.deb python3-flash-linear-attention-cu128 0.6.0-1 amd64 "Section: misc
Debkit-Triton: 3.5.1 3.6.0
Debkit-Python: 3.11 3.12
Debkit-Cuda-Archs: 8.0 9.0"
make_deb built/meta.deb python3-gated-deltanet-cu128 0.6.0-1 all
make_deb newer.deb python3-causal-conv1d-cu130 "$conv" amd64 "Section: misc
Debkit-Cuda: 13.0
Debkit-Cuda-Archs: 9.0"
printf 'Format: 1.0\nChecksums-Sha256:\n %s\n' "$(sha256sum built/conv.deb | cut -c1-64)" >built/conv.buildinfo
for e in spdx.json spdx.json.asc intoto.json; do echo "{\"paper\": \"$e\"}" >"built/conv.$e"; done
cp -r "$top/templates" seen && printf '%s\n' 'State: rebuilt' 'Recipe: causal-conv1d' "Version: $conv" \
	'Torch: 2.10' 'Cuda: 12.8' 'Python: 3.11' >seen/states
"$DEBKIT" publish --repo "$both" --suite stable --unsigned-ok --sign-key "$fpr" --url http://debkit.invalid/ built 2>/dev/null
"$DEBKIT" publish --repo "$both" --suite testing --unsigned-ok --sign-key "$fpr" newer.deb 2>/dev/null
printf 'Suite: stable\nKeep-Snapshots-Days: 90\n' >"$both/retention"
ok "site of both recipes" env DEBKIT_TEMPLATES="$work/seen" "$DEBKIT" site --repo "$both"
ok "its pages are whole" "$pages" "$both"
ok "and less than 50 KB: $(stat -c %s "$both/index.html")" test "$(stat -c %s "$both/index.html")" -lt 50000
cat >judge.py <<'X'
import json, re, sys
root, conv, built = sys.argv[1:]
page = open(root + "/index.html").read()
choice = json.loads(re.search(r'(?s)id="choice">(.*?)</script>', page).group(1))
names = {c["name"]: c for c in choice["choices"]}
assert list(names) == ["causal-conv1d", "flash-linear-attention", "gated-deltanet"], names
assert names["gated-deltanet"]["needs"] == [0, 1]
assert names["gated-deltanet"]["packages"] == {"12.8": "python3-gated-deltanet-cu128"}
assert names["causal-conv1d"]["suites"] == {"13.0": "testing"}, names["causal-conv1d"]["suites"]

def there(name):
    cells = iter(names[name]["cells"])
    return {(t, c, p) for c in choice["cudas"] for t in choice["torches"] for p in choice["pythons"] if next(cells) < 0}

assert there("causal-conv1d") == {(t, "12.8", "3.11") for t in ("2.10", "2.11")}, there("causal-conv1d")
assert there("flash-linear-attention") == {(t, "12.8", p) for t in ("2.9", "2.10", "2.11") for p in ("3.11", "3.12")}
at = page.index("rebuilt byte for byte")
assert page.count("rebuilt byte for byte") == 1 and '"row">2.10' in page[at - 300:at]
assert page.index("<h3>causal-conv1d</h3>") < at < page.index("<h3>flash-linear-attention</h3>")
where = root + "/packages/python3-causal-conv1d-cu128/"
links = re.findall(r'href="([^"]*)"', open(where + "index.html").read())
for ending in ".deb", ".buildinfo", ".spdx.json", ".spdx.json.asc", ".intoto.json":
    link, = [l for l in links if l.endswith(conv + "_amd64" + ending)]
    assert open(where + link, "rb").read() == open(built + "/conv" + ending, "rb").read(), link
link, = [l for l in links if l.endswith("/retention")]
assert open(where + link).read() == open(root + "/retention").read()
X
ok "both in chooser and matrix, the rebuilt one marked, papers and retention linked" \
	python3 judge.py "$both" "$conv" "$work/built"

mkdir many
"$top/tests/bench/gen_debs.py" many 1200 >/dev/null
python3 - <<'X'
import io, tarfile, gzip
def ar(name, data):
    return b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"100644", len(data)) + data + b"\n" * (len(data) % 2)
def tar(name, data):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as t:
        info = tarfile.TarInfo(name); info.size = len(data); t.addfile(info, io.BytesIO(data))
    return gzip.compress(out.getvalue(), 1, mtime=0)
for v in range(2500):
    control = "Package: tool\nVersion: 1.%d\nArchitecture: all\nMaintainer: T <t@debkit.invalid>\nDescription: x\n" % v
    with open("many/tool_1.%d_all.deb" % v, "wb") as f:
        f.write(b"!<arch>\n" + ar(b"debian-binary", b"2.0\n") + ar(b"control.tar.gz", tar("./control", control.encode()))
                + ar(b"data.tar.gz", tar("./empty", b"")))
X
ok "publish 2500 versions and 1200 packages" publish --link many
ok "site" site
ok "its pages are whole" "$pages" "$repo"
ok "25 pages of versions, the newest first" sh -c "
	[ \$(ls '$repo/packages/tool' | wc -l) = 25 ] && grep -q '>1.2499<' '$repo/packages/tool/index.html' &&
	grep -q '>1.0<' '$repo/packages/tool/25.html'"
ok "3 pages of packages" test "$(ls "$repo"/packages*.html | wc -l)" = 3
ok "the front page has less than 50 KB: $(stat -c %s "$repo/index.html")" \
	test "$(stat -c %s "$repo/index.html")" -lt 50000
done_testing
