#!/bin/bash
# The pages in a real browser, over nginx and from a folder: the lines that they show configure clean
# roots of Debian 12 and 13, the chooser answers, axe-core finds nothing, the console stays empty, and
# what hostile packages say of themselves is text. SHOTS=DIR keeps the screenshots.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/repo.sh"
. "$(dirname "$0")/root.sh"
cd "$work" || exit 1
chmod 755 "$work"
test_key
url_port
repo=$work/repo shots=${SHOTS:-$work/shots}
mkdir -p "$shots"

# free_port: a port on loopback for chromedriver, next to that of nginx.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
browse() { DRIVER_PORT=$(free_port) "$top/tests/e2e/browser.py" "$axe" "$@"; }
# answers PATTERN COMMAND...: what the chooser then says.
answers() {
	local pattern=$1
	shift
	browse open="$url/apt/" "$@" text='#answer' console >answer 2>&1
	local code=$?
	cat answer
	[ $code = 0 ] && grep -qE -e "$pattern" answer
}

ok "axe-core, pinned by hash" sh -c "
	python3 -m pip download -q --no-deps --require-hashes -r '$top/tests/data/axe.requirements' -d axe &&
	python3 -m zipfile -e axe/*.whl axe"
axe=$work/axe/axe_playwright_python/axe.min.js

ok "build for torch 2.10, Python 3.11 and arch 9.0" \
	"$DEBKIT" build --cuda 12.8 --torch 2.10 --python 3.11 --arch 9.0 --sign-key "$fpr" \
	--repo-url "$url/apt" --out "$work/out"
ok "publish" "$DEBKIT" publish --repo "$repo" --suite stable --url "$url/apt" --sign-key "$fpr" "$work/out"
ok "site" "$DEBKIT" site --repo "$repo"
"$DEBKIT" serve --repo "$repo" --listen "127.0.0.1:$port" --path /apt 2>server.log &
server=$!
trap 'kill $server 2>/dev/null; umount_root; cleanup' EXIT
for _ in $(seq 100); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.1; done

package=$url/apt/packages/python3-causal-conv1d-cu128/index.html
took='Math.round(performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd)'
loads=()
for _ in 1 2 3 4 5 6 7; do loads+=("open=$url/apt/packages.html" "open=$url/apt/" "js=$took"); done
echo "# ms until the front page's script has run, of seven loads: $(browse "${loads[@]}" | sort -n | tr '\n' ' ')"
for theme in light dark; do
	ok "front page, $theme, on a desk: axe, console, width" browse theme=$theme size=1100x800 \
		open="$url/apt/" axe wide console shot="$shots/front-$theme.png"
	ok "front page, $theme, on a phone" browse theme=$theme size=360x740 \
		open="$url/apt/" axe wide console shot="$shots/phone-$theme.png"
	ok "package, $theme, on a phone" browse theme=$theme size=360x740 \
		open="$package" axe wide console shot="$shots/package-$theme.png"
done
ok "packages" browse open="$url/apt/packages.html" axe wide console
browse script=off open="$url/apt/" console wide text=#answer text=#by-table \
	'js=document.getElementById("chooser").hidden' shot="$shots/noscript.png" >noscript
ok "without script: no chooser, no answer, the way to the matrix" sh -c "cat noscript; [ $? = 0 ] &&
	grep -q 'matrix has a row for each torch' noscript && ! grep -q apt-get noscript && grep -qx True noscript"
ok "from a folder, without a server" browse open="file://$repo/index.html" axe console \
	js='document.styleSheets.length && getComputedStyle(document.querySelector("pre")).whiteSpace' \
	text='#answer' open="file://$repo/packages/python3-causal-conv1d-cu128/index.html" axe console
browse open="$url/apt/" keys=12 >keys
ok "the keyboard reaches links, source file and chooser" sh -c "cat keys; grep -q 'A To the content' keys &&
	grep -q SUMMARY keys && grep -q 'SELECT torch' keys && grep -q 'SELECT gpu' keys"

ok "chooser: a cell that is there" answers 'apt-get install -y python3-causal-conv1d-cu128' \
	set=torch:2.10 set=cuda:12.8 set=python:3.11 set=gpu:9.0
ok "no wheel for that Python" answers 'No package: torch 2.15 has no wheel for Python 3.10' \
	set=torch:2.15 set=cuda:13.2 set=python:3.10
ok "no such pair, and the nearest" answers 'no torch 2.12 for CUDA 12.8 here; nearest: torch 2.11 for CUDA 12.8' \
	set=torch:2.12 set=cuda:12.8 set=python:3.11
ok "a GPU without device code" answers 'No package for that GPU: .* none that runs on 8.0' \
	set=torch:2.10 set=cuda:12.8 set=python:3.11 set=gpu:8.0
ok "nvidia-smi: an H200" answers 'apt-get install' set=torch:2.10 set=cuda:12.8 set=python:3.11 \
	"set=smi:| NVIDIA-SMI 570.86.10   Driver Version: 570.86.10   CUDA Version: 12.8 |
|   0  NVIDIA H200                    On  |"
ok "nvidia-smi: an RTX 5090 takes the PTX" answers "driver compiles the package's PTX" \
	set=torch:2.10 set=cuda:12.8 set=python:3.11 "set=smi:|   0  NVIDIA GeForce RTX 5090  Off |"
ok "nvidia-smi: an A100 is not taken for an A10" answers 'none that runs on 8.0' \
	set=torch:2.10 set=cuda:12.8 set=python:3.11 "set=smi:|   0  NVIDIA A100-SXM4-80GB  Off |"
ok "nvidia-smi: a driver that is too old" answers 'driver 515.43.04 is too old for CUDA 12.8: it needs 525.60.13' \
	set=torch:2.10 set=cuda:12.8 set=python:3.11 "set=smi:Driver Version: 515.43.04  NVIDIA H100 PCIe"
ok "nvidia-smi: only the capability" answers 'none that runs on 7.5' \
	set=torch:2.10 set=cuda:12.8 set=python:3.11 "set=smi:compute_cap
7.5"
ok "nvidia-smi: a GPU that nobody knows" answers 'names no GPU that this page knows' "set=smi:Quadro RTX 4000"

# What the page shows is what is run.
browse open="$url/apt/" set=torch:2.10 set=cuda:12.8 set=python:3.11 set=gpu:9.0 text='#answer pre' >install
cp "$repo/debkit.sources" want.sources
for release in bookworm trixie; do
	browse open="$url/apt/" text="#lines-$release" >lines
	ok "a clean root of $release" make_root "$release" "$work/$release"
	ok "its lines, as pasted: $(tr '\n' ';' <lines)" in_root "$work/$release" sh -ec "$(cat lines)"
	ok "the source is the one that the page shows" cmp want.sources \
		"$work/$release/etc/apt/sources.list.d/debkit.sources"
	ok "the chooser's line, as pasted: $(cat install)" in_root "$work/$release" sh -ec "$(cat install)"
	ok "the package is there" in_root "$work/$release" dpkg-query -W python3-causal-conv1d-cu128
	umount_root
done

# With kernels beside it, and the metapackage over both, which a visitor is asked about first.
make_deb both/fla.deb python3-flash-linear-attention-cu128 0.6.0-1 amd64 "Section: misc
Debkit-Triton: 3.6.0
Debkit-Python: 3.11 3.12
Debkit-Cuda-Archs: 8.0 9.0"
make_deb both/meta.deb python3-gated-deltanet-cu128 0.6.0-1 all
make_deb testing.deb python3-flash-linear-attention-cu130 0.6.0-1 amd64 "Section: misc
Debkit-Triton: 3.6.0
Debkit-Python: 3.11
Debkit-Cuda-Archs: 9.0"
printf 'Suite: stable\nKeep-Snapshots-Days: 90\n' >"$repo/retention"
ok "publish both, which rewrites the pages" eval '"$DEBKIT" publish --repo "$repo" --suite stable --unsigned-ok both &&
	"$DEBKIT" publish --repo "$repo" --suite testing --unsigned-ok --sign-key "$fpr" testing.deb'
for theme in light dark; do
	ok "front page of both, $theme, on a phone" browse theme=$theme size=360x740 \
		open="$url/apt/" axe wide console shot="$shots/both-$theme.png"
done
ok "chooser: both" answers 'apt-get install -y python3-gated-deltanet-cu128' \
	set=torch:2.10 set=cuda:12.8 set=python:3.11 set=gpu:9.0
ok "one of both lacks: which" answers '^causal-conv1d: No package: this repository has no build for torch 2.10, CUDA 12.8 and Python 3.12' \
	set=torch:2.10 set=cuda:12.8 set=python:3.12
ok "for a GPU that one lacks, too" answers 'causal-conv1d: No package for that GPU: .* none that runs on 8.0' \
	set=torch:2.10 set=cuda:12.8 set=python:3.11 set=gpu:8.0
ok "one alone" answers 'apt-get install -y python3-flash-linear-attention-cu128' \
	set=what:1 set=torch:2.10 set=cuda:12.8 set=python:3.12 set=gpu:8.0
ok "the other alone" answers 'apt-get install -y python3-causal-conv1d-cu128' \
	set=what:0 set=torch:2.10 set=cuda:12.8 set=python:3.11 set=gpu:9.0
ok "what another suite has" answers 'in the suite testing.*apt-get install -y python3-flash-linear-attention-cu130' \
	set=what:1 set=torch:2.11 set=cuda:13.0 set=python:3.11
leads_to() { # ENDING: the link of the package's page, followed, shows text
	browse open="$package" js='(location.href = document.querySelector("a[href$=\"'"$1"'\"]").href, 1)' \
		js='document.contentType + " " + location.pathname' >followed && cat followed &&
		grep -qE "^(text/plain|application/json) .*$1\$" followed
}
for paper in .buildinfo .spdx.json .intoto.json /retention; do
	ok "the package's page leads to $paper" leads_to "$paper"
done

mkdir raw && make_deb hostile.deb hostile 1.0 && dpkg-deb -R hostile.deb raw
sed -i 's|^Description:.*|Description: </title><script>document.title="run"</script><img src=x onerror="document.title=1">|
	s|^ It holds.*| </p></main><script>document.title="run"</script><a href="javascript:document.title=2">x</a>|' raw/DEBIAN/control
sed -i '/^Section/a Homepage: javascript:document.title="run"\nDebkit-Cuda-Archs: </script><script>document.title="run"</script>' raw/DEBIAN/control
printf '%s\n' 'hostile (1.0) x; urgency=low' '' '  * </pre><script>document.title="run"</script>' | gzip -9n \
	>raw/usr/share/doc/hostile/changelog.gz
dpkg-deb -Zgzip --root-owner-group -b raw hostile.deb >/dev/null
ok "publish a hostile package" "$DEBKIT" publish --repo "$repo" --suite stable --unsigned-ok hostile.deb
ok "site" "$DEBKIT" site --repo "$repo" --title '<script>document.title="run"</script>'
for where in index.html packages.html packages/hostile/index.html; do
	browse open="$url/apt/$where" axe console 'js=document.scripts.length + " " + document.images.length + " " + document.title' >hostile
	code=$?
	tail -n 1 hostile >title
	ok "it runs nothing in $where ($(cat title))" sh -c "cat hostile; [ $code = 0 ] && ! grep -qx '.*[0-9] \(run\|1\|2\)' title &&
		grep -q '^[02] 0 ' title"
done
done_testing
