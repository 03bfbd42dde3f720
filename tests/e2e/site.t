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
ok "one package more" publish next.deb
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
